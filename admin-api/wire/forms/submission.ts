/** What came in by a form, on the wire. */
import * as z from 'zod'
import { bulkActions } from '#core/forms/submissions/submissions.ts'
import type { SentNotice } from '#core/forms/notifications/notice-trail.ts'
import { referenceOf, spamReasons, submissionStatuses, type FormSubmission } from '#core/forms/submissions/submission.ts'
import { fileStatuses, type SubmissionFile } from '#core/forms/uploads/submission-file.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { withTextForm } from '../fields/text-form.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])
const tag = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .regex(/^[^\p{C},]+$/u, 'must be one word or a few, without commas')
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
  assignee: id.nullable().optional().meta({ description: 'Id of the person who answers it; null is none.' }),
  note: z.string().max(10_000).optional(),
})
export const bulkInput = z.strictObject({
  ids: z.array(id).min(1).max(100),
  action: z.enum(bulkActions),
})

/** Of the submissions of all forms. */
export const submissionsFilter = {
  status: z
    .enum([...submissionStatuses, 'open'])
    .optional()
    .meta({ description: 'All of them by default, spam too. `open` are those that are neither archived nor spam.' }),
  q: line(200, 'Words that the answers, the note or the tags have, in any order, or the reference. Case-insensitive.').optional(),
  from: timeInput.optional().meta({ description: 'Not earlier than this time.' }),
  to: timeInput.optional().meta({ description: 'Earlier than this time.' }),
  tag: tag.optional(),
  assignee: id.optional().meta({ description: 'Id of the person who answers it; `none` for those of no one.' }),
}

export const submissionFilter = {
  ...submissionsFilter,
  version: withTextForm(
    z.int().min(1).max(999_999_999).optional(),
    z
      .string()
      .regex(/^[1-9]\d{0,8}$/, 'must be the number of a version, such as 1')
      .transform(Number)
      .optional(),
  ),
}

const fileShape = z
  .object({
    id: z.string(),
    field: z.string().meta({ description: 'Key of the field.' }),
    name: z.string(),
    content_type: z.string().meta({ description: 'By its content, whatever it was sent as.' }),
    bytes: z.int(),
    sha256: z.string(),
    status: z.enum(fileStatuses).meta({
      description: '`pending`: to be scanned. `infected`: a virus was found and the file deleted. `unscanned`: the service had no scanner.',
    }),
    virus: z.string().nullable().meta({ description: 'What the scanner found.' }),
  })
  .meta({ id: 'FormFile' })

const file = encoder(fileShape).from<SubmissionFile>({ bytes: ({ size }) => size })

const submissionShape = z
  .object({
    id: z.string(),
    reference: z.string().meta({ description: 'Names the submission for people; the visitor has seen it. `q` of the lists finds it.' }),
    form_id: z.string(),
    version: z.int().meta({ description: 'The version of the form that the visitor saw.' }),
    status,
    answers: z.record(z.string(), answer).meta({ description: 'By field key. Fields that were not visible have no answer.' }),
    files: z.array(fileShape),
    spam_reasons: z.array(z.enum(spamReasons)).meta({
      description: 'Why it was held to be spam when it came, which its sender never learns. They stay when somebody says that it is none.',
    }),
    consents: z.array(z.object({ field: z.string(), sha256: z.string() })).meta({
      description: 'What was agreed to, as SHA-256 of the text that was shown.',
    }),
    unknown_keys: z.int().meta({ description: 'How many keys came along that are no fields; they are not kept.' }),
    origin: z.string().nullable().meta({ description: 'Origin of the page.' }),
    ip: z.string().nullable().meta({ description: 'The address as the form keeps it: hashed, whole, or null.' }),
    fill_ms: z.int().nullable().meta({ description: 'Milliseconds from the definition to the submission.' }),
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
    trace_id: z.string().nullable().meta({ description: 'Of the mail; null for the webhook.' }),
    attempt_id: z.string().nullable().meta({ description: 'The delivery of the webhook, for `getWebhookAttempt`; null for a mail.' }),
    at: wireTime,
  })
  .meta({ id: 'FormNotice' })

export const notice = encoder(noticeShape).from<SentNotice>({
  trace_id: ({ kind, id: sentAs }) => (kind === 'mail' ? sentAs : null),
  attempt_id: ({ kind, id: sentAs }) => (kind === 'webhook' ? sentAs : null),
})

export const bulkResult = encoderOf(
  z.object({ changed: z.int().meta({ description: 'How many of the ids were submissions of the form.' }) }).meta({ id: 'FormBulkResult' }),
  (changed: number) => ({ changed }),
)
