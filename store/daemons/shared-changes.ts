/**
 * Reports the effects of writes to other daemons: changed settings, new work and grown lists. The store also counts changes of settings,
 * and each daemon reads the counts regularly. After a lost signal, a daemon therefore uses old settings only briefly.
 */
import type { Change } from '../change.ts'
import type { Kv, Tally } from '../kv.ts'
import { globalKey } from '../record-kind.ts'
import { decodeCounts } from '../tally.ts'
import { pack, unpack } from '../tuple.ts'
import type { Daemons } from './daemons.ts'

export interface ChangeListener {
  readonly onSettings: (organizationIds: readonly string[]) => void
  readonly onWork: (worker: string, places: ReadonlySet<string>) => void
  readonly onTallied: (tallies: readonly Tally[]) => void
}

/** Number of counts for changes of settings. If two organizations share a count, both read their settings again. */
const counts = 256
const countsKey = pack(globalKey('settings.changes'))

const [settingsTopic, workTopic, talliesTopic, followTopic] = ['settings', 'work', 'tallies', 'follow']
/** A daemon that follows an organization repeats this with each beat. */
const followMs = 5000
/** A daemon that is not current may use cached data for this time, because its reads come from the store. */
const momentMs = 100

export class SharedChanges {
  readonly #kv: Kv
  readonly #daemons: Daemons
  /** Number of observed changes of each count. */
  readonly #changes = new Map<number, number>()
  #known: Uint8Array | undefined
  /**
   * Organizations whose lists are open here, with the number of followers; and organizations that other daemons follow, with the end of
   * that.
   */
  readonly #followed = new Map<string, number>()
  readonly #followedElsewhere = new Map<string, number>()
  #gaps = 0

  constructor(kv: Kv, daemons: Daemons, { onSettings, onWork, onTallied }: ChangeListener) {
    this.#kv = kv
    this.#daemons = daemons
    daemons.subscribe(settingsTopic, onSettings)
    daemons.subscribe(workTopic, (items) => {
      for (const [worker, places] of Map.groupBy(items.map(splitWork), ([name]) => name))
        onWork(worker, new Set(places.map(([, place]) => place)))
    })
    daemons.subscribe(talliesTopic, (items) => onTallied(items.map(toTally)))
    daemons.subscribe(followTopic, (ids) => ids.forEach((id) => this.#followedElsewhere.set(id, performance.now() + followMs)))
    daemons.onGap(() => this.#gaps++)
    daemons.onBeat(() => this.#look())
  }

  /** Part of the result of `Database.generation`. It changes at every moment while this daemon is not current. */
  generation(organizationId: string): number {
    const known = this.#gaps + (this.#changes.get(countOf(organizationId)) ?? 0)
    return this.#daemons.isCurrent() ? known : known - Math.floor(performance.now() / momentMs) * 2 ** -30
  }

  /** Adds a count to a write that changes settings. */
  count(change: Change): void {
    change.tally({ key: countsKey, names: [...new Set(change.settingsOf.map((id) => String(countOf(id))))] })
  }

  /** Publishes the effects of a committed write. For a write of settings, resolves when no daemon uses the earlier settings. */
  async publish({ work, tallies, settingsOf }: Change): Promise<void> {
    for (const [worker, places] of work ?? [])
      if (this.#daemons.placeOf(worker) === 'elsewhere')
        this.#daemons.publish(
          workTopic,
          [...places].map((place) => `${worker}\0${place}`),
        )
    if (this.#followedElsewhere.size > 0) this.#publishTallies(tallies)
    if (settingsOf.length > 0) await this.#daemons.publishToAll(settingsTopic, settingsOf)
  }

  /** Makes other daemons publish the tallies of the organization until the returned function is called. */
  follow(organizationId: string): () => void {
    this.#followed.set(organizationId, (this.#followed.get(organizationId) ?? 0) + 1)
    this.#daemons.publish(followTopic, [organizationId])
    return () => {
      const left = (this.#followed.get(organizationId) ?? 1) - 1
      if (left > 0) this.#followed.set(organizationId, left)
      else this.#followed.delete(organizationId)
    }
  }

  #publishTallies(tallies: readonly Tally[]): void {
    const now = performance.now()
    for (const [id, until] of this.#followedElsewhere) if (until < now) this.#followedElsewhere.delete(id)
    const followed = tallies.filter(({ key }) => this.#followedElsewhere.has(String(unpack(key)[0])))
    if (followed.length > 0) this.#daemons.publish(talliesTopic, followed.map(ofTally))
  }

  async #look(): Promise<void> {
    if (this.#followed.size > 0) this.#daemons.publish(followTopic, [...this.#followed.keys()])
    const entry = await this.#kv.get(countsKey)
    if (!entry || (this.#known && Buffer.compare(entry.value, this.#known) === 0)) return
    const before = countsIn(this.#known)
    for (const [name, count] of countsIn(entry.value))
      if (before.get(name) !== count) this.#changes.set(Number(name), (this.#changes.get(Number(name)) ?? 0) + 1)
    this.#known = entry.value
  }
}

const countsIn = (value: Uint8Array | undefined): ReadonlyMap<string, number> => (value ? decodeCounts(value) : new Map())

function countOf(organizationId: string): number {
  let hash = 0
  for (let i = 0; i < organizationId.length; i++) hash = (Math.imul(hash, 31) + organizationId.charCodeAt(i)) >>> 0
  return hash % counts
}

function splitWork(item: string): readonly [worker: string, place: string] {
  const at = item.indexOf('\0')
  return [item.slice(0, at), item.slice(at + 1)]
}

const ofTally = ({ key, names, delta }: Tally): string => JSON.stringify([Buffer.from(key).toString('base64'), names, delta ?? 1])

function toTally(item: string): Tally {
  const [key, names, delta] = JSON.parse(item) as [string, string[], number]
  return { key: Buffer.from(key, 'base64'), names, delta }
}
