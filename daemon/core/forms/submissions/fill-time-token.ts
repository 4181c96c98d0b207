/**
 * The token that comes with a definition and goes back with the answers: for which form and version it is, when it was given out, and
 * a number that is used once. `ft1.`, 26 octets and 16 of their HMAC, in base64url; after the 26 stands the language in which the form
 * was shown, where that is not its own.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'

export interface FillTimeToken {
  readonly version: number
  readonly issuedAt: number
  readonly nonce: string
  /** That in which the form was shown; undefined for its own. */
  readonly language: string | undefined
}

/** As long as somebody may take to fill in a form, also one of which there is a newer version. */
export const maxFillMs = 24 * 3_600_000

type Secrets = Pick<SecretBox, 'mac'>

const purpose = 'form.fill_time.v1'
const sizes = { form: 8, version: 4, time: 6, nonce: 8, mac: 16 } as const
const payloadBytes = sizes.form + sizes.version + sizes.time + sizes.nonce

const formHash = (formId: string): Buffer => hash('sha256', formId, 'buffer').subarray(0, sizes.form)
const macOf = (secrets: Secrets, payload: Uint8Array): Buffer => secrets.mac(purpose, payload).subarray(0, sizes.mac)

/** What a new token is for. */
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

/** Undefined for what this service did not make for this form. */
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

/** Whether who got it may still send the form, in the version that it is for. */
export const isGood = (token: FillTimeToken, latest: number, nowMs: number): boolean =>
  token.version <= latest && nowMs - token.issuedAt <= maxFillMs

/** The same token for a form that is shown again, so that the time it counts goes on. */
export const tokenAgain = (secrets: Secrets, { id, language }: ShownForm, token: FillTimeToken): string =>
  sealed(secrets, id, { ...token, language })

/** In place of one that was good: a form that was open for too long was not filled in too fast, which takes `leastSeconds`. */
export const tokenInstead = (secrets: Secrets, form: ShownForm, leastSeconds: number, nowMs: number): string =>
  newFillTimeToken(secrets, form, nowMs - leastSeconds * 1000)
