/** A bulk replay: which failed messages go again, where to, and how far it has come. Spec "Bulk replay job". */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'

export const replayStatuses = ['running', 'stopped', 'finished'] as const

/** Which failed traces are meant; each condition narrows. Times in milliseconds since the epoch, `until` exclusive. */
export interface ReplayFilter {
  readonly projectId?: string | undefined
  readonly destinationId?: string | undefined
  readonly to?: string | undefined
  readonly from?: string | undefined
  readonly since?: number | undefined
  readonly until: number
}

/** The outcome of the traces that the filter found. */
export interface ReplayCounters {
  /** Failed traces that were looked at. */
  readonly examined: number
  /** Queued again, for at least one recipient. */
  readonly replayed: number
  /** Nothing was left to send: no recipient has failed, or the outcome of all is unknown. */
  readonly skipped: number
  /** Could not be sent again; `problems` states why. */
  readonly refused: number
}

export interface ReplayProblem {
  readonly traceId: string
  readonly reason: string
}

const count = z.int().min(0)

const schema = z.strictObject({
  id: z.string(),
  /** Who asked, as far as the job reaches: the project of the key, and whether the key is bound to it. */
  projectId: z.string(),
  bound: z.boolean(),
  requestedBy: z.string(),
  filter: z.strictObject({
    projectId: z.string().optional(),
    destinationId: z.string().optional(),
    to: z.string().optional(),
    from: z.string().optional(),
    since: z.int().optional(),
    until: z.int(),
  }),
  /** null: each message to the destination that it had. */
  targetDestinationId: z.string().nullable(),
  /** Recipients whose last attempt ended without an answer go again too, at the risk of a second copy. */
  includeUnknown: z.boolean(),
  status: z.enum(replayStatuses),
  /** Why it stopped before the end. */
  stoppedBecause: z.string().nullable(),
  counters: z.strictObject({ examined: count, replayed: count, skipped: count, refused: count }),
  /** The latest of them. */
  problems: z.array(z.strictObject({ traceId: z.string(), reason: z.string() })),
  /** Where the list of traces goes on; null at its beginning. */
  cursor: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type ReplayJob = Immutable<z.infer<typeof schema>>

export const replayJobs = defineRecord<ReplayJob>({
  name: 'replay',
  schema,
  // what a key of the whole organization asked for can reach every project, so it is hidden from keys bound to a project
  projectOf: (job) => (job.bound ? job.projectId : ''),
})

/** The one project that a job reaches; undefined when it reaches several. */
export const onlyProjectOf = ({ bound, projectId, filter }: ReplayJob): string | undefined => (bound ? projectId : filter.projectId)

/** Marks a job that runs, so that the next process takes it up. */
export const openReplayKey = (organizationId: string, id: string): readonly Element[] => globalKey('replay.open', organizationId, id)
export const openReplaysKey = globalKey('replay.open')
