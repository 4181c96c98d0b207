/** Creates a project and its catch-all inbox in one write. Spec "Virtual inbox". */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { inboxes } from '../capture/capture.ts'
import { projects, type Project } from '../tenancy/organization.ts'

type Given = Pick<Project, 'name' | 'isDefault'> & Partial<Project>

/** Adds the project to the write; omitted fields have the defaults of a new project. */
export function insertProject(database: Database, change: Change, organizationId: string, given: Given, nowMs: number): Project {
  const project: Project = {
    id: database.newId('prj', nowMs),
    status: 'claimed',
    noRoutePolicy: 'capture',
    sendBudget: null,
    monthlyCaptureCap: null,
    ...given,
    createdAt: nowMs,
  }
  const inbox = { id: database.newId('inb', nowMs), projectId: project.id, addressPattern: '*', name: 'Catch-all', createdAt: nowMs }
  change.insert(projects, organizationId, project).insert(inboxes, organizationId, inbox)
  return project
}
