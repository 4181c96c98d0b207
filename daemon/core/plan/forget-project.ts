/** Removes a project from an organization's usage by project; the totals do not change. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { within } from '#store/tuple.ts'

const batch = 100

/** Rows that change concurrently keep the project. Reports then show its usage without a project, because its record is removed. */
export async function forgetProject(database: Database, organizationId: string, projectId: string): Promise<void> {
  for (const family of ['usage.held', 'usage.stored']) {
    let change = new Change()
    for await (const { key, value, version } of database.kv.range(within([organizationId, family]))) {
      const row = decode<unknown>(value)
      const next = without(row, projectId)
      if (next === row) continue
      change.checks.push({ key, version })
      change.sets.push({ key, value: encode(next) })
      if (change.sets.length < batch) continue
      await database.commit(change)
      change = new Change()
    }
    if (change.sets.length > 0) await database.commit(change)
  }
}

/**
 * Returns the row without the project, or the same row if it does not contain the project. A row has lists of pairs of project and number,
 * and also numbers and texts.
 */
function without(row: unknown, projectId: string): unknown {
  if (!Array.isArray(row)) return row
  const isIts = (pair: unknown): boolean => Array.isArray(pair) && pair[0] === projectId
  const isIn = row.some((part) => Array.isArray(part) && part.some(isIts))
  return isIn ? row.map((part: unknown) => (Array.isArray(part) ? part.filter((pair) => !isIts(pair)) : part)) : row
}
