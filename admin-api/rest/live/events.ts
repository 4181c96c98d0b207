/** Server-Sent Events that say which lists have changed. */
import * as z from 'zod'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { project } from '../../wire/fields/paging.ts'
import type { RestCore } from '../rest-core.ts'

const contentType = 'text/event-stream'

export const liveOperations: readonly Operation<RestCore>[] = [
  // an operation, as its answer is a stream
  operation({
    method: 'GET',
    path: '/v1/events',
    operationId: 'streamEvents',
    summary: 'Stream which lists have changed',
    description:
      'Server-Sent Events. `change` names a `list` (`traces`, `captures`, `webhook_deliveries`, `suppressions`, `forms`, `form_submissions`), its `project_id` and how many ' +
      'entries were `added`, 0 where entries changed: read the list again. Nothing is kept: after an interruption (`Last-Event-ID`) the first event is `reset` in place of ' +
      '`open`, for which every list is to be read again. A comment comes every 15 seconds. The stream ends with the access of the caller and when the service stops. ' +
      'At most 10 may be open for each caller.',
    tags: ['events'],
    scope: 'api:read',
    errors: ['not_found', 'rate_limit_exceeded'],
    query: z.strictObject({ project }),
    response: media(contentType),
    async handle({ core, principal, query, headers, headOnly, authenticateAgain }) {
      const options = { contentType, headers: { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' } }
      if (headOnly) return raw('', options)
      const lastEventId = headers['last-event-id']
      const stream = await core.changeStreams.open(principal, {
        projectId: query.project,
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        stillAllowed: authenticateAgain,
      })
      return raw(stream, options)
    },
  }),
]
