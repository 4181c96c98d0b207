/** Removes in the background what is left of deleted projects, and of organizations whose time of grace is over. */
import { Change } from '#store/change.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { TimedRounds } from '../work-loop.ts'
import { removalsKey } from '../tenancy/removal-key.ts'
import { removeOrganization } from './remove-organization.ts'
import { formRemovalWork, removeLeftSubmissions } from '../forms/submissions/remove.ts'
import { removeProject, type RemovalWork } from './remove-project.ts'

export interface RemovalOptions extends Core {
  /** Resolves when nothing that began before the deletion is still on its way into the project, or all of the organization. */
  readonly settled: (organizationId: string, projectId: string | undefined) => Promise<void>
  /** Is notified of defects; the removal is tried again in the next round. */
  readonly onError: (error: unknown, id: string) => void
}

/** Times of grace end at any time; so often it is looked at. */
const everyMs = 3_600_000

/** It is woken when something was deleted. */
export const removals = (options: RemovalOptions): TimedRounds =>
  new TimedRounds({
    ...{ clock: options.clock, everyMs, round: (stopping) => round(options, stopping) },
    listen: (wake) => options.database.onWork(formRemovalWork, wake),
    onError: (error) => options.onError(error, ''),
  })

async function round({ database, clock, settled, onError }: RemovalOptions, stopping: () => boolean): Promise<void> {
  const nowMs = clock.now()
  await removeLeftSubmissions({ database, stopping }).catch((error: unknown) => onError(error, ''))
  const { start } = within(removalsKey)
  const work: RemovalWork = { database, nowMs, stopping, keepsLinks: true }
  for await (const { key } of database.kv.range({ start, end: pack([...removalsKey, nowMs + 1]) })) {
    if (stopping()) return
    const [, , , organization, project] = unpack(key)
    const organizationId = String(organization)
    const projectId = project === undefined ? undefined : String(project)
    try {
      await settled(organizationId, projectId)
      const isDone =
        projectId === undefined
          ? await removeOrganization({ ...work, keepsLinks: false }, organizationId)
          : await removeProject(work, organizationId, projectId)
      if (!isDone) continue
      const change = new Change()
      change.deletes.push(key)
      await database.commit(change)
    } catch (error) {
      onError(error, projectId ?? organizationId)
    }
  }
}
