/** Replies to submissions: each a draft that a person or their agent sends once. No submission is answered by itself. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  formId: z.string(),
  submissionId: z.string(),
  /** The address of the submission, and no other. */
  to: z.string(),
  /** Without it, the sender of the destination. */
  from: z.string().nullable(),
  subject: z.string(),
  text: z.string().nullable(),
  html: z.string().nullable(),
  /** What it was rendered from. */
  template: z.strictObject({ id: z.string(), version: z.int() }).nullable(),
  /** Id of the key, person or agent that made it. */
  createdBy: z.string(),
  isByAgent: z.boolean(),
  /** Of the message; null until it is sent, and while it waits for a person. */
  traceId: z.string().nullable(),
  /** Of the message that an agent sent and that waits for a person. */
  heldTraceId: z.string().optional(),
  sentAt: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/** Records of the first version counted how often a message was turned down. */
const withoutCount = ({ turnedDown: _, ...reply }: FormReply & { readonly turnedDown?: number }): FormReply => reply

/** Belongs to no project by itself: it is reached through its form only. */
export type FormReply = Immutable<z.infer<typeof schema>>

export const formReplies = defineRecord<FormReply>({
  name: 'form_reply',
  noun: 'reply draft',
  schema,
  upgrades: [(old) => withoutCount(old as FormReply & { readonly turnedDown?: number })],
  indexes: {
    submission: ({ formId, submissionId }) => [[formId, submissionId]],
    held: ({ heldTraceId }) => (heldTraceId === undefined ? [] : [[heldTraceId]]),
  },
})

export const replyStatuses = ['draft', 'awaiting_approval', 'sent'] as const
export type ReplyStatus = (typeof replyStatuses)[number]

export const statusOfReply = ({ traceId, heldTraceId }: FormReply): ReplyStatus =>
  traceId !== null ? 'sent' : heldTraceId === undefined ? 'draft' : 'awaiting_approval'

/** A reply that waits no more: sent with the message that was approved, or a draft again. */
export function afterWaiting({ heldTraceId: _, ...reply }: FormReply, sentAs: string | undefined, now: number): FormReply {
  if (sentAs !== undefined) return { ...reply, traceId: sentAs, sentAt: now, updatedAt: now }
  return { ...reply, updatedAt: now }
}

/** A submission has few of them. */
export const maxReplies = 100

/** Adds to a write that what was written in reply to a submission goes with it. */
export async function removeReplies(
  database: Database,
  change: Change,
  organizationId: string,
  { id, formId }: { readonly id: string; readonly formId: string },
): Promise<void> {
  const walk = { index: 'submission', values: [formId, id], limit: maxReplies, forWork: true } as const
  const { rows } = await database.list(formReplies, { organizationId }, walk)
  for (const stored of rows) change.remove(formReplies, organizationId, stored)
}
