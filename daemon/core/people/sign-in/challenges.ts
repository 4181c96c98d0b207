/**
 * Challenges for passkeys (WebAuthn Level 3 §13.4.3). They need no row: a MAC authenticates them. Each is valid once, because the write
 * that accepts the answer marks the challenge as used.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { peoplePartition } from '../users/user.ts'

const validMs = 15 * 60_000
const saltBytes = 16
const timeBytes = 6

/** `purpose` binds a challenge to its use and user: a challenge for sign-in cannot register a passkey. */
export class Challenges {
  readonly #secrets: SecretBox

  constructor(secrets: SecretBox) {
    this.#secrets = secrets
  }

  issue(purpose: string, now: number): Uint8Array<ArrayBuffer> {
    const head = Buffer.alloc(saltBytes + timeBytes)
    randomBytes(saltBytes).copy(head)
    head.writeUIntBE(now + validMs, saltBytes, timeBytes)
    return new Uint8Array([...head, ...this.#mac(purpose, head)])
  }

  /** Returns whether the challenge was issued for this purpose and has not expired. */
  isGood(challenge: string, purpose: string, now: number): boolean {
    const bytes = Buffer.from(challenge, 'base64url')
    const head = bytes.subarray(0, saltBytes + timeBytes)
    const mac = this.#mac(purpose, head)
    if (bytes.length !== head.length + mac.length || !timingSafeEqual(bytes.subarray(head.length), mac)) return false
    return head.readUIntBE(saltBytes, timeBytes) > now
  }

  /** Makes the write fail if the challenge was already used. */
  use(change: Change, challenge: string, now: number): void {
    const key = usedKey(challenge)
    change.setNew(key, Buffer.alloc(0)).expire(now + validMs, key)
  }

  async wasUsed(database: Database, challenge: string): Promise<boolean> {
    return (await database.kv.get(pack(usedKey(challenge)))) !== undefined
  }

  #mac(purpose: string, head: Uint8Array): Buffer {
    return this.#secrets.mac('passkey challenge', Buffer.concat([Buffer.from(`${purpose}\0`), head]))
  }
}

const usedKey = (challenge: string): readonly [string, string, string] => [peoplePartition, 'challenge', challenge]
