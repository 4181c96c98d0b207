/**
 * Removes the data of deleted projects, and of organizations whose grace period is over, in the background. Ends the findings of both
 * first.
 */
import { Change } from '#store/change.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { endFindings, type Ending } from '../findings/end-findings.ts'
import { TimedRounds } from '../work-loop.ts'
import { removalsKey } from '../tenancy/removal-key.ts'
import { removeOrganization } from './remove-organization.ts'
import { formRemovalWork, removeLeftSubmissions } from '../forms/submissions/remove.ts'
import { removeProject, type RemovalWork } from './remove-project.ts'

export interface RemovalOptions extends Core, Ending {
  /** Resolves when all requests that started before the deletion of the project or organization have finished. */
  readonly settled: (organizationId: string, projectId: string | undefined) => Promise<void>
  /** Reports errors; the removal is repeated in the next round. */
  readonly onError: (error: unknown, id: string) => void
}

/** Interval of the check for expired grace periods. */
const everyMs = 3_600_000

/** Returns the work, which deletions wake. */
export const removals = (options: RemovalOptions): TimedRounds =>
  new TimedRounds({
    ...{ clock: options.clock, everyMs, round: (stopping) => round(options, stopping) },
    listen: (wake) => options.database.onWork(formRemovalWork, wake),
    onError: (error) => options.onError(error, ''),
  })

async function round(options: RemovalOptions, stopping: () => boolean): Promise<void> {
  const { database, clock, settled, onError } = options
  const nowMs = clock.now()
  await removeLeftSubmissions({ database, stopping }).catch((error: unknown) => onError(error, ''))
  const { start } = within(removalsKey)
  const work: RemovalWork = { database, nowMs, stopping, keepsLinks: true, keepsUntold: true }
  for await (const { key } of database.kv.range({ start, end: pack([...removalsKey, nowMs + 1]) })) {
    if (stopping()) return
    const [, , , organization, project] = unpack(key)
    const organizationId = String(organization)
    const projectId = project === undefined ? undefined : String(project)
    try {
      await settled(organizationId, projectId)
      if (projectId !== undefined) await endFindings(options, organizationId, (finding) => finding.projectId === projectId)
      const isDone =
        projectId === undefined
          ? await removeOrganization({ ...work, keepsLinks: false, keepsUntold: false }, organizationId)
          : await removeProject(work, organizationId, projectId)
      if (!isDone) continue
      const change = new Change()
      change.deletes.push(key)
      await database.commit(change)
    } catch (error) {
      onError(error, projectId ?? organizationId)
    }
  }
  await endInGrace(options, nowMs, stopping)
}

/** Ends the findings of organizations in their grace period, also those of checks that ran during the deletion. */
async function endInGrace(options: RemovalOptions, nowMs: number, stopping: () => boolean): Promise<void> {
  const { database, onError } = options
  for await (const { key } of database.kv.range({ start: pack([...removalsKey, nowMs + 1]), end: within(removalsKey).end })) {
    if (stopping()) return
    const [, , , organization, project] = unpack(key)
    if (project !== undefined) continue
    await endFindings(options, String(organization)).catch((error: unknown) => onError(error, String(organization)))
  }
}
