/**
 * Stores the records of orders in the store, encrypted, for daemons that share it. Each daemon has a copy of the certificate in its data
 * folder, for the time until it can read the store.
 */
import { hash } from 'node:crypto'
import { Change, decode, encode } from '#store/change.ts'
import type { Core } from '#core/core.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { newAccount, type Account, type Ordered, type OrderRecords } from './order-records.ts'

const certificateKey = globalKey('acme', 'certificate')
const accountKey = (directory: string): readonly Element[] => globalKey('acme', 'account', hash('sha256', directory))

export class StoredOrders implements OrderRecords {
  readonly #options: Pick<Core, 'database' | 'secrets'>
  readonly #files: OrderRecords

  /** `files`: the records in the data folder. Records from before the store was shared are moved to the store. */
  constructor(options: Pick<Core, 'database' | 'secrets'>, files: OrderRecords) {
    this.#options = options
    this.#files = files
  }

  async certificate(): Promise<Ordered | undefined> {
    const copy = await this.#files.certificate()
    const kept = (await this.#get<Ordered>(certificateKey)) ?? (copy && (await this.#keepFirst(certificateKey, copy)))
    if (kept && (kept.cert !== copy?.cert || kept.key !== copy.key)) await this.#files.keepCertificate(kept)
    return kept
  }

  async keepCertificate(ordered: Ordered): Promise<void> {
    await this.#put(certificateKey, ordered)
    await this.#files.keepCertificate(ordered)
  }

  async account(directory: string): Promise<Account> {
    const key = accountKey(directory)
    return (
      (await this.#get<Account>(key)) ?? (await this.#keepFirst(key, (await this.#files.knownAccount(directory)) ?? newAccount(directory)))
    )
  }

  async knownAccount(directory: string): Promise<Account | undefined> {
    return this.#get<Account>(accountKey(directory))
  }

  keepAccount(account: Account): Promise<void> {
    return this.#put(accountKey(account.directory), account)
  }

  /** Returns undefined if the record is missing, or encrypted with another master key. */
  async #get<Value>(key: readonly Element[]): Promise<Value | undefined> {
    const { database, secrets } = this.#options
    const entry = await database.kv.get(pack(key))
    const opened = entry && secrets.open(decode<string>(entry.value), placeOf(key))
    return opened === undefined ? undefined : (JSON.parse(opened) as Value)
  }

  async #put(key: readonly Element[], value: unknown): Promise<void> {
    await this.#options.database.commit(new Change().set(key, this.#sealed(key, value)))
  }

  /** Stores a value unless another daemon was first. Returns the stored value. */
  async #keepFirst<Value>(key: readonly Element[], value: Value): Promise<Value> {
    const { ok } = await this.#options.database.commit(new Change().setNew(key, this.#sealed(key, value)))
    if (ok) return value
    const there = await this.#get<Value>(key)
    if (there !== undefined) return there
    await this.#put(key, value) // the existing record cannot be decrypted
    return value
  }

  #sealed(key: readonly Element[], value: unknown): Uint8Array {
    return encode(this.#options.secrets.seal(JSON.stringify(value), placeOf(key)))
  }
}

const placeOf = (key: readonly Element[]): string => Buffer.from(pack(key)).toString('base64url')
