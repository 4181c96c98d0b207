/** Server-Sent Events that name changed lists. */
import * as z from 'zod'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { project } from '../../wire/fields/paging.ts'
import type { RestCore } from '../rest-core.ts'

const contentType = 'text/event-stream'

export const liveOperations: readonly Operation<RestCore>[] = [
  // an operation rather than an action, since its response is a stream
  operation({
    method: 'GET',
    path: '/v1/events',
    operationId: 'streamEvents',
    summary: 'Stream changes of lists',
    description:
      'Server-Sent Events. `change` names a `list` (`traces`, `captures`, `webhook_deliveries`, `suppressions`, `forms`, ' +
      '`form_submissions`), its `project_id` and the number of entries `added`, 0 if entries changed: read the list again. ' +
      'Events are not stored: after an interruption (`Last-Event-ID`) the first event is `reset` instead of `open`, and the ' +
      'client must read every list again. A comment is sent every 15 seconds. The stream ends when the access of the caller ends ' +
      'and when the service stops. At most 10 streams may be open for each caller.',
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
