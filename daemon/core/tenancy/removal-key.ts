/** Rows of deleted projects and organizations whose data must be removed, by the earliest time of removal. */
import { globalKey } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import type { Organization } from './organization.ts'

/** Number of days during which a deleted organization can be restored. */
export const graceDays = 30
export const graceMs = graceDays * 86_400_000

export const removalsKey = globalKey('removal')

/** Row of a deleted project. */
export const projectRemovalKey = (deletedAt: number, organizationId: string, projectId: string): readonly Element[] => [
  ...removalsKey,
  deletedAt,
  organizationId,
  projectId,
]

/** Row of a deleted organization. */
export const organizationRemovalKey = (removableAt: number, organizationId: string): readonly Element[] => [
  ...removalsKey,
  removableAt,
  organizationId,
]

/** Returns the earliest time to remove the data of a deleted organization; undefined if it is not deleted. */
export const removableFrom = ({ deletedAt, removableAt }: Pick<Organization, 'deletedAt' | 'removableAt'>): number | undefined =>
  deletedAt === undefined ? undefined : (removableAt ?? deletedAt + graceMs)
