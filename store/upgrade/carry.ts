/** Converts records of an earlier release to another form at the first start, before the daemon accepts requests. */
import { Change } from '../change.ts'
import type { Database } from '../database.ts'
import type { Identified, RecordKind, Stored } from '../record-kind.ts'
import { pack, unpack, within, type Element } from '../tuple.ts'

/** Records in one write, and between reports of progress. */
const batch = 200
const reportedEvery = 50_000

interface CarriedOver<T extends Identified> {
  readonly kind: RecordKind<T>
  /** Key that exists after the conversion of all records. */
  readonly doneKey: readonly Element[]
  /** Returns a write that removes the old records and inserts the new ones. */
  readonly carry: (organizationId: string, rows: readonly Stored<T>[]) => Change | Promise<Change>
  /** Called after every 50,000 records with the number of records until then. */
  readonly progress: (carried: number) => void
}

/**
 * Converts records in small writes. After a crash, the next start continues. Returns the number of records. Requires that nothing else
 * writes.
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

/** Returns the first elements of all keys: organizations, and other owners of records. Reads one row for each. */
export async function* owners(database: Database): AsyncGenerator<string> {
  for (let start: Uint8Array = within(['']).end; ;) {
    let owner: string | undefined
    for await (const { key } of database.kv.range({ start, end: Buffer.of(0xff), limit: 1 })) owner = String(unpack(key)[0])
    if (owner === undefined) return
    yield owner
    start = within([owner]).end
  }
}
