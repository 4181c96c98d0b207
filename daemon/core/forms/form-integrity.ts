/**
 * Integrity checks of forms, drafts and versions, for `postern verify`: each form has its draft and all versions, and no record is
 * orphaned.
 */
import type { Database } from '#store/database.ts'
import type { VerifyOptions } from '#store/verify/verify.ts'
import { checkFormDay, formDayRows } from './analytics/form-counts.ts'
import { formNotifications, type NotificationSettings } from './notifications/notification.ts'
import { checkTrail, trailRows } from './notifications/notice-trail.ts'
import { formReplies, type FormReply } from './replies/reply.ts'
import { formSubmissions, type FormSubmission } from './submissions/submission.ts'
import { checkScan } from './uploads/file-integrity.ts'
import { scanWork } from './uploads/submission-file.ts'
import { formDrafts, forms, formVersions, versionId, type Form, type FormDraft, type FormVersion } from './form.ts'

/** Returns the problems of a record, one sentence each; undefined for other kinds of records. */
export async function formDisagreements(
  database: Database,
  kind: string,
  organizationId: string,
  record: unknown,
): Promise<string[] | undefined> {
  const formOf = async (id: string): Promise<Form | undefined> => (await database.get(forms, { organizationId }, id))?.record
  if (kind === formReplies.name) {
    const { submissionId } = record as FormReply
    return (await database.get(formSubmissions, { organizationId }, submissionId)) ? [] : ['its submission is missing']
  }
  if (kind === forms.name) return missingParts(database, organizationId, record as Form)
  if (kind === formDrafts.name) return (await formOf((record as FormDraft).id)) ? [] : ['its form is missing']
  if (kind === formNotifications.name) return (await formOf((record as NotificationSettings).id)) ? [] : ['its form is missing']
  if (kind !== formVersions.name && kind !== formSubmissions.name) return undefined
  const { formId, version } = record as FormVersion | FormSubmission
  const form = await formOf(formId)
  return form && version <= form.version ? [] : [`the form ${formId} has no version ${version}`]
}

async function missingParts(database: Database, organizationId: string, { id, version: latest }: Form): Promise<string[]> {
  const problems = (await database.get(formDrafts, { organizationId }, id)) ? [] : ['its draft is missing']
  for (let version = 1; version <= latest; version++) {
    const stored = await database.get(formVersions, { organizationId }, versionId(id, version))
    if (!stored) problems.push(`its version ${version} of ${latest} is missing`)
  }
  return problems
}

/** Row families that are not records. */
export const formRows = (database: Database): Required<VerifyOptions>['families'] => [
  { name: 'form.nonce' },
  { name: trailRows, check: (key) => checkTrail(database, key) },
  { name: formDayRows, check: checkFormDay },
  { name: scanWork, global: true, check: (key) => checkScan(database, key) },
  ...['form.leftovers', 'form.notice', 'form.digest'].map((name) => ({ name, global: true as const })),
]
