/** What came in by a form: the answers of one visitor, with the version that they were given to. */
import type { Change } from '#store/change.ts'
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import { removeFiles, submissionFileSchema } from '../uploads/submission-file.ts'

export const submissionStatuses = ['new', 'read', 'replied', 'archived', 'spam'] as const
export type SubmissionStatus = (typeof submissionStatuses)[number]

/** What still concerns those who answer: neither archived nor spam. */
export const isOpen = ({ status }: Pick<FormSubmission, 'status'>): boolean => status !== 'archived' && status !== 'spam'

/** Why it was held to be spam when it came. */
export const spamReasons = ['honeypot', 'too_fast', 'token_reuse'] as const
export type SpamReason = (typeof spamReasons)[number]

const schema = z.strictObject({
  id: z.string(),
  formId: z.string(),
  /** The version of the form that the visitor saw. */
  version: z.int(),
  status: z.enum(submissionStatuses),
  /** By key of the field: what was visible and right; of spam, what could be read. */
  answers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  files: z.array(submissionFileSchema),
  /** What was agreed to, as SHA-256 of the text that was shown. */
  consents: z.array(z.strictObject({ field: z.string(), sha256: z.string() })),
  spamReasons: z.array(z.enum(spamReasons)),
  /** How many keys came along that are no fields; they are not kept. */
  unknownKeys: z.int(),
  /** The header `Origin`. */
  origin: z.string().nullable(),
  /** As the form keeps addresses: hashed, whole or not at all. */
  ip: z.string().nullable(),
  /** From the definition to the submission; null where that is unknown. */
  fillMs: z.int().nullable(),
  tags: z.array(z.string()),
  /** Id of a person. */
  assignee: z.string().nullable(),
  note: z.string(),
  /** When somebody first said that what came as spam is none: others are notified of it from then on. */
  releasedAt: z.int().optional(),
  /** What the webhook of the form is sent of it. */
  webhookDeliveryId: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/** Names a submission for people: the visitor, the owner of the form and searches use the same form of it. */
export const referenceOf = ({ id }: { readonly id: string }): string => id.slice(-8).toUpperCase()

/** Belongs to no project by itself: it is reached through its form only, and moves with it. */
export type FormSubmission = Immutable<z.infer<typeof schema>>

export const formSubmissions = defineRecord<FormSubmission>({
  name: 'form_submission',
  noun: 'submission',
  schema,
  upgrades: [(old) => ({ files: [], ...(old as object) }), (old) => ({ webhookDeliveryId: null, ...(old as object) })],
  isTracked: true,
  place: ({ formId }) => [formId],
  indexes: {
    status: ({ formId, status }) => [[formId, status]],
    /** Of all forms, in the order of their ids, which is that of time. */
    all: () => [[]],
  },
  lookups: { id: ({ id }) => [[id]] },
})

/** A token that was used: for which submission, and with what. */
export const nonceKey = (organizationId: string, formId: string, nonce: string): readonly Element[] => [
  organizationId,
  'form.nonce',
  formId,
  nonce,
]

/** Submissions of a form that count toward its `max_submissions`: all but spam. */
export const takenCounter = (organizationId: string, formId: string): readonly Element[] => [
  organizationId,
  'counter',
  'form_taken',
  formId,
]

/** Submissions of a form that have the status. */
export const statusCounter = (organizationId: string, formId: string, status: SubmissionStatus): readonly Element[] => [
  organizationId,
  'counter',
  `form_${status}`,
  formId,
]

/** Adds to a write what happens to a submission, with the counts by status. Whoever removes a whole form removes these too. */
export function insertSubmission(change: Change, organizationId: string, submission: FormSubmission): void {
  change.insertUnchecked(formSubmissions, organizationId, submission)
  countStatus(change, organizationId, undefined, submission)
}

export function replaceSubmission(change: Change, organizationId: string, stored: Stored<FormSubmission>, next: FormSubmission): void {
  change.replace(formSubmissions, organizationId, stored, next)
  countStatus(change, organizationId, stored.record, next)
  countTaken(change, organizationId, next.formId, Number(isTaken(next)) - Number(isTaken(stored.record)))
}

/** One that somebody takes out makes room for another one; those that only became too old do not. */
export function takeOut(change: Change, organizationId: string, stored: Stored<FormSubmission>): void {
  removeSubmission(change, organizationId, stored)
  countTaken(change, organizationId, stored.record.formId, -Number(isTaken(stored.record)))
}

export function removeSubmission(change: Change, organizationId: string, stored: Stored<FormSubmission>): void {
  change.remove(formSubmissions, organizationId, stored)
  removeFiles(change, organizationId, stored.record)
  countStatus(change, organizationId, stored.record, undefined)
}

function countStatus(change: Change, organizationId: string, before: FormSubmission | undefined, after: FormSubmission | undefined): void {
  if (before?.status === after?.status) return
  if (before) change.add(statusCounter(organizationId, before.formId, before.status), -1)
  if (after) change.add(statusCounter(organizationId, after.formId, after.status), 1)
}

const isTaken = ({ status }: FormSubmission): boolean => status !== 'spam'

function countTaken(change: Change, organizationId: string, formId: string, delta: number): void {
  if (delta !== 0) change.add(takenCounter(organizationId, formId), delta)
}
