/** The webhook of a form: its target and the body of its events. Signed and retried like event webhooks. */
import * as z from 'zod'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { addDelivery } from '../../webhooks/events/add-delivery.ts'
import type { TargetSource } from '../../webhooks/sending/target.ts'
import { forms, type Form } from '../form.ts'
import { referenceOf, type FormSubmission } from '../submissions/submission.ts'
import { fileStatuses } from '../uploads/submission-file.ts'
import { formNotifications, webhookSecretContext } from './notification.ts'

const answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

const fileShape = z
  .object({
    id: z.string(),
    field: z.string(),
    name: z.string(),
    content_type: z.string(),
    bytes: z.int(),
    status: z.enum(fileStatuses).meta({ description: 'Status on arrival; files are scanned afterwards.' }),
  })
  .meta({ id: 'FormSubmissionEventFile' })

const dataShape = z
  .object({
    form_id: z.string(),
    public_id: z.string(),
    form_name: z.string(),
    project_id: z.string(),
    submission_id: z.string(),
    reference: z.string().meta({ description: 'Short reference of the submission, as shown to the visitor.' }),
    version: z.int().meta({ description: 'The version of the form that the visitor saw.' }),
    answers: z.record(z.string(), answer).meta({ description: 'Answers by field key. Hidden fields have no answer.' }),
    files: z.array(fileShape).meta({ description: 'The answers of file fields are the ids of their files.' }),
    submitted_at: z.string(),
  })
  .meta({ id: 'FormSubmissionEventData' })

export const formSubmissionEventShape = z
  .object({
    ...{ id: z.string(), type: z.literal('form_submission'), created_at: z.string() },
    test: z.literal(true).optional().meta({ description: 'Present only in test events.' }),
    data: dataShape,
  })
  .meta({ id: 'FormSubmissionEvent' })

type Wire = z.input<typeof formSubmissionEventShape>

/** Adds the delivery to the write that accepts or releases the submission. Returns its id. */
export function announceSubmission(
  database: Database,
  change: Change,
  organizationId: string,
  form: Form,
  submission: FormSubmission,
  at: number,
): string {
  const { id: endpointId, projectId } = form
  const eventId = database.newId('evt', at)
  const body = eventOf({ id: eventId, at }, form, submission)
  return addDelivery(database, change, organizationId, {
    eventId,
    eventType: 'form_submission',
    endpointId,
    projectId,
    traceId: null,
    body,
    at,
  })
}

/** The content of a submission in events. */
export interface AnnouncedSubmission extends Pick<FormSubmission, 'id' | 'version' | 'answers' | 'createdAt'> {
  readonly files: readonly Pick<FormSubmission['files'][number], 'id' | 'field' | 'name' | 'contentType' | 'size' | 'status'>[]
}

/** Returns the exact text that is sent and signed in every attempt. */
export function eventOf(
  { id, at }: { readonly id: string; readonly at: number },
  form: Form,
  { id: submissionId, version, answers, files, createdAt }: AnnouncedSubmission,
  isTest = false,
): string {
  const wire: Wire = {
    ...{ id, type: 'form_submission', created_at: new Date(at).toISOString() },
    ...(isTest && { test: true as const }),
    data: {
      ...{ form_id: form.id, public_id: form.publicId, form_name: form.name, project_id: form.projectId },
      ...{
        submission_id: submissionId,
        reference: referenceOf({ id: submissionId }),
        version,
        answers: answers as Wire['data']['answers'],
        submitted_at: new Date(createdAt).toISOString(),
      },
      files: files.map(({ id: fileId, field, name, contentType, size, status }) => ({
        ...{ id: fileId, field, name, content_type: contentType, bytes: size, status },
      })),
    },
  }
  return JSON.stringify(wire)
}

const whileOff = 'Forms are turned off for this organization.'

/** Finds the webhook of a form by the id of the form. */
export const formTarget: TargetSource = async (database, reach, id) => {
  const form = await database.get(forms, reach, id)
  const settings = form && (await database.get(formNotifications, { organizationId: reach.organizationId }, id))?.record
  if (!settings || settings.webhookUrl === null || settings.sealedWebhookSecret === null) return undefined
  return {
    ...{ projectId: form.record.projectId, targetUrl: settings.webhookUrl, sealedSecret: settings.sealedWebhookSecret },
    ...{ secretContext: webhookSecretContext(id), feature: 'forms', whileOff },
  }
}
