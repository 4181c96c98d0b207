/** The audit log of the organization. */
import * as z from 'zod'
import { actorKinds } from '#core/audit.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, line } from '../wire/text.ts'
import { timeInput, toWireTime, wireTime } from '../wire/time.ts'
import { projectFilter, type RestCore } from './core.ts'

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
    description:
      'A key bound to one project sees what was about that project. Acts on what belongs to the whole organization have no project. ' +
      'A page can hold fewer than asked for and still have a next one.',
    tags: ['audit'],
    right: 'api:admin',
    errors: ['not_found'],
    query: z.strictObject({
      ...pagingFields,
      actor: id.optional().meta({ description: 'Id of the key that acted.' }),
      act: line(64, 'A noun such as destination, or one act such as destination.created.').optional(),
      target: id.optional().meta({ description: 'Id of what was acted on.' }),
      since: timeInput.optional().meta({ description: 'From this time on.' }),
      until: timeInput.optional().meta({ description: 'Before this time.' }),
    }),
    response: pageOf(entryShape),
    async handle({ scope, query: { project, ...filter } }) {
      const projectId = await projectFilter(core, scope, project)
      const { rows, nextCursor } = await core.audit.list(scope, { ...filter, projectId })
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
