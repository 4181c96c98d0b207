/** Submissions of a form on the wire. */
import * as z from 'zod'
import { bulkActions } from '#core/forms/submissions/submissions.ts'
import type { SentNotice } from '#core/forms/notifications/notice-trail.ts'
import { referenceOf, spamReasons, submissionStatuses, type FormSubmission } from '#core/forms/submissions/submission.ts'
import { fileStatuses, type SubmissionFile } from '#core/forms/uploads/submission-file.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { withNumberForm } from '../fields/text-form.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])
const tag = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .regex(/^[^\p{C},]+$/u, 'must be one or more words, without commas')
const status = z.enum(submissionStatuses)
const submissionId = id.meta({ description: 'Id of a submission of the form.' })

export const fileInput = z.strictObject({
  id,
  submission_id: submissionId,
  file_id: id.meta({ description: 'Id of a file of the submission.' }),
})
export const submissionInput = z.strictObject({ submission_id: submissionId })
export const submissionChanges = z.strictObject({
  submission_id: submissionId,
  status: status.optional(),
  tags: z.array(tag).max(20).optional(),
  assignee: id.nullable().optional().meta({ description: 'Id of the person responsible for the answer; null if unassigned.' }),
  note: z.string().max(10_000).optional(),
})
export const bulkInput = z.strictObject({
  ids: z.array(id).min(1).max(100),
  action: z.enum(bulkActions),
})

/** Filters for submissions of all forms. */
export const submissionsFilter = {
  status: z
    .enum([...submissionStatuses, 'open'])
    .optional()
    .meta({ description: 'Defaults to all submissions, including spam. `open`: neither archived nor spam.' }),
  q: line(200, 'Words in the answers, the note or the tags, in any order, or the reference. Case-insensitive.').optional(),
  from: timeInput.optional().meta({ description: 'At or after this time.' }),
  to: timeInput.optional().meta({ description: 'Before this time.' }),
  tag: tag.optional(),
  assignee: id.optional().meta({ description: 'Id of the assigned person; `none` selects unassigned submissions.' }),
}

export const submissionFilter = {
  ...submissionsFilter,
  version: withNumberForm(z.int().min(1).max(999_999_999).optional(), /^[1-9]\d{0,8}$/, 'must be the number of a version, such as 1'),
}

const fileShape = z
  .object({
    id: z.string(),
    field: z.string().meta({ description: 'Key of the field.' }),
    name: z.string(),
    content_type: z.string().meta({ description: 'Detected from the content, regardless of the declared type.' }),
    bytes: z.int(),
    sha256: z.string(),
    status: z.enum(fileStatuses).meta({
      description:
        '`pending`: the scan is pending. `infected`: the scanner found a virus and the file was deleted. `unscanned`: the service had no ' +
        'scanner.',
    }),
    virus: z.string().nullable().meta({ description: 'Name of the virus found by the scanner.' }),
  })
  .meta({ id: 'FormFile' })

const file = encoder(fileShape).from<SubmissionFile>({ bytes: ({ size }) => size })

const submissionShape = z
  .object({
    id: z.string(),
    reference: z.string().meta({ description: 'Name of the submission for people; the visitor has seen it. `q` of the lists finds it.' }),
    form_id: z.string(),
    version: z.int().meta({ description: 'The version of the form that the visitor saw.' }),
    status,
    answers: z.record(z.string(), answer).meta({ description: 'Answers by field key. Hidden fields have no answer.' }),
    files: z.array(fileShape),
    spam_reasons: z.array(z.enum(spamReasons)).meta({
      description:
        'Why the submission was classified as spam on arrival; its sender is not informed. The reasons remain if a person corrects ' +
        'the status.',
    }),
    consents: z.array(z.object({ field: z.string(), sha256: z.string() })).meta({
      description: 'The accepted consent texts, as SHA-256 of the text shown.',
    }),
    unknown_keys: z.int().meta({ description: 'Number of submitted keys that are not fields; they are not stored.' }),
    origin: z.string().nullable().meta({ description: 'Origin of the page.' }),
    ip: z.string().nullable().meta({ description: 'The IP address as the form stores it: hashed, complete, or null.' }),
    fill_ms: z.int().nullable().meta({ description: 'Milliseconds from loading the form to the submission.' }),
    tags: z.array(z.string()),
    assignee: z.string().nullable(),
    note: z.string(),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'FormSubmission' })

export const submission = encoder(submissionShape).from<FormSubmission>({
  files: ({ files }) => files.map((each) => file.encode(each)),
  answers: ({ answers }) => answers,
  reference: referenceOf,
})

const noticeShape = z
  .object({
    kind: z.enum(['mail', 'webhook']),
    to: z.string().nullable().meta({ description: 'The recipient of the mail; null for the webhook.' }),
    trace_id: z.string().nullable().meta({ description: 'Trace of the mail; null for the webhook.' }),
    attempt_id: z.string().nullable().meta({ description: 'The delivery of the webhook, for `getWebhookAttempt`; null for a mail.' }),
    at: wireTime,
  })
  .meta({ id: 'FormNotice' })

export const notice = encoder(noticeShape).from<SentNotice>({
  trace_id: ({ kind, id: sentAs }) => (kind === 'mail' ? sentAs : null),
  attempt_id: ({ kind, id: sentAs }) => (kind === 'webhook' ? sentAs : null),
})

export const bulkResult = encoderOf(
  z.object({ changed: z.int().meta({ description: 'Number of ids that were submissions of the form.' }) }).meta({ id: 'FormBulkResult' }),
  (changed: number) => ({ changed }),
)
