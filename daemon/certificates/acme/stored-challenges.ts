/**
 * Challenge responses for daemons that share a store, because the certificate authority may reach any of them. All daemons have a response
 * before the authority validates it.
 */
import { Change, decode, encode } from '#store/change.ts'
import type { Core } from '#core/core.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import type { Challenges, Shown } from './challenges.ts'

export type StoredChallengeOptions = Pick<Core, 'database' | 'secrets' | 'clock'>

type Kept = { readonly text: string } | { readonly cert: string; readonly key: string }

const topic = 'challenges of certificates'
const prefix = globalKey('acme', 'challenge')
/** Responses of a dead daemon are deleted at this age. */
const keptMs = 3_600_000

export class StoredChallenges implements Shown {
  readonly #options: StoredChallengeOptions
  readonly #here: Challenges
  #loading: Promise<unknown> = Promise.resolve()

  /** `here`: the responses of this daemon. */
  constructor(options: StoredChallengeOptions, here: Challenges) {
    this.#options = options
    this.#here = here
    options.database.daemons.onAsked(topic, () => this.load())
  }

  /** Loads exactly the responses in the store. Responses that stay are available throughout. The latest load counts. */
  load(): Promise<void> {
    const loading = this.#loading.then(() => this.#load())
    this.#loading = loading.catch(() => undefined)
    return loading
  }

  async #load(): Promise<void> {
    const { database, secrets } = this.#options
    const all: (readonly [id: string, kept: Kept])[] = []
    for await (const { key, value } of database.kv.range(within(prefix))) {
      const id = String(unpack(key).at(-1))
      const opened = secrets.open(decode<string>(value), placeOf(id))
      if (opened !== undefined) all.push([id, JSON.parse(opened) as Kept])
    }
    await this.#here.clear()
    for (const [id, kept] of all) await this.#show(id, kept) // only microtasks: no request runs in between
  }

  showText(token: string, keyAuthorization: string): Promise<void> {
    return this.#keep(token, { text: keyAuthorization })
  }

  showCertificate(name: string, { cert, key }: { readonly cert: Buffer; readonly key: Buffer }): Promise<void> {
    return this.#keep(name, { cert: cert.toString(), key: key.toString() })
  }

  async clear(): Promise<void> {
    const { database } = this.#options
    const change = new Change()
    for await (const { key } of database.kv.range({ ...within(prefix), keysOnly: true })) change.deletes.push(key)
    await database.commit(change)
    await this.#here.clear()
    await database.daemons.askOthers(topic, [''])
  }

  async #keep(id: string, kept: Kept): Promise<void> {
    const { database, secrets, clock } = this.#options
    const key = [...prefix, id]
    const change = new Change().set(key, encode(secrets.seal(JSON.stringify(kept), placeOf(id))))
    await database.commit(change.expire(clock.now() + keptMs, key))
    await this.#show(id, kept)
    await database.daemons.askOthers(topic, [''])
  }

  #show(id: string, kept: Kept): Promise<void> {
    if ('text' in kept) return this.#here.showText(id, kept.text)
    return this.#here.showCertificate(id, { cert: Buffer.from(kept.cert), key: Buffer.from(kept.key) })
  }
}

const placeOf = (id: string): string => `acme/challenge/${id}`
