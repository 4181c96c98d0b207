/** A submission: the answers of one visitor, with the version of the form. */
import type { Change } from '#store/change.ts'
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import { removeFiles, submissionFileSchema } from '../uploads/submission-file.ts'

export const submissionStatuses = ['new', 'read', 'replied', 'archived', 'spam'] as const
export type SubmissionStatus = (typeof submissionStatuses)[number]

/** Whether the submission is open: neither archived nor spam. */
export const isOpen = ({ status }: Pick<FormSubmission, 'status'>): boolean => status !== 'archived' && status !== 'spam'

/** Reasons for the classification as spam on arrival. */
export const spamReasons = ['honeypot', 'too_fast', 'token_reuse'] as const
export type SpamReason = (typeof spamReasons)[number]

const schema = z.strictObject({
  id: z.string(),
  formId: z.string(),
  /** The version of the form that the visitor saw. */
  version: z.int(),
  status: z.enum(submissionStatuses),
  /** By field key: valid answers of visible fields; for spam, all readable answers. */
  answers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  files: z.array(submissionFileSchema),
  /** Accepted consents, each with the SHA-256 of the displayed text. */
  consents: z.array(z.strictObject({ field: z.string(), sha256: z.string() })),
  spamReasons: z.array(z.enum(spamReasons)),
  /** Number of submitted keys that are not fields; their values are not stored. */
  unknownKeys: z.int(),
  /** The `Origin` header. */
  origin: z.string().nullable(),
  /** IP address as the form stores it: hashed, full or null. */
  ip: z.string().nullable(),
  /** Time between definition and submission; null if unknown. */
  fillMs: z.int().nullable(),
  tags: z.array(z.string()),
  /** User id. */
  assignee: z.string().nullable(),
  note: z.string(),
  /** Time when a member first marked an arrived spam submission as not spam. Notifications are sent after that. */
  releasedAt: z.int().optional(),
  /** Id of the form's webhook delivery. */
  webhookDeliveryId: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/** Returns the short reference of a submission for people: visitors, owners and searches. */
export const referenceOf = ({ id }: { readonly id: string }): string => id.slice(-8).toUpperCase()

/** Has no project; access is checked through the form, and it moves with the form. */
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
    /** All submissions of the organization in the order of their ids, which is the order of time. */
    all: () => [[]],
  },
  lookups: { id: ({ id }) => [[id]] },
})

/** Key of a used token; the row has the submission and a digest of its content. */
export const nonceKey = (organizationId: string, formId: string, nonce: string): readonly Element[] => [
  organizationId,
  'form.nonce',
  formId,
  nonce,
]

/** Number of submissions that count toward `max_submissions`: all except spam. */
export const takenCounter = (organizationId: string, formId: string): readonly Element[] => [
  organizationId,
  'counter',
  'form_taken',
  formId,
]

/** Number of submissions of a form with the status. */
export const statusCounter = (organizationId: string, formId: string, status: SubmissionStatus): readonly Element[] => [
  organizationId,
  'counter',
  `form_${status}`,
  formId,
]

/** Adds a submission and its status count to a write. The removal of a whole form removes the counts too. */
export function insertSubmission(change: Change, organizationId: string, submission: FormSubmission): void {
  change.insertUnchecked(formSubmissions, organizationId, submission)
  countStatus(change, organizationId, undefined, submission)
}

export function replaceSubmission(change: Change, organizationId: string, stored: Stored<FormSubmission>, next: FormSubmission): void {
  change.replace(formSubmissions, organizationId, stored, next)
  countStatus(change, organizationId, stored.record, next)
  countTaken(change, organizationId, next.formId, Number(isTaken(next)) - Number(isTaken(stored.record)))
}

/** Removes a submission on request and frees its place in `max_submissions`. Removal by retention frees no place. */
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
