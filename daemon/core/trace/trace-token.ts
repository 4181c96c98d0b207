/**
 * Tokens that identify the trace of a returned message: `X-Service-Ref` and the envelope id of a relayed message, and links in it. Opaque,
 * and authenticated by a MAC.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

const idBytes = 16
/** An attacker can only guess online, and a hit identifies one trace. */
const macBytes = 8
const macPurpose = 'service-ref.v1'

/** Returns 48 hexadecimal digits, which survive case changes. A token is only valid for its purpose. */
export function traceToken(secrets: SecretBox, purpose: string, traceId: string): string {
  const id = Buffer.from(traceId.replaceAll('-', ''), 'hex')
  return Buffer.concat([id, macOf(secrets, purpose, id)]).toString('hex')
}

/** Returns the trace id of a token; undefined if this service did not create it for this purpose. */
export function traceOfToken(secrets: SecretBox, purpose: string, token: string): string | undefined {
  const bytes = Buffer.from(token, 'hex')
  if (bytes.length !== idBytes + macBytes || token.length !== 2 * bytes.length) return undefined
  const id = bytes.subarray(0, idBytes)
  if (!timingSafeEqual(bytes.subarray(idBytes), macOf(secrets, purpose, id))) return undefined
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns the token of `X-Service-Ref`. */
export const serviceRef = (secrets: SecretBox, traceId: string): string => traceToken(secrets, macPurpose, traceId)

/** Returns the trace id of such a token. */
export const traceOfServiceRef = (secrets: SecretBox, token: string): string | undefined => traceOfToken(secrets, macPurpose, token)

/** Returns the header field with its line break. */
export const serviceRefField = (token: string): string => `X-Service-Ref: ${token}\r\n`

const macOf = (secrets: SecretBox, purpose: string, id: Uint8Array): Buffer => secrets.mac(purpose, id).subarray(0, macBytes)
