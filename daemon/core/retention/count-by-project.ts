/** Counts the traces of each project in the store of a release that only counted them per organization. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { owners } from '#store/upgrade/carry.ts'
import { storedTracesCounter } from '../tenancy/counters.ts'
import { traces } from '../trace/trace.ts'

const reportedEvery = 50_000

/** Idempotent. Returns the number of traces. */
export async function countByProject(database: Database, progress: (counted: number) => void): Promise<number> {
  let counted = 0
  for await (const organizationId of owners(database)) {
    let [projectId, count] = ['', 0]
    for await (const { key } of database.kv.range({ ...within([organizationId, traces.name]), keysOnly: true })) {
      const of = String(unpack(key)[2])
      if (of !== projectId) await note(database, organizationId, projectId, count)
      ;[projectId, count] = of === projectId ? [projectId, count + 1] : [of, 1]
      if (++counted % reportedEvery === 0) progress(counted)
    }
    await note(database, organizationId, projectId, count)
  }
  return counted
}

async function note(database: Database, organizationId: string, projectId: string, count: number): Promise<void> {
  if (projectId === '') return
  const key = storedTracesCounter(organizationId, projectId)
  const missing = count - (await database.kv.counter(pack(key)))
  if (missing !== 0) await database.commit(new Change().add(key, missing))
}
