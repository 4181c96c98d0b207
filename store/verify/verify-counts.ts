/** Compares counters of records with the records of each organization. */
import type { AnyKind } from '../record-kind.ts'
import type { Database } from '../database.ts'
import { pack, unpack, within, type Element } from '../tuple.ts'
import { readRecord } from './verify-records.ts'

/** A kind with a counter that the writes of its records update. */
export interface CountedKind {
  readonly kind: AnyKind
  /** Former kind, whose records the counter includes until they are converted. */
  readonly earlier?: AnyKind
  /** Returns the key of a counter. `part` is given for kinds with parts. */
  readonly counter: (organizationId: string, part?: string) => readonly Element[]
  /** Divides the records of an organization into parts with a separate counter each. `of` returns the part of a record. */
  readonly part?: {
    readonly of: (record: unknown) => string
    /** Returns all parts of the organization that can have a counter. */
    readonly all: (organizationId: string) => Promise<readonly string[]>
  }
  /** Amount that a record adds to the counter; 1 by default. */
  readonly weigh?: (record: unknown) => number
}

const maxTries = 5

/** Counts of one walk over the store. Memory grows with the number of organizations. */
export class RecordCounts {
  readonly #counted: readonly CountedKind[]
  readonly #met = new Map<string, Map<CountedKind, Map<string, number>>>()

  constructor(counted: readonly CountedKind[]) {
    this.#counted = counted
  }

  /** `record` is undefined if it cannot be decoded. */
  meet(organizationId: string, kind: string, record: unknown): void {
    let counts = this.#met.get(organizationId)
    if (!counts) this.#met.set(organizationId, (counts = new Map()))
    for (const counted of this.#counted) {
      if (counted.kind.name !== kind && counted.earlier?.name !== kind) continue
      const parts = counts.get(counted) ?? new Map<string, number>()
      const part = partOf(counted, record)
      counts.set(counted, parts.set(part, (parts.get(part) ?? 0) + weightOf(counted, record)))
    }
  }

  /** Returns a sentence for each wrong counter. Counts records again if they changed during the walk. */
  async problems(database: Database): Promise<string[]> {
    const problems: string[] = []
    for (const [organizationId, counts] of this.#met) {
      for (const counted of this.#counted) {
        const parts = counts.get(counted)
        if (counted.part && parts?.has('')) continue // the part of an undecodable record is unknown
        for (const part of (await counted.part?.all(organizationId)) ?? ['']) {
          const problem = await problemOf(database, counted, { organizationId, part }, parts?.get(part) ?? 0)
          if (problem !== undefined) problems.push(problem)
        }
      }
    }
    return problems
  }
}

const weightOf = ({ weigh }: CountedKind, record: unknown): number => (weigh ? (record === undefined ? 0 : weigh(record)) : 1)

/** Empty for kinds without parts and for records that cannot be decoded. */
const partOf = ({ part }: CountedKind, record: unknown): string => (part && record !== undefined ? part.of(record) : '')

interface Place {
  readonly organizationId: string
  readonly part: string
}

async function problemOf(
  database: Database,
  counted: CountedKind,
  { organizationId, part }: Place,
  met: number,
): Promise<string | undefined> {
  const { kind, earlier, counter, weigh } = counted
  const key = pack(counted.part ? counter(organizationId, part) : counter(organizationId))
  const isRead = weigh !== undefined || counted.part !== undefined
  const amountOf = (record: unknown): number => (partOf(counted, record) === part ? weightOf(counted, record) : 0)
  let records = met
  for (let tries = 0; tries < maxTries; tries++) {
    const before = await database.kv.counter(key)
    if (before === records) return undefined
    records = 0
    for (const one of earlier ? [kind, earlier] : [kind])
      for await (const entry of database.kv.range(within([organizationId, one.name])))
        records += amountOf(isRead ? readRecord(one, unpack(entry.key), entry).record : undefined)
    const after = await database.kv.counter(key)
    if (records === after) return undefined
    if (before !== after) continue
    const what = weigh ? `records of the kind ${kind.name} that weigh ${records}` : `${records} records of the kind ${kind.name}`
    return `${part || organizationId} has ${what}, but their counter says ${after}.`
  }
  return undefined
}
