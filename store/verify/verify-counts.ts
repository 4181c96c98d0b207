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
  readonly counter: (organizationId: string) => readonly Element[]
  /** What one of them adds to the counter; one by default. */
  readonly weigh?: (record: unknown) => number
}

const maxTries = 5

/** What was met on a walk. Memory grows with the number of organizations. */
export class RecordCounts {
  readonly #counted: readonly CountedKind[]
  readonly #met = new Map<string, Map<string, number>>()

  constructor(counted: readonly CountedKind[]) {
    this.#counted = counted
  }

  /** `record` is undefined when it cannot be read. */
  meet(organizationId: string, kind: string, record: unknown): void {
    let counts = this.#met.get(organizationId)
    if (!counts) this.#met.set(organizationId, (counts = new Map()))
    const counted = this.#counted.find((one) => one.kind.name === kind || one.earlier?.name === kind)
    if (counted) counts.set(counted.kind.name, (counts.get(counted.kind.name) ?? 0) + weightOf(counted, record))
  }

  /** One sentence for each counter that is wrong. Records are counted again where something moved during the walk. */
  async problems(database: Database): Promise<string[]> {
    const problems: string[] = []
    for (const [organizationId, counts] of this.#met) {
      for (const counted of this.#counted) {
        const problem = await problemOf(database, counted, organizationId, counts.get(counted.kind.name) ?? 0)
        if (problem !== undefined) problems.push(problem)
      }
    }
    return problems
  }
}

const weightOf = ({ weigh }: CountedKind, record: unknown): number => (weigh ? (record === undefined ? 0 : weigh(record)) : 1)

async function problemOf(database: Database, counted: CountedKind, organizationId: string, met: number): Promise<string | undefined> {
  const { kind, earlier, counter, weigh } = counted
  const key = pack(counter(organizationId))
  let records = met
  for (let tries = 0; tries < maxTries; tries++) {
    const before = await database.kv.counter(key)
    if (before === records) return undefined
    records = 0
    for (const one of earlier ? [kind, earlier] : [kind])
      for await (const entry of database.kv.range(within([organizationId, one.name])))
        records += weightOf(counted, weigh && readRecord(one, unpack(entry.key), entry).record)
    const after = await database.kv.counter(key)
    if (records === after) return undefined
    if (before !== after) continue
    const what = weigh ? `records of the kind ${kind.name} that weigh ${records}` : `${records} records of the kind ${kind.name}`
    return `${organizationId} has ${what}, but their counter says ${after}.`
  }
  return undefined
}
