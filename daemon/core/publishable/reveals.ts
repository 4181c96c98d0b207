/**
 * Links that show a token once. The store has the token sealed under a key that only the link contains. Without the link, neither the store
 * nor the master key reveals the token.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { actorOf, type Actor, type Requester } from '../writes/audit.ts'
import { Refusal } from '../refusals.ts'
import { publishableKeys, works, type PublishableKey } from './publishable-key.ts'

export interface RevealOptions extends Core {
  /** Base URL of the dashboard and pages, without a trailing slash. */
  readonly pagesUrl: string
}

/** The key and token of a link. */
interface RevealedKey {
  readonly organizationId: string
  readonly projectId: string
  readonly keyId: string
  /** Id of the token; a rotation makes the link invalid. */
  readonly tokenId: string
}

/** The key and token that a link shows. */
interface Revealed extends RevealedKey {
  readonly token: string
}

export interface RevealLink {
  readonly url: string
  readonly expiresInSeconds: number
}

interface Row extends RevealedKey {
  /** Nonce, ciphertext and tag of AES-256-GCM in base64url. */
  readonly sealed: string
  readonly expiresAt: number
}

interface Opened {
  readonly row: RevealedKey
  readonly record: PublishableKey
  readonly token: string
  readonly version: bigint
  readonly key: readonly Element[]
}

const lifeMs = 5 * 60_000
const nonceBytes = 12
const gcm = { authTagLength: 16 } as const
const form = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/

const rowKey = (id: string): readonly Element[] => globalKey('reveal', id)

export class Reveals {
  readonly #options: RevealOptions

  constructor(options: RevealOptions) {
    this.#options = options
  }

  /** Adds a link to the write that creates the token. */
  add(change: Change, { token, ...key }: Revealed): RevealLink {
    const { clock, pagesUrl } = this.#options
    const id = randomBytes(12).toString('base64url')
    const secret = randomBytes(32).toString('base64url')
    const expiresAt = clock.now() + lifeMs
    const row: Row = { ...key, sealed: seal(token, id, secret), expiresAt }
    change.setNew(rowKey(id), encode(row)).expire(expiresAt, rowKey(id))
    return { url: `${pagesUrl}/reveal/${id}.${secret}`, expiresInSeconds: lifeMs / 1000 }
  }

  /** Returns the key of the link without using the link. Throws `reveal_expired` unless the link is valid. */
  async look(code: string): Promise<{ readonly organizationId: string; readonly key: PublishableKey }> {
    const { row, record } = await this.#open(code)
    return { organizationId: row.organizationId, key: record }
  }

  /** Returns the token to one caller only; `requester` is the caller for the audit log, if known. Throws `reveal_expired`. */
  async take(code: string, requester?: Requester): Promise<string> {
    const { database, audit } = this.#options
    const { row, token, version, key } = await this.#open(code)
    const change = new Change().check(key, version).delete(key)
    const { organizationId, projectId, keyId: target } = row
    const actor: Actor = requester ? actorOf(requester) : { kind: 'service', id: '' }
    audit.record(change, { organizationId, projectId, actor, act: 'publishable_key.revealed', target, details: {} })
    if (!(await database.commit(change)).ok) throw expired()
    return token
  }

  /** Returns the code of a link of this service. */
  codeOf(url: string): string | undefined {
    const start = `${this.#options.pagesUrl}/reveal/`
    return url.startsWith(start) ? url.slice(start.length) : undefined
  }

  async #open(code: string): Promise<Opened> {
    const { database, clock } = this.#options
    const [, id = '', secret = ''] = form.exec(code) ?? []
    const key = rowKey(id)
    const entry = id === '' ? undefined : await database.kv.get(pack(key))
    const row = entry && decode<Row>(entry.value)
    const token = row && row.expiresAt > clock.now() ? unseal(row.sealed, id, secret) : undefined
    const stored = row && token !== undefined ? await database.get(publishableKeys, row, row.keyId) : undefined
    if (!entry || !row || token === undefined || !stored || !works(stored.record, row.tokenId)) throw expired()
    return { row, record: stored.record, token, version: entry.version, key }
  }
}

const keyFrom = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'postern reveal link', 32))

function seal(token: string, id: string, secret: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyFrom(secret), nonce, gcm).setAAD(Buffer.from(id))
  return Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Returns undefined for a wrong secret. */
function unseal(sealed: string, id: string, secret: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyFrom(secret), bytes.subarray(0, nonceBytes), gcm).setAAD(Buffer.from(id))
    decipher.setAuthTag(bytes.subarray(-gcm.authTagLength))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -gcm.authTagLength)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const expired = (): Refusal =>
  new Refusal(
    'reveal_expired',
    'This link was already used, is older than five minutes, or its key has been rotated; rotate the key to get a new link.',
  )
