/**
 * HMAC-SHA-256 (RFC 2104 §2) for every request. Two one-step digests cost a fraction of a `createHmac` object in a busy process. For short
 * messages only, because each message is copied.
 */
import { hash } from 'node:crypto'

/** The two padded key blocks that precede the hashed message. They are as secret as the key. */
export interface HmacKey {
  readonly inner: Buffer
  readonly outer: Buffer
}

const blockBytes = 64

export function hmacKey(secret: Uint8Array): HmacKey {
  const short = secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret
  const padded = (pad: number): Buffer => Buffer.from(Uint8Array.from({ length: blockBytes }, (_, at) => pad ^ (short[at] ?? 0)))
  return { inner: padded(0x36), outer: padded(0x5c) }
}

export const hmac = ({ inner, outer }: HmacKey, ...message: readonly Uint8Array[]): Buffer =>
  hash('sha256', Buffer.concat([outer, hash('sha256', Buffer.concat([inner, ...message]), 'buffer')]), 'buffer')
