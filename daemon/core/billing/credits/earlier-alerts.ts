/** Removes pending mail about credits of an earlier release. Findings report the use of credits now. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'

/** Idempotent. Returns the number of rows. */
export async function removeCreditAlerts(database: Database): Promise<number> {
  let removed = 0
  for await (const { key } of database.kv.range(within(globalKey('credit.alert')))) {
    await database.commit(new Change().delete(unpack(key)))
    removed++
  }
  return removed
}
