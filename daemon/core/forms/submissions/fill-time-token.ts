/**
 * The token that a visitor receives with a definition and returns with the answers. It contains the form, its version, the time of issue
 * and a nonce. Format: `ft1.`, then 26 octets and 16 octets of their HMAC, in base64url. A language other than the form's own follows the
 * 26 octets.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'

export interface FillTimeToken {
  readonly version: number
  readonly issuedAt: number
  readonly nonce: string
  /** Displayed language; undefined for the form's own language. */
  readonly language: string | undefined
}

/** Maximum time to fill in a form, including a form with a newer version. */
export const maxFillMs = 24 * 3_600_000

type Secrets = Pick<SecretBox, 'mac'>

const purpose = 'form.fill_time.v1'
const sizes = { form: 8, version: 4, time: 6, nonce: 8, mac: 16 } as const
const payloadBytes = sizes.form + sizes.version + sizes.time + sizes.nonce

const formHash = (formId: string): Buffer => hash('sha256', formId, 'buffer').subarray(0, sizes.form)
const macOf = (secrets: Secrets, payload: Uint8Array): Buffer => secrets.mac(purpose, payload).subarray(0, sizes.mac)

/** Form, version and language of a new token. */
interface ShownForm extends Pick<FillTimeToken, 'version'> {
  readonly id: string
  readonly language?: string | undefined
}

export const newFillTimeToken = (secrets: Secrets, { id, version, language }: ShownForm, nowMs: number): string =>
  sealed(secrets, id, { version, language, issuedAt: nowMs, nonce: randomBytes(sizes.nonce).toString('base64url') })

function sealed(secrets: Secrets, formId: string, { version, issuedAt, nonce, language = '' }: FillTimeToken): string {
  const payload = Buffer.alloc(payloadBytes + language.length)
  formHash(formId).copy(payload)
  payload.writeUInt32BE(version, sizes.form)
  payload.writeUIntBE(issuedAt, sizes.form + sizes.version, sizes.time)
  Buffer.from(nonce, 'base64url').copy(payload, payloadBytes - sizes.nonce)
  payload.write(language, payloadBytes, 'latin1')
  return `ft1.${payload.toString('base64url')}.${macOf(secrets, payload).toString('base64url')}`
}

/** Returns undefined for a token that this service did not create for this form. */
export function readFillTimeToken(secrets: Secrets, formId: string, token: string): FillTimeToken | undefined {
  const [, text = '', given = ''] = /^ft1\.([\w-]{35,82})\.([\w-]{22})$/.exec(token) ?? []
  const payload = Buffer.from(text, 'base64url')
  const mac = Buffer.from(given, 'base64url')
  if (payload.length < payloadBytes || mac.length !== sizes.mac) return undefined
  if (!timingSafeEqual(mac, macOf(secrets, payload)) || !payload.subarray(0, sizes.form).equals(formHash(formId))) return undefined
  return {
    version: payload.readUInt32BE(sizes.form),
    issuedAt: payload.readUIntBE(sizes.form + sizes.version, sizes.time),
    nonce: payload.subarray(payloadBytes - sizes.nonce, payloadBytes).toString('base64url'),
    language: payload.length === payloadBytes ? undefined : payload.toString('latin1', payloadBytes),
  }
}

/** Whether the token may still submit its version of the form. */
export const isGood = (token: FillTimeToken, latest: number, nowMs: number): boolean =>
  token.version <= latest && nowMs - token.issuedAt <= maxFillMs

/** Returns the same token for another display of the form, with the original time of issue. */
export const tokenAgain = (secrets: Secrets, { id, language }: ShownForm, token: FillTimeToken): string =>
  sealed(secrets, id, { ...token, language })

/** Replaces an expired token. Backdates the new token by `leastSeconds`, so that the submission does not count as too fast. */
export const tokenInstead = (secrets: Secrets, form: ShownForm, leastSeconds: number, nowMs: number): string =>
  newFillTimeToken(secrets, form, nowMs - leastSeconds * 1000)
