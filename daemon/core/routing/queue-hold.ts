/** A standing hold: what matches it is held when its turn comes, whenever it was accepted, until the hold is lifted. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { actorKinds } from '../writes/audit.ts'

/** Which messages are meant; each condition narrows, and none means all of the organization. */
const filter = z.strictObject({
  projectId: z.string().optional(),
  destinationId: z.string().optional(),
  /** Domain of a recipient that still waits, in lower case. */
  toDomain: z.string().optional(),
  /** Header From or MAIL FROM: an address, or a domain after an @. */
  from: z.string().optional(),
})
export type HoldFilter = Immutable<z.infer<typeof filter>>

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  bound: z.boolean(),
  filter,
  reason: z.string().nullable(),
  by: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  /** The act that holds what waits already. */
  actId: z.string(),
  createdAt: z.int(),
})
export type QueueHold = Immutable<z.infer<typeof schema>>

export const queueHolds = defineRecord<QueueHold>({
  name: 'queue_hold',
  noun: 'standing hold',
  isSetting: true,
  schema,
  // as of acts on the queue
  projectOf: (hold) => (hold.bound ? hold.projectId : (hold.filter.projectId ?? '')),
})

export const isOperators = ({ by }: Pick<QueueHold, 'by'>): boolean => by.kind === 'operator'
