/** Records of an earlier release that are carried over into another form at the first start, before anything is served. */
import { Change } from '../change.ts'
import type { Database } from '../database.ts'
import type { Identified, RecordKind, Stored } from '../record-kind.ts'
import { pack, unpack, within, type Element } from '../tuple.ts'

/** Records in one write, and those after which the progress is reported. */
const batch = 200
const reportedEvery = 50_000

interface CarriedOver<T extends Identified> {
  readonly kind: RecordKind<T>
  /** A key that says that nothing is left. */
  readonly doneKey: readonly Element[]
  /** One write that takes the records out and puts them where they are from now on. */
  readonly carry: (organizationId: string, rows: readonly Stored<T>[]) => Change | Promise<Change>
  /** Called with how many there were so far, every 50,000. */
  readonly progress: (carried: number) => void
}

/**
 * Carries records over in small writes: what a crash leaves is carried with the next start. Returns how many there were. Nothing else
 * may write meanwhile.
 */
export async function carryRecords<T extends Identified>(
  database: Database,
  { kind, doneKey, carry, progress }: CarriedOver<T>,
): Promise<number> {
  if (await database.kv.get(pack(doneKey))) return 0
  let carried = 0
  for await (const organizationId of owners(database)) {
    for (;;) {
      const { rows } = await database.list(kind, { organizationId }, { limit: batch, ascending: true })
      if (rows.length === 0) break
      await database.commit(await carry(organizationId, rows))
      if (Math.floor((carried + rows.length) / reportedEvery) > Math.floor(carried / reportedEvery)) progress(carried + rows.length)
      carried += rows.length
    }
  }
  await database.commit(new Change().set(doneKey))
  return carried
}

/** What keys begin with: organizations, and others that have records of their own. One seek each. */
export async function* owners(database: Database): AsyncGenerator<string> {
  for (let start: Uint8Array = within(['']).end; ;) {
    let owner: string | undefined
    for await (const { key } of database.kv.range({ start, end: Buffer.of(0xff), limit: 1 })) owner = String(unpack(key)[0])
    if (owner === undefined) return
    yield owner
    start = within([owner]).end
  }
}
