/** The audit log of the organization. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { auditEntry, auditFilter } from '../../wire/organization/audit-entry.ts'
import { project } from '../../wire/fields/paging.ts'
import type { RestCore } from '../rest-core.ts'

const entries = resource('/v1/audit', { name: 'AuditEntry', plural: 'AuditEntries', tags: ['audit'] })

export const auditActions: readonly Action<RestCore>[] = [
  entries.list({
    summary: 'List audit log entries, newest first',
    description:
      'Each entry states the actor, the change and the time. A key bound to one project sees the entries of that project. ' +
      'Entries about organization-wide resources have no project. A page can contain fewer entries than `limit`, even zero, and ' +
      'still have a next page.',
    scope: 'api:admin',
    filter: { project, ...auditFilter },
    item: auditEntry,
    run: ({ core, principal }, page) => core.auditLog.list(principal, page),
  }),
]
