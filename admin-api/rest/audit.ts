/** The audit log of the organization. */
import * as z from 'zod'
import { actorKinds } from '#core/audit.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { toWireTime, wireTime } from '../wire/time.ts'
import type { RestCore } from './core.ts'

const entryShape = z
  .object({
    id: z.string(),
    at: wireTime,
    actor: z.object({ kind: z.enum(actorKinds), id: z.string() }),
    act: z.string(),
    target: z.string(),
    project_id: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' })

export const auditOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/audit',
    operationId: 'listAudit',
    summary: 'List who changed what, the newest first',
    description: 'A key bound to one project sees what was about that project.',
    tags: ['audit'],
    right: 'api:admin',
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(entryShape),
    async handle({ scope, query }) {
      const { rows, nextCursor } = await core.audit.list(scope, query)
      const data = rows.map(({ projectId, at, details, ...entry }) => ({
        ...entry,
        at: toWireTime(at),
        project_id: projectId,
        details: { ...details },
      }))
      return { data, next_cursor: nextCursor ?? null }
    },
  }),
]
