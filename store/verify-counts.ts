/** Compares the counters that tell how many records there are with the records, organization by organization. */
import type { Database } from './database.ts'
import { pack, within, type Element } from './tuple.ts'

/** A kind whose records are counted in the writes that make and remove them. */
export interface CountedKind {
  readonly kind: string
  readonly counter: (organizationId: string) => readonly Element[]
}

const triesMax = 5

/** What was met on a walk. Memory grows with the number of organizations. */
export class RecordCounts {
  readonly #counted: readonly CountedKind[]
  readonly #met = new Map<string, Map<string, number>>()

  constructor(counted: readonly CountedKind[]) {
    this.#counted = counted
  }

  meet(organizationId: string, kind: string): void {
    let counts = this.#met.get(organizationId)
    if (!counts) this.#met.set(organizationId, (counts = new Map()))
    if (this.#counted.some((one) => one.kind === kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }

  /** One sentence for each counter that is wrong. Records are counted again where something moved during the walk. */
  async problems(database: Database): Promise<string[]> {
    const problems: string[] = []
    for (const [organizationId, counts] of this.#met) {
      for (const counted of this.#counted) {
        const problem = await problemOf(database, counted, organizationId, counts.get(counted.kind) ?? 0)
        if (problem !== undefined) problems.push(problem)
      }
    }
    return problems
  }
}

async function problemOf(
  database: Database,
  { kind, counter }: CountedKind,
  organizationId: string,
  met: number,
): Promise<string | undefined> {
  const key = pack(counter(organizationId))
  let records = met
  for (let tries = 0; tries < triesMax; tries++) {
    const before = await database.kv.counter(key)
    if (before === records) return undefined
    records = 0
    for await (const _ of database.kv.range(within([organizationId, kind]))) records++
    const after = await database.kv.counter(key)
    if (records === after) return undefined
    if (before === after) return `${organizationId} has ${records} records of the kind ${kind}, but their counter says ${after}.`
  }
  return undefined
}
