/**
 * What the writes of one daemon mean for the others: settings that changed, work to be done, lists that grew. That settings changed is
 * also counted in the store, where each daemon looks regularly, so that none acts on old ones for long when a signal is lost.
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

/** Organizations share so many counts of their changes: one of another organization costs a look at the settings too many. */
const counts = 256
const countsKey = pack(globalKey('settings.changes'))

const [settingsTopic, workTopic, talliesTopic, followTopic] = ['settings', 'work', 'tallies', 'follow']
/** Who follows an organization says so with every beat. */
const followMs = 5000
/** What was read so short a time ago may be used by a daemon that is not current: its reads still come from the store. */
const momentMs = 100

export class SharedChanges {
  readonly #kv: Kv
  readonly #daemons: Daemons
  /** By count: how often it was found to be another one. */
  readonly #changes = new Map<number, number>()
  #known: Uint8Array | undefined
  /** Organizations whose lists are looked at here, by how many; and those that other daemons follow, until when. */
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

  /** Part of what `Database.generation` gives; another one every moment while this daemon does not know the store. */
  generation(organizationId: string): number {
    const known = this.#gaps + (this.#changes.get(countOf(organizationId)) ?? 0)
    return this.#daemons.isCurrent() ? known : known - Math.floor(performance.now() / momentMs) * 2 ** -30
  }

  /** Has the write count that it changes settings. */
  count(change: Change): void {
    change.tally({ key: countsKey, names: [...new Set(change.settingsOf.map((id) => String(countOf(id))))] })
  }

  /** After a write; resolves for one of settings when no daemon acts on the earlier ones any more. */
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

  /** Has others publish the tallies of the organization, until the returned function is called. */
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
