/** Takes a project out of what was noted of its organization by project; the numbers of the organization stay. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { within } from '#store/tuple.ts'

const batch = 100

/** Rows that change at the same moment keep it: it is told apart no more once its record is gone. */
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

/** A row holds lists of pairs of a project and a number, beside numbers and texts. The same row where the project is in none. */
function without(row: unknown, projectId: string): unknown {
  if (!Array.isArray(row)) return row
  const isIts = (pair: unknown): boolean => Array.isArray(pair) && pair[0] === projectId
  const isIn = row.some((part) => Array.isArray(part) && part.some(isIts))
  return isIn ? row.map((part: unknown) => (Array.isArray(part) ? part.filter((pair) => !isIts(pair)) : part)) : row
}
