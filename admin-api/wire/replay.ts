/** Bulk replays on the wire. Spec "Bulk replay job". */
import * as z from 'zod'
import { replayStatuses, type ReplayFilter, type ReplayJob } from '#core/submission/replay-job.ts'
import type { ReplayPreview, ReplayRequest } from '#core/submission/replays.ts'
import { id, line } from './text.ts'
import { timeInput, toWireTime, wireTime } from './time.ts'

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

export const newReplayBody = z.strictObject({
  filter,
  target_destination_id: id.optional().meta({ description: 'Where they go; each to the destination that it had unless told.' }),
  include_unknown: z
    .boolean()
    .default(false)
    .meta({ description: 'Also to recipients whose last attempt ended without an answer, who may then get a second copy.' }),
  dry_run: z.boolean().default(false).meta({ description: 'Only count what the filter finds.' }),
})

export const replayShape = z
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

type WireReplay = z.input<typeof replayShape>

export const toReplayRequest = (body: z.output<typeof newReplayBody>): ReplayRequest => ({
  filter: {
    projectId: body.filter.project_id,
    destinationId: body.filter.destination_id,
    to: body.filter.to,
    from: body.filter.from,
    since: body.filter.since,
    until: body.filter.until,
  },
  targetDestinationId: body.target_destination_id,
  includeUnknown: body.include_unknown,
})

export const toWireReplay = (job: ReplayJob): WireReplay => ({
  job_id: job.id,
  status: job.status,
  stopped_because: job.stoppedBecause,
  matched: null,
  complete: null,
  counters: { ...job.counters },
  problems: job.problems.map(({ traceId, reason }) => ({ trace_id: traceId, reason })),
  filter: toWireFilter(job.filter),
  target_destination_id: job.targetDestinationId,
  include_unknown: job.includeUnknown,
  created_at: toWireTime(job.createdAt),
  updated_at: toWireTime(job.updatedAt),
})

export const toWirePreview = (preview: ReplayPreview, request: ReplayRequest): WireReplay => ({
  job_id: null,
  status: 'preview',
  stopped_because: null,
  matched: preview.matched,
  complete: preview.complete,
  counters: { examined: 0, replayed: 0, skipped: 0, refused: 0 },
  problems: [],
  filter: toWireFilter(preview.filter),
  target_destination_id: request.targetDestinationId ?? null,
  include_unknown: request.includeUnknown,
  created_at: null,
  updated_at: null,
})

const toWireFilter = ({ projectId, destinationId, to, from, since, until }: ReplayFilter): WireReplay['filter'] => ({
  project_id: projectId ?? null,
  destination_id: destinationId ?? null,
  to: to ?? null,
  from: from ?? null,
  since: since === undefined ? null : toWireTime(since),
  until: toWireTime(until),
})
