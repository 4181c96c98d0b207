/** Encrypts stored secrets with AES-256-GCM under the master key. Each secret is bound to its record and field. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'
import { hmac, hmacKey, type HmacKey } from './hmac.ts'

/** `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url. */
export type SealedSecret = string

const tagBytes = 16
const nonceBytes = 12
/** Without this length, Node.js would accept a tag truncated to four bytes. */
const gcm = { authTagLength: tagBytes } as const

export class SecretBox {
  readonly #key: Buffer
  readonly #pepper: KeyObject
  readonly #tokens: HmacKey
  /** Identifies the master key in sealed secrets, so that secrets of a rotated key are recognized. */
  readonly keyId: string

  /** `masterKey` must have 32 bytes. */
  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== 32) throw new TypeError('a master key has 32 bytes')
    this.#key = derive(masterKey, 'postern secrets at rest')
    this.#pepper = createSecretKey(derive(masterKey, 'postern credential pepper'))
    this.#tokens = hmacKey(derive(masterKey, 'postern tokens'))
    this.keyId = derive(masterKey, 'postern key id').subarray(0, 4).toString('hex')
  }

  /** `place` is record kind, id and field, joined by slashes. A secret copied to another place cannot be opened. */
  seal(secret: string, place: string): SealedSecret {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, gcm).setAAD(Buffer.from(place))
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `v1.${this.keyId}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
  }

  /** Returns the secret, or undefined if it was sealed under another key or for another place. */
  open(sealed: SealedSecret, place: string): string | undefined {
    const [version, keyId, nonce = '', body = ''] = sealed.split('.')
    if (version !== 'v1' || keyId !== this.keyId) return undefined
    const bytes = Buffer.from(body, 'base64url')
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, Buffer.from(nonce, 'base64url'), gcm).setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }

  /** Returns a keyed hash of a generated secret. A fast hash is sufficient, because a secret with full entropy cannot be guessed. */
  hash(secret: string): string {
    return createHmac('sha256', this.#pepper).update(secret).digest('base64url')
  }

  /**
   * Returns an HMAC-SHA-256 that authenticates data which a client returns later. `purpose` prevents the use of a token for another
   * purpose.
   */
  mac(purpose: string, data: Uint8Array): Buffer {
    return hmac(this.#tokens, Buffer.from(`${purpose}\0`), data)
  }

  /** Compares in constant time. */
  matches(secret: string, hash: string): boolean {
    const given = Buffer.from(this.hash(secret))
    const kept = Buffer.from(hash)
    return given.length === kept.length && timingSafeEqual(given, kept)
  }
}

const derive = (masterKey: Uint8Array, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))
