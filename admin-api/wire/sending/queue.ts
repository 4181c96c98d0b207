/** The delivery queue on the wire: what waits, and acts on it. */
import * as z from 'zod'
import { queueActs } from '#core/trace/acts/act-record.ts'
import { queueActStatuses, type CountedAct, type QueueFilter } from '#core/delivery/acts/queue-act.ts'
import type { ActPreview } from '#core/delivery/acts/queue-acts.ts'
import type { QueueCounts } from '#core/delivery/acts/queue-counts.ts'
import { queueStates, type QueuedMessage } from '#core/delivery/acts/queued-message.ts'
import { encoder } from '../fields/codec.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { withTextForm } from '../fields/text-form.ts'
import { orNull, timeInput, wireTime } from '../fields/time.ts'
import { traceId } from './trace.ts'

export const toDomainField = line(255, 'Domain of a recipient that still waits.')
  .regex(/^[^@*\s]+\.[^@*\s]+$/, 'must be a domain such as example.com')
  .toLowerCase()
export const fromField = line(320, 'The From field or MAIL FROM: an exact address, or `@example.com` for every address of a domain.').regex(
  /^[^*]*$/,
  'must be an address such as shop@example.ch, or @example.ch for every address of the domain',
)
const attempts = z.int().min(0).max(1000)
const attemptsMeta = { description: 'At least this many delivery attempts were made.' }
const minAttempts = attempts.optional().meta(attemptsMeta)

const conditions = {
  held_by: id.optional().meta({ description: 'Id of an act or of a standing hold: only what that one holds.' }),
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

const heldMeta = { description: 'true: only messages that are held. false: only those that are not.' }

/** The same in the query of a list. */
export const queueQuery = {
  ...{ project: id.optional(), ...conditions },
  min_attempts: withTextForm(
    minAttempts,
    z
      .string()
      .regex(/^\d{1,4}$/, 'must be a whole number')
      .transform(Number)
      .optional()
      .meta(attemptsMeta),
  ),
  held: withTextForm(
    z.boolean().optional().meta(heldMeta),
    z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional()
      .meta(heldMeta),
  ),
}

export const newQueueAct = z.strictObject({
  act: z.enum(queueActs).meta({
    description:
      'hold: no further attempt begins. release: what is held is due again. expedite: a retry that waits is due now. ' +
      'drop: the message is not delivered any more; recipients that have it are not affected.',
  }),
  filter: queueFilter,
  reason: filledLine(500, 'Why; recorded in the trace of each message and in the audit log.').optional(),
  dry_run: z.boolean().default(false).meta({ description: 'Only counts the messages that match the filter.' }),
  expected: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The number that a dry run counted; required without dry_run. When more messages match, nothing is done.' }),
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

const count = z.int().meta({ description: 'Messages, held ones too.' })
const heldCount = z.int().meta({ description: 'Of these, those that are held.' })
const lanesShape = z.array(z.object({ destination_id: z.string(), project_id: z.string(), count, held: heldCount }))

/** How much waits. */
export const queueCounts = encoder(
  z
    .object({
      count,
      held: heldCount,
      complete: z.boolean().meta({ description: 'false when the queue is longer than is counted; the numbers are the least there is.' }),
      lanes: lanesShape.meta({ description: 'The same by destination and project.' }),
      waiting_since: wireTime.nullable().meta({
        description: 'When the first attempt was due of the message that waits longest and is not held; null when none waits.',
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
      description: 'false when the queue is longer than is counted at a time: the act ends before its end; ask again for the rest.',
    }),
    lanes: lanesShape.nullable().meta({ description: 'For a dry run: the same by destination and project.' }),
    expected: z.int().nullable(),
    counters: z.object({ acted: z.int(), in_flight: z.int(), skipped: z.int() }).meta({
      description:
        'acted: done, or done as soon as the attempt under way ends (in_flight of them). skipped: it does not apply, such as to a message ' +
        'that is held already, or to an expedite where an attempt has ended without an answer.',
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

/** An act, or what one would find. */
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
        'due: waits for its turn. attempting: an attempt is under way, or was when the process ended. retry: waits for its next attempt. ' +
        'scheduled: waits for its send_at. held: waits to be released.',
    }),
    next_attempt_at: wireTime.nullable(),
    attempts: z.int(),
    from: z.string(),
    to: z.array(z.string()).meta({ description: 'Recipients that still wait.' }),
    last_reply: z.string().nullable().meta({ description: 'What the server said last about one of them.' }),
    held: z.object({ at: wireTime, by: z.string(), reason: z.string().nullable() }).nullable().meta({
      description: 'The hold. With the state attempting, it takes effect when the attempt ends.',
    }),
    created_at: wireTime,
  })
  .meta({ id: 'QueuedMessage' })

export const queuedMessage = encoder(waitingShape).from<QueuedMessage>()
