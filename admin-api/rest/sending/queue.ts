/** The delivery queue: what waits, and holding, releasing, expediting and dropping it by a filter. */
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

export const queueListWords = {
  summary: 'List messages in the delivery queue',
  description:
    'In the order of the queue: by destination and project, then by the time of the next attempt. Messages that will be captured, or wait ' +
    'for an approval, are not in it. A page can contain fewer messages than `limit`, even none, and still have a next one.',
  filter: queueQuery,
  item: queuedMessage,
}

export const queueCountWords = {
  summary: 'Count the messages in the delivery queue',
  description: 'By destination and project, of the messages that the same filter lists.',
  input: z.strictObject(queueQuery),
  output: queueCounts,
}

export const queueActWords = {
  summary: 'Hold, release, expedite or drop messages in the queue',
  description:
    'First with `dry_run`, which counts the messages and returns the filter bounded to those that are accepted by now; then with that ' +
    'filter and the number as `expected`. The act runs in the background; get it to follow its progress.',
}

export const queueHoldWords = {
  summary: 'Hold messages in the queue, and those to come',
  description:
    'Messages that match are held, and those that are accepted later, whenever their turn comes, until the hold is released. One that is ' +
    'released by hand meanwhile is let through.',
  errors: ['not_found', 'conflict'],
  input: newQueueHold,
  output: queueHold,
} as const

export const queueHoldReleaseWords = {
  summary: 'Lift a standing hold and release what it held',
  description: 'New messages are not held any more. The answer is the act that releases those that were.',
  errors: ['not_found', 'insufficient_scope', 'conflict'],
  output: queueAct,
} as const

export const dryRun = 'A dry run: the number of messages that match the filter'
export const statusOfAct = (made: object): number | undefined => ('matched' in made ? 200 : undefined)

export const queueActions: readonly Action<RestCore>[] = [
  queue.list({
    ...queueListWords,
    run: ({ core, principal }, { held, ...page }) => core.queueActs.waiting(principal, { ...page, isHeld: held }),
  }),
  action({
    ...queueCountWords,
    ...{ id: 'countQueue', tags, scope: 'api:read', errors: ['not_found'] },
    http: { method: 'GET', path: '/v1/queue/counts' },
    graphql: { field: 'queueCounts', root: 'query' },
    run: ({ core, principal }, { project, held, ...filter }) =>
      core.queueActs.counts(principal, { ...filter, projectId: project, isHeld: held }),
  }),
  acts.create({
    ...queueActWords,
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
    summary: 'List acts on the queue, newest first',
    item: queueAct,
    run: ({ core, principal }, page) => core.queueActs.list(principal, page),
  }),
  acts.read({
    summary: 'Get an act on the queue with its counters',
    output: queueAct,
    run: ({ core, principal }, { id }) => core.queueActs.get(principal, id),
  }),
  acts.act('stop', {
    summary: 'Stop an act on the queue',
    description: 'No further message is acted on; what was done stays. An act that has ended is not changed.',
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
    ...queueHoldWords,
    examples: { input: { filter: { destination_id: 'dst_01935c0000007000800000000000000000' }, reason: 'provider incident' } },
    run: ({ core, principal }, asked) => core.queueHolds.create({ principal }, asked),
  }),
  holds.act('release', { ...queueHoldReleaseWords, run: ({ core, principal }, { id }) => core.queueHolds.release({ principal }, id) }),
]

/** A dry run, or the act. Throws `validation_failed` without the number of a dry run. */
export function makeAct(
  queueActs: QueueActs,
  requester: ActRequester,
  { dryRun: isDryRun, expected, ...request }: Decoded<typeof newQueueAct>,
) {
  if (isDryRun) return queueActs.preview(requester, request)
  if (expected === undefined) throw invalid([{ path: 'expected', message: 'is required: give the number that a dry run counted' }])
  return queueActs.create(requester, { ...request, expected })
}
