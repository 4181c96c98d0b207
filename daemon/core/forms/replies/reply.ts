/** Replies to submissions. A person or their agent sends each draft once; nothing is sent automatically. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  formId: z.string(),
  submissionId: z.string(),
  /** The address in the submission; it cannot be changed. */
  to: z.string(),
  /** Defaults to the sender of the destination. */
  from: z.string().nullable(),
  subject: z.string(),
  text: z.string().nullable(),
  html: z.string().nullable(),
  /** The template of the content. */
  template: z.strictObject({ id: z.string(), version: z.int() }).nullable(),
  /** Id of the API key, member or agent that created it. */
  createdBy: z.string(),
  isByAgent: z.boolean(),
  /** Trace of the message; null until it is sent or while it awaits approval. */
  traceId: z.string().nullable(),
  /** Trace of an agent's message that awaits approval. */
  heldTraceId: z.string().optional(),
  sentAt: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/** Removes the count of rejections, which records of the first version had. */
const withoutCount = ({ turnedDown: _, ...reply }: FormReply & { readonly turnedDown?: number }): FormReply => reply

/** Has no project; access is checked through the form. */
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

/** Returns the reply after the approval: sent with the approved message, or a draft again. */
export function afterWaiting({ heldTraceId: _, ...reply }: FormReply, sentAs: string | undefined, now: number): FormReply {
  if (sentAs !== undefined) return { ...reply, traceId: sentAs, sentAt: now, updatedAt: now }
  return { ...reply, updatedAt: now }
}

/** Maximum number of replies per submission. */
export const maxReplies = 100

/** Removes the replies of a submission in the write that removes the submission. */
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
