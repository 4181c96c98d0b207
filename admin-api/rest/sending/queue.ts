/** The delivery queue: list messages, and hold, release, expedite or drop them by a filter. */
import * as z from 'zod'
import { invalid } from '#core/refusals.ts'
import type { ActRequester, QueueActs } from '#core/delivery/acts/queue-acts.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import type { Decoded } from '../../wire/fields/codec.ts'
import { newQueueAct, queueAct, queueCounts, queuedMessage, queueQuery } from '../../wire/sending/queue.ts'
import { newQueueHold, queueHold } from '../../wire/sending/queue-holds.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['queue'] as const
const queue = resource('/v1/queue', { name: 'QueuedMessage', tags, graphql: true })
const acts = resource('/v1/queue/acts', { name: 'QueueAct', tags, graphql: true })
const holds = resource('/v1/queue/holds', { name: 'QueueHold', tags, graphql: true })

export const queueListTexts = {
  summary: 'List messages in the delivery queue',
  description:
    'Ordered by destination and project, then by the time of the next attempt. Excludes messages that will be captured and ' +
    'messages that wait for an approval. A page can contain fewer messages than `limit`, even zero, and still have a next page.',
  filter: queueQuery,
  item: queuedMessage,
}

export const queueCountTexts = {
  summary: 'Count the messages in the delivery queue',
  description: 'Counts by destination and project, with the same filter as the list.',
  input: z.strictObject(queueQuery),
  output: queueCounts,
}

export const queueActTexts = {
  summary: 'Hold, release, expedite or drop messages in the queue',
  description:
    'Start with `dry_run`, which counts the messages and returns the filter limited to messages accepted until now. Then send ' +
    'that filter with the number as `expected`. The action runs in the background; get it to follow its progress.',
}

export const queueHoldTexts = {
  summary: 'Hold current and future messages in the queue',
  description:
    'Holds matching messages in the queue, and matching messages accepted later, until the hold is released. A message released ' +
    'individually is delivered in spite of the hold.',
  errors: ['not_found', 'conflict'],
  input: newQueueHold,
  output: queueHold,
} as const

export const queueHoldReleaseTexts = {
  summary: 'Release a standing hold and its messages',
  description: 'New messages are no longer held. Returns the queue action that releases the held messages.',
  errors: ['not_found', 'insufficient_scope', 'conflict'],
  output: queueAct,
} as const

export const dryRun = 'A dry run: the number of messages that match the filter'
export const statusOfAct = (made: object): number | undefined => ('matched' in made ? 200 : undefined)

export const queueActions: readonly Action<RestCore>[] = [
  queue.list({
    ...queueListTexts,
    run: ({ core, principal }, { held, ...page }) => core.queueActs.waiting(principal, { ...page, isHeld: held }),
  }),
  action({
    ...queueCountTexts,
    ...{ id: 'countQueue', tags, scope: 'api:read', errors: ['not_found'] },
    http: { method: 'GET', path: '/v1/queue/counts' },
    graphql: { field: 'queueCounts', root: 'query' },
    run: ({ core, principal }, { project, held, ...filter }) =>
      core.queueActs.counts(principal, { ...filter, projectId: project, isHeld: held }),
  }),
  acts.create({
    ...queueActTexts,
    errors: ['not_found', 'conflict'],
    input: newQueueAct,
    output: queueAct,
    examples: {
      input: {
        act: 'hold',
        filter: { destination_id: 'dst_01935c0000007000800000000000000000' },
        reason: 'provider incident',
        dry_run: true,
      },
    },
    http: { otherResponses: { 200: dryRun }, statusOf: statusOfAct },
    run: ({ core, principal }, asked) => makeAct(core.queueActs, { principal }, asked),
  }),
  acts.list({
    summary: 'List queue actions, newest first',
    item: queueAct,
    run: ({ core, principal }, page) => core.queueActs.list(principal, page),
  }),
  acts.read({
    summary: 'Get a queue action with its counters',
    output: queueAct,
    run: ({ core, principal }, { id }) => core.queueActs.get(principal, id),
  }),
  acts.act('stop', {
    summary: 'Stop a queue action',
    description: 'No further message is changed; completed changes remain. A finished action does not change.',
    errors: ['not_found'],
    output: queueAct,
    run: ({ core, principal }, { id }) => core.queueActs.stop({ principal }, id),
  }),
  holds.list({
    summary: 'List standing holds of the queue, newest first',
    item: queueHold,
    run: ({ core, principal }, page) => core.queueHolds.list(principal, page),
  }),
  holds.create({
    ...queueHoldTexts,
    examples: { input: { filter: { destination_id: 'dst_01935c0000007000800000000000000000' }, reason: 'provider incident' } },
    run: ({ core, principal }, asked) => core.queueHolds.create({ principal }, asked),
  }),
  holds.act('release', { ...queueHoldReleaseTexts, run: ({ core, principal }, { id }) => core.queueHolds.release({ principal }, id) }),
]

/** Returns the preview of a dry run, or creates the queue action. Throws `validation_failed` if `expected` is missing. */
export function makeAct(
  queueActs: QueueActs,
  requester: ActRequester,
  { dryRun: isDryRun, expected, ...request }: Decoded<typeof newQueueAct>,
) {
  if (isDryRun) return queueActs.preview(requester, request)
  if (expected === undefined) throw invalid([{ path: 'expected', message: 'is required; give the number that a dry run counted' }])
  return queueActs.create(requester, { ...request, expected })
}
