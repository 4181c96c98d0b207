/** Removes the data of a deleted organization after its grace period, in small writes; its record is removed last. */
import { Change } from '#store/change.ts'
import { recordKey } from '#store/record-kind.ts'
import { removeStates } from '../alerts/channel-state.ts'
import { apiKeys } from '../access/keys/api-key.ts'
import { keyUses } from '../access/keys/key-uses.ts'
import { pendingReadsKey } from '../capture/reading/pending-read.ts'
import { claims } from '../claims/claim.ts'
import { findings, keyBeside } from '../findings/finding.ts'
import { ingestSources } from '../ingest-sources/ingest-source.ts'
import { invitations } from '../people/members/invitation.ts'
import { members } from '../people/members/member.ts'
import { openReplayKey, replayJobs } from '../submission/replay/replay-job.ts'
import { organizationCounters } from '../tenancy/counters.ts'
import { organizations, projects } from '../tenancy/organization.ts'
import { removableFrom } from '../tenancy/removal-key.ts'
import { removeActs, removeCounters, removeProject, removeRange, removeRecords, type RemovalWork } from './remove-project.ts'

/** Returns false if it was stopped early, or if the organization was restored. */
export async function removeOrganization(work: RemovalWork, organizationId: string): Promise<boolean> {
  const { database, nowMs, stopping } = work
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (stored) {
    if (removableFrom(stored.record) === undefined) return false
    for (const { record } of await database.all(projects, { organizationId }))
      if (!(await removeProject(work, organizationId, record.id))) return false
    await removeRecords(work, apiKeys, organizationId, () => true)
    await removeRecords(work, keyUses, organizationId, () => true)
    await removeRecords(work, claims, organizationId, () => true)
    await removeRecords(work, ingestSources, organizationId, () => true)
    await removeRecords(
      work,
      findings,
      organizationId,
      () => true,
      (finding) => [keyBeside(organizationId, finding)],
    )
    await removeStates(work, organizationId)
    await removeRecords(work, members, organizationId, () => true)
    await removeRecords(work, invitations, organizationId, () => true)
    await removeRecords(
      work,
      replayJobs,
      organizationId,
      () => true,
      ({ id }) => [openReplayKey(organizationId, id)],
    )
    await removeActs(work, organizationId, () => true)
    await removeCounters(work, organizationCounters(organizationId, stored.record.createdAt, nowMs))
    await removeRange(work, pendingReadsKey(organizationId))
    await removeRange(work, [organizationId], recordKey(organizations, organizationId, organizationId))
    if (stopping()) return false
    if (!(await database.commit(new Change().remove(organizations, organizationId, stored))).ok) return false
  }
  // a roll-up adds rows while the record of the organization exists
  await removeRange(work, [organizationId])
  return !stopping()
}
