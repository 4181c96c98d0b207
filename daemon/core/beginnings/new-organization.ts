/** Creates an organization, its first project and the project's catch-all inbox in one write. */
import type { PlanName } from '#config/plans/plans.ts'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { insertProject } from './new-project.ts'
import { organizations, type Project } from '../tenancy/organization.ts'

export interface NewOrganization {
  readonly name: string
  readonly plan: PlanName
  /** Name and status of the project. */
  readonly project: Pick<Project, 'name' | 'status'>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Adds the organization and its first project to the write. */
export function addOrganization(
  database: Database,
  change: Change,
  { name, plan, project, now }: NewOrganization,
): { organizationId: string; projectId: string } {
  const organizationId = database.newId('org', now)
  const { id: projectId } = insertProject(database, change, organizationId, { ...project, isDefault: true }, now)
  change.insert(organizations, organizationId, { id: organizationId, name, plan, defaultProjectId: projectId, createdAt: now })
  return { organizationId, projectId }
}
