/** The delivery queue on the wire: queued messages and queue actions. */
import * as z from 'zod'
import { queueActs } from '#core/trace/acts/act-record.ts'
import { queueActStatuses, type CountedAct, type QueueFilter } from '#core/delivery/acts/queue-act.ts'
import type { ActPreview } from '#core/delivery/acts/queue-acts.ts'
import type { QueueCounts } from '#core/delivery/acts/queue-counts.ts'
import { queueStates, type QueuedMessage } from '#core/delivery/acts/queued-message.ts'
import { encoder } from '../fields/codec.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { withBooleanForm, withTextForm } from '../fields/text-form.ts'
import { orNull, timeInput, wireTime } from '../fields/time.ts'
import { traceId } from './trace.ts'

export const toDomainField = line(255, 'Domain of a recipient that is still queued.')
  .regex(/^[^@*\s]+\.[^@*\s]+$/, 'must be a domain such as example.com')
  .toLowerCase()
export const fromField = line(320, 'The From field or MAIL FROM: an exact address, or `@example.com` for every address of a domain.').regex(
  /^[^*]*$/,
  'must be an address such as shop@example.ch, or @example.ch for every address of the domain',
)
const attempts = z.int().min(0).max(1000)
const minAttempts = attempts.optional().meta({ description: 'Minimum number of delivery attempts.' })

const conditions = {
  held_by: id.optional().meta({ description: 'Id of a queue action or of a standing hold: selects only messages that it holds.' }),
  destination_id: id.optional(),
  to_domain: toDomainField.optional(),
  from: fromField.optional(),
  accepted_after: timeInput.optional().meta({ description: 'Accepted at or after this time.' }),
  accepted_before: timeInput.optional().meta({ description: 'Accepted before this time. Defaults to now.' }),
}

const queueFilter = z
  .strictObject({
    project_id: id.optional(),
    ...conditions,
    min_attempts: minAttempts,
    trace_ids: z.array(traceId).min(1).max(100).optional().meta({ description: 'Only these messages.' }),
  })
  .meta({ description: 'Selects messages in the queue; all fields must match. An empty object selects all.' })

/** The conditions as query fields of a list. */
export const queueQuery = {
  ...{ project: id.optional(), ...conditions },
  min_attempts: withTextForm(
    minAttempts,
    z
      .string()
      .regex(/^\d{1,4}$/, 'must be a whole number')
      .transform(Number)
      .optional(),
  ),
  held: withBooleanForm(z.boolean().optional().meta({ description: 'true: only held messages. false: only messages that are not held.' })),
}

export const newQueueAct = z.strictObject({
  act: z.enum(queueActs).meta({
    description:
      'hold: no further attempt begins. release: ends the hold; the message is due again. expedite: makes a pending retry due ' +
      'now. drop: cancels delivery; recipients that already received the message are not affected.',
  }),
  filter: queueFilter,
  reason: filledLine(500, 'Reason; recorded in the trace of each message and in the audit log.').optional(),
  dry_run: z.boolean().default(false).meta({ description: 'Only counts the messages that match the filter.' }),
  expected: z.int().min(0).optional().meta({
    description: 'The number of matching messages from a dry run; required without dry_run. If more messages match, nothing is changed.',
  }),
})

const filterShape = z.object({
  project_id: z.string().nullable(),
  destination_id: z.string().nullable(),
  to_domain: z.string().nullable(),
  from: z.string().nullable(),
  accepted_after: wireTime.nullable(),
  accepted_before: wireTime.nullable(),
  min_attempts: z.int().nullable(),
  trace_ids: z.array(z.string()).nullable(),
  held_by: z.string().nullable(),
})
const filterOf = encoder(filterShape).from<Partial<QueueFilter> & { readonly [Name in keyof Required<QueueFilter>]: QueueFilter[Name] }>()

const count = z.int().meta({ description: 'Number of messages, including held messages.' })
const heldCount = z.int().meta({ description: 'Number of held messages among them.' })
const lanesShape = z.array(z.object({ destination_id: z.string(), project_id: z.string(), count, held: heldCount }))

/** Size of the queue. */
export const queueCounts = encoder(
  z
    .object({
      count,
      held: heldCount,
      complete: z.boolean().meta({ description: 'false if the queue exceeds the counting limit; the numbers are then minimums.' }),
      lanes: lanesShape.meta({ description: 'The counts by destination and project.' }),
      waiting_since: wireTime.nullable().meta({
        description: 'Time when the first attempt of the oldest message that is not held was due; null if there is no such message.',
      }),
    })
    .meta({ id: 'QueueCounts' }),
)
  .from<QueueCounts & { readonly count: number; readonly waiting_since: string | null }>()
  .via((counts: QueueCounts) => ({ ...counts, count: counts.matched, waiting_since: orNull(counts.waitingSince) }))

const actShape = z
  .object({
    id: z.string().nullable().meta({ description: 'null for a dry run, which is not stored.' }),
    act: z.enum(queueActs),
    status: z.enum(['preview', ...queueActStatuses]),
    stopped_because: z.string().nullable(),
    filter: filterShape,
    reason: z.string().nullable(),
    matched: z.int().nullable().meta({ description: 'Messages that match the filter; counted by a dry run only.' }),
    complete: z.boolean().meta({
      description:
        'false if the queue exceeds the number of messages processed at a time. The action then stops early; repeat the request ' +
        'for the remaining messages.',
    }),
    lanes: lanesShape.nullable().meta({ description: 'For a dry run: the counts by destination and project.' }),
    expected: z.int().nullable(),
    counters: z.object({ acted: z.int(), in_flight: z.int(), skipped: z.int() }).meta({
      description:
        'acted: done, or done when the current attempt ends (in_flight of them). skipped: the action does not apply, such as a ' +
        'hold on a held message, or an expedite after an attempt that ended without a reply.',
    }),
    requested_by: z.string().nullable().meta({ description: 'Id of the API key or user; `operator` for the operator.' }),
    created_at: wireTime.nullable(),
    updated_at: wireTime.nullable(),
  })
  .meta({ id: 'QueueAct' })

const nothingYet = { acted: 0, inFlight: 0, skipped: 0 }
const noFilter = {
  ...{ projectId: undefined, destinationId: undefined, toDomain: undefined, from: undefined },
  ...{ acceptedAfter: undefined, acceptedBefore: undefined, minAttempts: undefined, traceIds: undefined, heldBy: undefined },
}

const actOf = (made: CountedAct | ActPreview) => ({
  ...('matched' in made
    ? { ...made, id: null, status: 'preview' as const, stoppedBecause: null, expected: null, counters: nothingYet }
    : { ...made, matched: null, complete: made.until === undefined, lanes: null }),
  ...('matched' in made
    ? { requestedBy: null, createdAt: null, updatedAt: null }
    : { requestedBy: made.by.id === '' ? made.by.kind : made.by.id, createdAt: made.createdAt, updatedAt: made.updatedAt }),
})

/** A queue action, or the preview of a dry run. */
export const queueAct = encoder(actShape)
  .from<ReturnType<typeof actOf>>({ filter: ({ filter }) => filterOf.encode({ ...noFilter, ...filter }) })
  .via(actOf)

const waitingShape = z
  .object({
    trace_id: z.string(),
    destination_id: z.string(),
    project_id: z.string(),
    state: z.enum(queueStates).meta({
      description:
        'due: ready for an attempt. attempting: an attempt is in progress, or was in progress when the process ended. retry: has ' +
        'a later attempt. scheduled: has a future send_at. held: needs a release.',
    }),
    next_attempt_at: wireTime.nullable(),
    attempts: z.int(),
    from: z.string(),
    to: z.array(z.string()).meta({ description: 'Recipients that are still queued.' }),
    last_reply: z.string().nullable().meta({ description: 'The latest reply of the server about one of these recipients.' }),
    held: z.object({ at: wireTime, by: z.string(), reason: z.string().nullable() }).nullable().meta({
      description: 'The hold. With the state attempting, it takes effect when the attempt ends.',
    }),
    created_at: wireTime,
  })
  .meta({ id: 'QueuedMessage' })

export const queuedMessage = encoder(waitingShape).from<QueuedMessage>()
