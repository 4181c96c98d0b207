/** A bulk replay: its filter of failed messages, its target and its progress. Spec "Bulk replay job". */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'

export const replayStatuses = ['running', 'stopped', 'finished'] as const

/** Selects failed traces; all conditions must match. Times in milliseconds since the epoch, `until` exclusive. */
export interface ReplayFilter {
  readonly projectId?: string | undefined
  readonly destinationId?: string | undefined
  readonly to?: string | undefined
  readonly from?: string | undefined
  readonly since?: number | undefined
  readonly until: number
}

/** Results of the matching traces. */
export interface ReplayCounters {
  /** Failed traces that were processed. */
  readonly examined: number
  /** Queued again, for at least one recipient. */
  readonly replayed: number
  /** Nothing to send: no recipient has failed, or all outcomes are unknown. */
  readonly skipped: number
  /** Could not be sent again; `problems` states the reasons. */
  readonly refused: number
}

export interface ReplayProblem {
  readonly traceId: string
  readonly reason: string
}

const count = z.int().min(0)

const schema = z.strictObject({
  id: z.string(),
  /** Access of the requester: the project of the key, and whether the key is bound to it. */
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
  /** null: each message is sent through its original destination. */
  targetDestinationId: z.string().nullable(),
  /** Also send to recipients whose last attempt ended without a reply, at the risk of a second copy. */
  includeUnknown: z.boolean(),
  status: z.enum(replayStatuses),
  /** Why the job stopped early. */
  stoppedBecause: z.string().nullable(),
  counters: z.strictObject({ examined: count, replayed: count, skipped: count, refused: count }),
  /** The latest problems. */
  problems: z.array(z.strictObject({ traceId: z.string(), reason: z.string() })),
  /** Position in the list of traces; null at the beginning. */
  cursor: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type ReplayJob = Immutable<z.infer<typeof schema>>

export const replayJobs = defineRecord<ReplayJob>({
  name: 'replay',
  schema,
  // a job of an organization-wide key can reach every project, so keys bound to a project cannot see it
  projectOf: (job) => (job.bound ? job.projectId : ''),
})

/** Returns the only project that a job can reach; undefined if it can reach several. */
export const onlyProjectOf = ({ bound, projectId, filter }: ReplayJob): string | undefined => (bound ? projectId : filter.projectId)

/** Marks a running job, so that the next process continues it. */
export const openReplayKey = (organizationId: string, id: string): readonly Element[] => globalKey('replay.open', organizationId, id)
export const openReplaysKey = globalKey('replay.open')
