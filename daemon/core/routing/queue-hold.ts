/** A standing hold: holds every matching message at its turn, regardless of its acceptance time, until the hold is released. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { actorKinds } from '../writes/audit.ts'

/** Filter of messages; all conditions must match. Without conditions, all messages of the organization. */
const filter = z.strictObject({
  projectId: z.string().optional(),
  destinationId: z.string().optional(),
  /** Domain of a waiting recipient, in lower case. */
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
  /** The act that holds messages already waiting. */
  actId: z.string(),
  createdAt: z.int(),
})
export type QueueHold = Immutable<z.infer<typeof schema>>

export const queueHolds = defineRecord<QueueHold>({
  name: 'queue_hold',
  noun: 'standing hold',
  isSetting: true,
  schema,
  // without a project in its filter, the hold of an organization-wide key can hold mail of every project: the hold belongs to the
  // organization, and keys bound to a project cannot see it
  projectOf: (hold) => (hold.bound ? hold.projectId : (hold.filter.projectId ?? '')),
})

export const isOperators = ({ by }: Pick<QueueHold, 'by'>): boolean => by.kind === 'operator'
