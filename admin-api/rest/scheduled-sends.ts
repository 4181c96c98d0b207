/** Scheduled sends: list and cancel. Spec "Scheduled send", "DELETE /v1/messages/scheduled/<trace_id>". */
import * as z from 'zod'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { scheduledSendShape, toWireScheduledSend } from '../wire/scheduled-send.ts'
import type { RestCore } from './core.ts'

const tags = ['messages']
/** A UUID, in any case (RFC 9562 §4). */
const params = z.strictObject({ trace_id: z.string().min(1).max(64).toLowerCase() })

export const scheduledSendOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/messages/scheduled',
    operationId: 'listScheduledSends',
    summary: 'List scheduled sends that wait or were canceled, the earliest first',
    description: 'What has begun to leave is no longer here; its trace tells what became of it.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({
      ...pagingFields,
      status: z.enum(['queued', 'canceled']).optional().meta({ description: 'Both unless told.' }),
    }),
    response: pageOf(scheduledSendShape),
    async handle({ scope, query: { limit, cursor, project, status } }) {
      const page = await core.scheduledSends.list(scope, { status, projectId: project, limit, cursor })
      return { data: page.rows.map(toWireScheduledSend), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/messages/scheduled/{trace_id}',
    operationId: 'cancelScheduledSend',
    summary: 'Cancel a scheduled send',
    description:
      'Answers the canceled send, also when it was canceled before; from then on nothing of it leaves. 409 when it has begun to leave.',
    tags,
    right: 'api:send',
    errors: ['not_found', 'conflict'],
    params,
    response: scheduledSendShape,
    handle: async ({ scope, params: { trace_id } }) => toWireScheduledSend(await core.scheduledSends.cancel(scope, trace_id)),
  }),
]
