/** An act: an operation of a person on the queue, with its filter of waiting messages and its progress. */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import { queueActs } from '../../trace/acts/act-record.ts'
import { actorKinds } from '../../writes/audit.ts'

/** Filter of queued messages; all conditions must match. Times in milliseconds since the epoch. */
const filter = z.strictObject({
  projectId: z.string().optional(),
  destinationId: z.string().optional(),
  /** Domain of a waiting recipient, in lower case. */
  toDomain: z.string().optional(),
  /** Header From or MAIL FROM: an address, or a domain after an @. */
  from: z.string().optional(),
  acceptedAfter: z.int().optional(),
  /** Exclusive. */
  acceptedBefore: z.int().optional(),
  /** Minimum number of attempts. */
  minAttempts: z.int().optional(),
  traceIds: z.array(z.string()).optional(),
  /** Messages held by this act. */
  heldBy: z.string().optional(),
})
export type QueueFilter = Immutable<z.infer<typeof filter>>

export const queueActStatuses = ['running', 'stopped', 'finished'] as const

/** Results for the matching messages. */
export interface QueueActCounters {
  /** Applied, or applied at the end of the attempt in flight. */
  readonly acted: number
  /** Messages among them with an attempt in flight. */
  readonly inFlight: number
  /** Not applicable: already held, already due, or the outcome of an attempt is unknown. */
  readonly skipped: number
}
export const counterNames = ['acted', 'inFlight', 'skipped'] as const satisfies readonly (keyof QueueActCounters)[]

const place = z.strictObject({ destinationId: z.string(), projectId: z.string(), dueMs: z.int(), traceId: z.string() })

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  bound: z.boolean(),
  act: z.enum(queueActs),
  filter,
  reason: z.string().nullable(),
  /** The standing hold that it holds for or releases. */
  ofHold: z.string().optional(),
  /** Number of messages counted by a dry run. */
  expected: z.int(),
  by: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  status: z.enum(queueActStatuses),
  /** Why the act stopped early. */
  stoppedBecause: z.string().nullable(),
  /** Position of the walk; null at the beginning. */
  cursor: place.nullable(),
  /** End of the act, if the dry run did not count the whole queue. Without it the act ends with the queue. */
  until: place.optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type QueueAct = Immutable<z.infer<typeof schema>>

/** An act with its current counts. */
export interface CountedAct extends QueueAct {
  readonly counters: QueueActCounters
}

export const queueActRecords = defineRecord<QueueAct>({
  name: 'queue_act',
  noun: 'act on the queue',
  schema,
  // without a project in its filter, the act of an organization-wide key can change mail of every project: the act belongs to the
  // organization, and keys bound to a project cannot see it
  projectOf: (act) => (act.bound ? act.projectId : (act.filter.projectId ?? '')),
})

/** Marks a running act, so that the next process continues it. */
export const openActKey = (organizationId: string, id: string): readonly Element[] => globalKey('queue.act', organizationId, id)
export const openActsKey = globalKey('queue.act')

/** Counter that the write of each message increases. */
export const actCounterKey = (organizationId: string, id: string, name: keyof QueueActCounters): readonly Element[] => [
  organizationId,
  'counter',
  'queue.act',
  id,
  name,
]
