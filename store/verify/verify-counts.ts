/** Compares the counters of records with the records, organization by organization. */
import type { AnyKind } from '../record-kind.ts'
import type { Database } from '../database.ts'
import { pack, unpack, within, type Element } from '../tuple.ts'
import { readRecord } from './verify-records.ts'

/** A kind whose records are counted in the writes that make and remove them. */
export interface CountedKind {
  readonly kind: AnyKind
  /** The counter holds these too: what the kind was before, and what is not carried over yet. */
  readonly earlier?: AnyKind
  /** `part` is that of `part.of`, and undefined where there is none. */
  readonly counter: (organizationId: string, part?: string) => readonly Element[]
  /** Each part of an organization has a counter of its own. */
  readonly part?: {
    readonly of: (record: unknown) => string
    /** Those that can have a counter. */
    readonly all: (organizationId: string) => Promise<readonly string[]>
  }
  /** What one of them adds to the counter; one by default. */
  readonly weigh?: (record: unknown) => number
}

const maxTries = 5

/** What was met on a walk. Memory grows with the number of organizations. */
export class RecordCounts {
  readonly #counted: readonly CountedKind[]
  readonly #met = new Map<string, Map<CountedKind, Map<string, number>>>()

  constructor(counted: readonly CountedKind[]) {
    this.#counted = counted
  }

  /** `record` is undefined when it cannot be read. */
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

  /** One sentence for each counter that is wrong. Records are counted again where something moved during the walk. */
  async problems(database: Database): Promise<string[]> {
    const problems: string[] = []
    for (const [organizationId, counts] of this.#met) {
      for (const counted of this.#counted) {
        const parts = counts.get(counted)
        if (counted.part && parts?.has('')) continue // one could not be read, so nothing says where it belongs
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

/** Empty where there are no parts, or the record cannot be read. */
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
