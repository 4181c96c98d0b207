/**
 * Keys that sign access tokens. A new key is published before it signs, and an old key while its tokens can be valid. Clients that cache
 * the key set for some time therefore always find the key. Calls create and retire keys; there is no timer.
 */
import type { CryptoKey, JWK } from 'jose'
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { within, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import type { SealedSecret } from '../../access/secret-box.ts'

export const signingAlgorithm = 'ES256'

interface SigningKeyRow {
  readonly kid: string
  readonly publicKey: JWK
  /** The sealed private JWK. */
  readonly sealed: SealedSecret
  readonly createdAt: number
}

interface SigningKey extends SigningKeyRow {
  readonly signs: CryptoKey
  readonly verifies: CryptoKey
}

const dayMs = 86_400_000
const rotationMs = 90 * dayMs
/** Time from publication of a key to its first signature. */
const leadMs = dayMs
/** Time from the first signature of the next key to the removal of this key; longer than the lifetime of tokens. */
const overlapMs = dayMs

const keysPrefix = globalKey('oauth.signing-key')
const rowKey = (kid: string): readonly Element[] => [...keysPrefix, kid]
const place = (kid: string): string => `oauth.signing-key/${kid}/private`

export class SigningKeys {
  readonly #core: Core
  #keys: Promise<readonly SigningKey[]> | undefined

  constructor(core: Core) {
    this.#core = core
  }

  /** Returns the key that signs now. */
  async current(): Promise<{ readonly kid: string; readonly key: CryptoKey }> {
    const keys = await this.#all()
    const now = this.#core.clock.now()
    const [first] = keys
    const current = keys.findLast(({ createdAt }) => createdAt + leadMs <= now) ?? first
    if (!current) throw new Error('there is no signing key')
    return { kid: current.kid, key: current.signs }
  }

  /** Returns the key with this id while it is published. */
  async find(kid: string | undefined): Promise<CryptoKey | undefined> {
    return (await this.#all()).find((key) => key.kid === kid)?.verifies
  }

  /** Returns the key set (RFC 7517 §5), oldest first. */
  async published(): Promise<readonly JWK[]> {
    return (await this.#all()).map(({ kid, publicKey }) => ({ ...publicKey, kid, alg: signingAlgorithm, use: 'sig' }))
  }

  async #all(): Promise<readonly SigningKey[]> {
    const loading = (this.#keys ??= this.#kept(this.#load()))
    const keys = await loading
    const now = this.#core.clock.now()
    if (!needsKey(keys, now) && !isOutlived(keys, now)) return keys
    // the first caller renews the keys; concurrent callers wait for the same promise
    if (this.#keys === loading) this.#keys = this.#kept(this.#renew(keys, now))
    return this.#keys
  }

  /** Stores the promise in the cache only while it does not fail, so that the next call tries again. */
  #kept(keys: Promise<readonly SigningKey[]>): Promise<readonly SigningKey[]> {
    keys.catch(() => (this.#keys = undefined))
    return keys
  }

  async #load(): Promise<readonly SigningKey[]> {
    const rows: SigningKeyRow[] = []
    for await (const { value } of this.#core.database.kv.range(within(keysPrefix))) rows.push(decode<SigningKeyRow>(value))
    return Promise.all(rows.toSorted((a, b) => a.createdAt - b.createdAt).map((row) => this.#open(row)))
  }

  async #open(row: SigningKeyRow): Promise<SigningKey> {
    const text = this.#core.secrets.open(row.sealed, place(row.kid))
    if (text === undefined) throw new Error(`the signing key ${row.kid} cannot be opened with this master key`)
    const { importJWK } = await import('jose')
    const [signs, verifies] = await Promise.all([JSON.parse(text) as JWK, row.publicKey].map((jwk) => importJWK(jwk, signingAlgorithm)))
    return { ...row, signs: signs as CryptoKey, verifies: verifies as CryptoKey }
  }

  async #renew(keys: readonly SigningKey[], now: number): Promise<readonly SigningKey[]> {
    const change = new Change()
    const outlived = isOutlived(keys, now) ? keys.slice(0, 1) : []
    for (const { kid } of outlived) change.delete(rowKey(kid))
    const made = needsKey(keys, now) ? [await this.#make(now)] : []
    for (const { signs: _signs, verifies: _verifies, ...row } of made) change.setNew(rowKey(row.kid), encode(row))
    if (!(await this.#core.database.commit(change)).ok) throw new Error('the signing keys were changed by another process')
    return [...keys.slice(outlived.length), ...made]
  }

  async #make(now: number): Promise<SigningKey> {
    const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose')
    const pair = await generateKeyPair(signingAlgorithm, { extractable: true })
    const [publicKey, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
    const kid = await calculateJwkThumbprint(publicKey) // RFC 7638 §3
    return this.#open({ kid, publicKey, sealed: this.#core.secrets.seal(JSON.stringify(privateKey), place(kid)), createdAt: now })
  }
}

const needsKey = (keys: readonly SigningKeyRow[], now: number): boolean => {
  const newest = keys.at(-1)
  return newest === undefined || newest.createdAt + rotationMs <= now
}

/** Returns whether all tokens that the oldest key signed have expired. */
const isOutlived = ([, next]: readonly SigningKeyRow[], now: number): boolean =>
  next !== undefined && next.createdAt + leadMs + overlapMs <= now
