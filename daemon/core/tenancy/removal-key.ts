/** Deleted projects and organizations whose rows are still to be removed, as rows by the time from which they may go. */
import { globalKey } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import type { Organization } from './organization.ts'

/** Days after which a deleted organization cannot be restored any more. */
export const graceDays = 30
export const graceMs = graceDays * 86_400_000

export const removalsKey = globalKey('removal')

/** The rows of a project. */
export const projectRemovalKey = (deletedAt: number, organizationId: string, projectId: string): readonly Element[] => [
  ...removalsKey,
  deletedAt,
  organizationId,
  projectId,
]

/** Everything of an organization. */
export const organizationRemovalKey = (removableAt: number, organizationId: string): readonly Element[] => [
  ...removalsKey,
  removableAt,
  organizationId,
]

/** From when on the rows of a deleted organization may go; undefined while it is not deleted. */
export const removableFrom = ({ deletedAt, removableAt }: Pick<Organization, 'deletedAt' | 'removableAt'>): number | undefined =>
  deletedAt === undefined ? undefined : (removableAt ?? deletedAt + graceMs)
