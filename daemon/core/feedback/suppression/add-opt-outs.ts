/** Imports opt-outs that another service recorded, each once. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { transact } from '../../writes/transact.ts'
import { everyList, namedList, optOuts, type OptOut } from './opt-out.ts'

/** Returns the opt-out of an address from a list of this project. If `list` is null, it applies to every list of the organization. */
export function newOptOut(database: Database, email: string, list: string | null, projectId: string, nowMs: number): OptOut {
  const named = list === null ? { key: everyList, name: null } : namedList(projectId, list)
  return {
    ...{ id: database.newId('uns', nowMs), email, list: named.key, name: named.name, traceId: null, createdAt: nowMs, projectId },
    ownerId: list === null ? null : projectId,
  }
}

/** Returns for each entry whether it was added. Existing entries are skipped. `also` adds to a write that adds entries. */
export async function addOptOuts(
  database: Database,
  organizationId: string,
  entries: readonly OptOut[],
  also: (change: Change) => void,
): Promise<readonly boolean[]> {
  return transact(database, { organizationId }, async (change) => {
    const isNew = await areNew(database, organizationId, entries)
    for (const [i, entry] of entries.entries()) if (isNew[i]) change.insert(optOuts, organizationId, entry)
    if (isNew.includes(true)) also(change)
    return isNew
  })
}

/** Returns for each entry whether it is neither stored nor earlier in `entries`. */
export async function areNew(database: Database, organizationId: string, entries: readonly OptOut[]): Promise<readonly boolean[]> {
  const places = entries.map(({ email, list }) => [email, list])
  const found = await database.findMany(optOuts, { organizationId }, 'listed', places)
  const seen = new Set<string>()
  return places.map(([email = '', list = ''], i) => {
    const place = `${list}\n${email}`
    const isNew = found[i] === undefined && !seen.has(place)
    seen.add(place)
    return isNew
  })
}
