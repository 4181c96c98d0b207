/** An act on the queue: which waiting messages are meant, what is done with them, and how far it has come. */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import { queueActs } from '../../trace/acts/act-record.ts'
import { actorKinds } from '../../writes/audit.ts'

/** Which messages in the queue are meant; each condition narrows. Times in milliseconds since the epoch. */
const filter = z.strictObject({
  projectId: z.string().optional(),
  destinationId: z.string().optional(),
  /** Domain of a recipient that still waits, in lower case. */
  toDomain: z.string().optional(),
  /** Header From or MAIL FROM: an address, or a domain after an @. */
  from: z.string().optional(),
  acceptedAfter: z.int().optional(),
  /** Exclusive. */
  acceptedBefore: z.int().optional(),
  /** At least so many attempts were made. */
  minAttempts: z.int().optional(),
  traceIds: z.array(z.string()).optional(),
  /** What this act holds. */
  heldBy: z.string().optional(),
})
export type QueueFilter = Immutable<z.infer<typeof filter>>

export const queueActStatuses = ['running', 'stopped', 'finished'] as const

/** The outcome for the messages that the filter found. */
export interface QueueActCounters {
  /** It was done, or is as soon as the attempt under way ends. */
  readonly acted: number
  /** Of these, those with an attempt under way. */
  readonly inFlight: number
  /** It does not apply: held already, due already, or the outcome of an attempt is unknown. */
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
  /** The standing hold that it holds for, or lifts. */
  ofHold: z.string().optional(),
  /** How many a dry run had counted. */
  expected: z.int(),
  by: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  status: z.enum(queueActStatuses),
  /** Why it stopped before the end. */
  stoppedBecause: z.string().nullable(),
  /** Where the walk over the queue goes on; null at its beginning. */
  cursor: place.nullable(),
  /** The act ends here, as the dry run counted no further and there is more behind it; absent where it ends with the queue. */
  until: place.optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type QueueAct = Immutable<z.infer<typeof schema>>

/** An act with what it has done so far. */
export interface CountedAct extends QueueAct {
  readonly counters: QueueActCounters
}

export const queueActRecords = defineRecord<QueueAct>({
  name: 'queue_act',
  noun: 'act on the queue',
  schema,
  // what a key of the whole organization asked for can reach every project, so it is hidden from keys bound to a project
  projectOf: (act) => (act.bound ? act.projectId : (act.filter.projectId ?? '')),
})

/** Marks an act that runs, so that the next process takes it up. */
export const openActKey = (organizationId: string, id: string): readonly Element[] => globalKey('queue.act', organizationId, id)
export const openActsKey = globalKey('queue.act')

/** Counts in the write of each message. */
export const actCounterKey = (organizationId: string, id: string, name: keyof QueueActCounters): readonly Element[] => [
  organizationId,
  'counter',
  'queue.act',
  id,
  name,
]
