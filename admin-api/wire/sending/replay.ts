/** Bulk replays on the wire. Spec "Bulk replay job". */
import * as z from 'zod'
import { replayStatuses, type ReplayJob } from '#core/submission/replay/replay-job.ts'
import type { ReplayPreview, ReplayRequest } from '#core/submission/replay/replays.ts'
import { encoder } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const filter = z
  .strictObject({
    project_id: id.optional(),
    destination_id: id.optional().meta({ description: 'The destination of the messages.' }),
    to: line(320, 'Exact address of a recipient.').optional(),
    from: line(320, 'Exact address of the From field or MAIL FROM.').optional(),
    since: timeInput.optional().meta({ description: 'Accepted at or after this time.' }),
    until: timeInput.optional().meta({ description: 'Accepted before this time. Defaults to now.' }),
  })
  .meta({ description: 'Selects failed messages; all fields must match. An empty object selects all.' })

export const newReplay = z.strictObject({
  filter,
  target_destination_id: id
    .optional()
    .meta({ description: 'Destination of the replay. Defaults to the original destination of each message.' }),
  include_unknown: z
    .boolean()
    .default(false)
    .meta({ description: 'Also replays to recipients whose last attempt ended without a reply. They may receive a second copy.' }),
  dry_run: z.boolean().default(false).meta({ description: 'Only counts the messages that match the filter.' }),
})

const replayShape = z
  .object({
    job_id: z.string().nullable().meta({ description: 'null for a dry run, which is not stored.' }),
    status: z.enum(['preview', ...replayStatuses]),
    stopped_because: z.string().nullable(),
    matched: z.int().nullable().meta({ description: 'Failed messages that match the filter; counted by a dry run only.' }),
    complete: z.boolean().nullable().meta({ description: 'For a dry run: false when more messages match than it counts.' }),
    counters: z
      .object({ examined: z.int(), replayed: z.int(), skipped: z.int(), refused: z.int() })
      .meta({ description: 'skipped: no recipients remained; refused: see `problems`.' }),
    problems: z.array(z.object({ trace_id: z.string(), reason: z.string() })).meta({ description: 'The latest 50.' }),
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

/** The result of a dry run, with its request. */
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

/** A replay job, or the preview of a dry run. */
export const replay = encoder(replayShape).from<ReturnType<typeof replayOf>>().via(replayOf)
