/**
 * Tokens that lead from whatever comes back to the trace: `X-Service-Ref` and the envelope id of a relayed message, links in it.
 * Opaque to others, and only this service can make one.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

const idBytes = 16
/** Guessing goes through us one at a time, and a right guess names one trace. */
const macBytes = 8
const macPurpose = 'service-ref.v1'

/** 48 hexadecimal digits, which survive whoever changes the case of letters. One for a purpose is none for another. */
export function traceToken(secrets: SecretBox, purpose: string, traceId: string): string {
  const id = Buffer.from(traceId.replaceAll('-', ''), 'hex')
  return Buffer.concat([id, macOf(secrets, purpose, id)]).toString('hex')
}

/** The trace that a token names; undefined when this service did not make it for this purpose. */
export function traceOfToken(secrets: SecretBox, purpose: string, token: string): string | undefined {
  const bytes = Buffer.from(token, 'hex')
  if (bytes.length !== idBytes + macBytes || token.length !== 2 * bytes.length) return undefined
  const id = bytes.subarray(0, idBytes)
  if (!timingSafeEqual(bytes.subarray(idBytes), macOf(secrets, purpose, id))) return undefined
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The token of `X-Service-Ref`. */
export const serviceRef = (secrets: SecretBox, traceId: string): string => traceToken(secrets, macPurpose, traceId)

/** The trace that such a token names. */
export const traceOfServiceRef = (secrets: SecretBox, token: string): string | undefined => traceOfToken(secrets, macPurpose, token)

/** The header field of a message on its way, with its line break. */
export const serviceRefField = (token: string): string => `X-Service-Ref: ${token}\r\n`

const macOf = (secrets: SecretBox, purpose: string, id: Uint8Array): Buffer => secrets.mac(purpose, id).subarray(0, macBytes)
