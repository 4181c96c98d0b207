/**
 * Proves knowledge of an API key for messages that wait in files. The proof is an HMAC-SHA-256 (RFC 2104) under the SHA-256 of the key. The
 * service stores that hash and never shows it; no file contains the key.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Returns the hash in hexadecimal; the service finds a key by it. */
export const hashApiKey = (key: string): string => hash('sha256', key)

/** Returns the first 16 digits of a key's hash: sufficient to find the key, insufficient for a proof. */
export const keyNameOf = (key: string): string => hashApiKey(key).slice(0, 16)

/** `sha256` is the hash of the key. */
export function proofOf(sha256: string, ...parts: readonly Uint8Array[]): string {
  const hmac = createHmac('sha256', `postern sendmail\0${sha256}`)
  for (const part of parts) hmac.update(part)
  return hmac.digest('base64url')
}

export function isProof(given: string, sha256: string, ...parts: readonly Uint8Array[]): boolean {
  const [one, other] = [given, proofOf(sha256, ...parts)].map((text) => Buffer.from(text))
  return one !== undefined && other !== undefined && one.length === other.length && timingSafeEqual(one, other)
}
