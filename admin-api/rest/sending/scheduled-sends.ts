/** Scheduled sends: list, cancel, reschedule, send now. Spec "Scheduled send", "DELETE /v1/messages/scheduled/<trace_id>". */
import * as z from 'zod'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { project } from '../../wire/fields/paging.ts'
import { scheduledSend, sendTime } from '../../wire/sending/scheduled-send.ts'
import { traceId } from '../../wire/sending/trace.ts'
import type { RestCore } from '../rest-core.ts'
import { outsideSummaryFields } from './traces.ts'

const sends = resource('/v1/messages/scheduled', {
  name: 'ScheduledSend',
  tags: ['messages'],
  graphql: true,
  key: 'trace_id',
  keySchema: traceId,
})

const status = z.enum(['queued', 'canceled']).optional().meta({ description: 'Defaults to both.' })

export const scheduledSendActions: readonly Action<RestCore>[] = [
  sends.list({
    summary: 'List scheduled sends, earliest first',
    description: 'Lists queued and canceled sends. A send whose delivery has started is no longer listed; its trace has the outcome.',
    filter: { project, status },
    item: scheduledSend,
    tool: {
      name: 'email_scheduled_list',
      toolset: 'scheduled',
      description:
        'List sends that wait for their send_at, earliest first, and canceled sends. Find sent messages with ' +
        'email_traces_search. Next: email_scheduled_cancel(trace_id) to cancel one.',
      arguments: ['status', 'limit'],
      untrusted: outsideSummaryFields,
    },
    run: ({ core, principal }, page) => core.scheduledSends.list(principal, page),
  }),
  sends.change({
    id: 'rescheduleSend',
    summary: 'Reschedule a scheduled send',
    description:
      'Sets a new time of delivery, at most 3 days ahead. Refused with 409 if the send is canceled or waits for approval, or its ' +
      'delivery has started.',
    scope: 'api:send',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    input: z.strictObject({ send_at: sendTime.meta({ description: 'The new time of delivery (RFC 3339), at most 3 days ahead.' }) }),
    output: scheduledSend,
    run: ({ core, principal }, { traceId: named, sendAt }) => core.scheduledSends.reschedule(principal, named, sendAt),
  }),
  sends.act('send-now', {
    id: 'sendScheduledNow',
    summary: 'Send a scheduled send now',
    description:
      'The message is sent or captured now instead of at its time. Idempotent. Refused with 409 if the send is canceled or waits ' +
      'for approval, or its delivery has started.',
    scope: 'api:send',
    errors: ['not_found', 'conflict'],
    output: scheduledSend,
    run: ({ core, principal }, { traceId: named }) => core.scheduledSends.sendNow(principal, named),
  }),
  sends.remove({
    id: 'cancelScheduledSend',
    summary: 'Cancel a scheduled send',
    description: 'Idempotent: also returns a send that was already canceled. Refused with 409 if its delivery has started.',
    scope: 'api:send',
    output: scheduledSend,
    tool: {
      name: 'email_scheduled_cancel',
      toolset: 'scheduled',
      description:
        'Cancel a scheduled send; refused with conflict after its delivery has started. Find trace ids with ' +
        'email_scheduled_list. A canceled send is not sent later.',
      untrusted: outsideSummaryFields,
      hints: { destructive: true, idempotent: true },
    },
    run: ({ core, principal }, { traceId: named }) => core.scheduledSends.cancel(principal, named),
  }),
]
