/** Puts opt-outs on record that another service had, each once. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { transact } from '../../writes/transact.ts'
import { everyList, namedList, optOuts, type OptOut } from './opt-out.ts'

/** The record of an address that has left a list of this project, or with null every list of the organization. */
export function newOptOut(database: Database, email: string, list: string | null, projectId: string, nowMs: number): OptOut {
  const named = list === null ? { key: everyList, name: null } : namedList(projectId, list)
  return {
    ...{ id: database.newId('uns', nowMs), email, list: named.key, name: named.name, traceId: null, createdAt: nowMs, projectId },
    ownerId: list === null ? null : projectId,
  }
}

/** Whether each was added; none is added twice. `also` adds to a write that changes anything. */
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

/** Of each whether it stands nowhere yet, before it in this list either. */
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
