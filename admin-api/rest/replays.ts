/** Bulk replays: start or preview, list, read, stop. Spec "Bulk replay job". */
import * as z from 'zod'
import { answer } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { newReplayBody, replayShape, toReplayRequest, toWirePreview, toWireReplay } from '../wire/replay.ts'
import { id } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['replays']
const params = z.strictObject({ job_id: id })

export const replayOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/replays',
    operationId: 'startReplay',
    summary: 'Send failed messages again',
    description:
      'Queues the messages that failed again, for those of their recipients who were not accepted. It runs in the background; read it to follow it. ' +
      'Plan and project budgets count each message as a send.',
    tags,
    right: 'api:send',
    status: 201,
    otherResponses: { 200: 'A dry run: how many messages the filter finds' },
    errors: ['not_found', 'conflict', 'feature_disabled'],
    body: newReplayBody,
    response: replayShape,
    examples: {
      body: { filter: { destination_id: 'dst_01935c0000007000800000000000000000', since: '2026-11-21T08:00:00Z' }, dry_run: true },
    },
    async handle({ scope, body }) {
      const request = toReplayRequest(body)
      if (!body.dry_run) return toWireReplay(await core.replays.create(scope, request))
      return answer(toWirePreview(await core.replays.preview(scope, request), request), { status: 200 })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/replays',
    operationId: 'listReplays',
    summary: 'List replays, the newest first',
    tags,
    right: 'api:read',
    description: 'With project those that reach this project alone. A page can hold fewer than asked for and still have a next one.',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(replayShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.replays.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireReplay), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/replays/{job_id}',
    operationId: 'readReplay',
    summary: 'Read a replay with its counters',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params,
    response: replayShape,
    handle: async ({ scope, params: { job_id } }) => toWireReplay(await core.replays.get(scope, job_id)),
  }),
  operation({
    method: 'POST',
    path: '/v1/replays/{job_id}/stop',
    operationId: 'stopReplay',
    summary: 'Stop a replay',
    description: 'No further message goes again; those that were queued are delivered. A replay that has ended stays as it is.',
    tags,
    right: 'api:send',
    errors: ['not_found'],
    params,
    response: replayShape,
    handle: async ({ scope, params: { job_id } }) => toWireReplay(await core.replays.stop(scope, job_id)),
  }),
]
