/** The audit log of the organization. */
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { auditEntry, auditFilter } from '../wire/audit.ts'
import { project } from '../wire/paging.ts'
import type { RestCore } from './core.ts'

const entries = resource('/v1/audit', { name: 'AuditEntry', plural: 'AuditEntries', tags: ['audit'] })

export const auditActions = ({ auditLog }: RestCore): readonly Action[] => [
  entries.list({
    summary: 'List who changed what, the newest first',
    description:
      'A key bound to one project sees what was about that project. Acts on what belongs to the whole organization have no project. ' +
      'A page can hold fewer than asked for and still have a next one.',
    scope: 'api:admin',
    filter: { project, ...auditFilter },
    item: auditEntry,
    run: ({ principal }, page) => auditLog.list(principal, page),
  }),
]
