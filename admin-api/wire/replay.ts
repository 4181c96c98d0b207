/** Bulk replays on the wire. Spec "Bulk replay job". */
import * as z from 'zod'
import { replayStatuses, type ReplayJob } from '#core/submission/replay/replay-job.ts'
import type { ReplayPreview, ReplayRequest } from '#core/submission/replay/replays.ts'
import { encoder } from './codec.ts'
import { id, line } from './text.ts'
import { timeInput, wireTime } from './time.ts'

const filter = z
  .strictObject({
    project_id: id.optional(),
    destination_id: id.optional().meta({ description: 'The destination that the messages had.' }),
    to: line(320, 'Exactly this recipient.').optional(),
    from: line(320, 'Exactly this From or MAIL FROM.').optional(),
    since: timeInput.optional().meta({ description: 'Accepted at this time or later.' }),
    until: timeInput.optional().meta({ description: 'Accepted before this time; now unless told.' }),
  })
  .meta({ description: 'Which failed messages are meant; each field narrows. An empty object means all of them.' })

export const newReplay = z.strictObject({
  filter,
  target_destination_id: id.optional().meta({ description: 'Where they go; each to the destination that it had unless told.' }),
  include_unknown: z
    .boolean()
    .default(false)
    .meta({ description: 'Also to recipients whose last attempt ended without an answer, who may then get a second copy.' }),
  dry_run: z.boolean().default(false).meta({ description: 'Only count what the filter finds.' }),
})

const replayShape = z
  .object({
    job_id: z.string().nullable().meta({ description: 'null for a dry run, which leaves nothing behind.' }),
    status: z.enum(['preview', ...replayStatuses]),
    stopped_because: z.string().nullable(),
    matched: z.int().nullable().meta({ description: 'Failed messages that the filter finds; counted by a dry run only.' }),
    complete: z.boolean().nullable().meta({ description: 'Of a dry run: false when there are more than it counts.' }),
    counters: z
      .object({ examined: z.int(), replayed: z.int(), skipped: z.int(), refused: z.int() })
      .meta({ description: 'skipped: nobody was left to send to; refused: see problems.' }),
    problems: z.array(z.object({ trace_id: z.string(), reason: z.string() })).meta({ description: 'The latest fifty.' }),
    filter: z.object({
      project_id: z.string().nullable(),
      destination_id: z.string().nullable(),
      to: z.string().nullable(),
      from: z.string().nullable(),
      since: wireTime.nullable(),
      until: wireTime,
    }),
    target_destination_id: z.string().nullable(),
    include_unknown: z.boolean(),
    created_at: wireTime.nullable(),
    updated_at: wireTime.nullable(),
  })
  .meta({ id: 'Replay' })

/** What a dry run found, with what it was asked for. */
type Preview = Omit<ReplayRequest, 'filter'> & ReplayPreview

const none = { examined: 0, replayed: 0, skipped: 0, refused: 0 }
const nothingMade = {
  jobId: null,
  status: 'preview' as const,
  stoppedBecause: null,
  counters: none,
  problems: [],
  createdAt: null,
  updatedAt: null,
}

const replayOf = (made: ReplayJob | Preview) =>
  'id' in made ? { ...made, jobId: made.id, matched: null, complete: null } : { targetDestinationId: undefined, ...made, ...nothingMade }

/** A job, or the preview of one. */
export const replay = encoder(replayShape).from<ReturnType<typeof replayOf>>().via(replayOf)
