/** Restores a deleted organization within its grace period, for the operator of the service. */
import type { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import { organizations, type Organization } from '../tenancy/organization.ts'
import { graceDays, organizationRemovalKey, removableFrom } from '../tenancy/removal-key.ts'

export interface RestoreOptions extends Pick<Core, 'database' | 'writes' | 'clock' | 'audit'> {
  /** Adds to the write of the restoration, which resumes alerts. */
  readonly onAlertsSwitched: (change: Change, organizationId: string) => Promise<void>
  /** Called after the write, so that findings open and end without mail. */
  readonly onRestored: (organizationId: string) => Promise<void>
}

/**
 * Restores everything except mail that came due in the meantime, which has failed. Returns an organization that is not deleted unchanged.
 * Throws `not_found`, and `conflict` after the grace period.
 */
export async function restoreOrganization(
  { database, writes, clock, audit, onAlertsSwitched, onRestored }: RestoreOptions,
  id: string,
): Promise<Organization> {
  const restored = await writes.run(id, async (change) => {
    const stored = await database.get(organizations, { organizationId: id }, id)
    if (!stored) throw new Refusal('not_found', 'No organization has this id.')
    const { deletedAt: _, removableAt, ...record } = stored.record
    const goesAt = removableFrom(stored.record)
    if (goesAt === undefined) return record
    if (removableAt !== undefined || clock.now() >= goesAt)
      throw new Refusal('conflict', `The organization was deleted at least ${graceDays} days ago; its data is being removed.`)
    change.replace(organizations, id, stored, record).delete(organizationRemovalKey(goesAt, id))
    await onAlertsSwitched(change, id)
    const actor = { kind: 'operator', id: '' } as const
    audit.record(change, { organizationId: id, actor, act: 'organization.restored', target: id, details: { name: record.name } })
    return record
  })
  await onRestored(id)
  return restored
}
