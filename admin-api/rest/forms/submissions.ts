/** Submissions of forms, for the members who answer them. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { analyticsInput, analyticsSpan, formAnalytics, formFigures } from '../../wire/forms/analytics.ts'
import {
  bulkInput,
  bulkResult,
  fileInput,
  notice,
  submission,
  submissionChanges,
  submissionFilter,
  submissionInput,
  submissionsFilter,
} from '../../wire/forms/submission.ts'
import { exportPieces, exportQuery, exportTypes } from '../../wire/forms/submission-export.ts'
import { attachmentHeaders } from '../../http/download.ts'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { listEncoder, project } from '../../wire/fields/paging.ts'
import { idParams } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const forms = resource('/v1/forms', { name: 'Form', tags: ['forms'], feature: 'forms', graphql: true })
const all = resource('/v1/forms/submissions', {
  ...{ name: 'Submission', tags: ['forms'], feature: 'forms' },
  graphql: { one: 'FormSubmission', many: 'AllFormSubmissions' },
})
const figures = resource('/v1/forms/analytics', {
  ...{ name: 'FormFigures', plural: 'FormFigures', tags: ['forms'], feature: 'forms' },
  graphql: true,
})
const one = 'submissions/{submission_id}'

/** Streams a file while it reads the submissions. */
const exporting: Operation<RestCore> = operation({
  ...{ method: 'GET', path: '/v1/forms/{id}/submissions/export', operationId: 'exportFormSubmissions' },
  summary: 'Export the submissions of a form, oldest first',
  description:
    'As CSV with a header row, as JSON, or as JSON lines. The columns are the fields of all versions; `_version` is the version ' +
    'that the visitor saw. A cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe; numbers are ' +
    'unchanged. Spam is excluded unless `status` selects it.',
  tags: ['forms'],
  feature: 'forms',
  scope: 'api:read',
  errors: ['not_found'],
  params: idParams,
  query: exportQuery,
  response: media('text/csv'),
  async handle({ core, principal, params: { id }, query: { format, tz, columns, status } }) {
    const opened = await core.forms.exports.open(principal, { id, columns, status })
    return raw(Readable.from(exportPieces(opened, format, tz)), {
      contentType: exportTypes[format],
      headers: { 'content-disposition': `attachment; filename="submissions.${format}"` },
    })
  },
})

/** The link is for callers that cannot send a key, such as a download by the browser. */
const files: readonly Operation<RestCore>[] = [
  operation({
    ...{ method: 'GET', path: '/v1/forms/{id}/submissions/{submission_id}/files/{file_id}', operationId: 'getFormFile' },
    summary: 'Get a file of a submission',
    description:
      'Redirects to a URL that is valid for one minute and requires no key. Files are available after a scan without a virus. ' +
      'Refused with `scan_pending` before the scan, and with `file_infected` after a scan with a virus. Without a scanner, refused ' +
      'with `scan_pending` too, unless the operator allows it.',
    tags: ['forms'],
    feature: 'forms',
    scope: 'api:read',
    status: 302,
    errors: ['not_found', 'scan_pending', 'file_infected'],
    params: fileInput,
    response: media('application/octet-stream'),
    responseHeaders: { Location: 'URL of the file.' },
    async handle({ core, principal, params: { id, submission_id: submissionId, file_id: fileId } }) {
      const sealed = await core.forms.downloads.link(principal, { id, submissionId, fileId })
      return raw('', {
        contentType: 'application/octet-stream',
        headers: { location: `/v1/form-files/${sealed}`, 'cache-control': 'no-store' },
      })
    },
  }),
  operation({
    ...{ method: 'GET', path: '/v1/form-files/{token}', operationId: 'downloadFormFile' },
    summary: 'Download a file of a submission',
    description: 'At the URL from `getFormFile`, without a key. Browsers save the file and do not display or run it.',
    tags: ['forms'],
    scope: 'none',
    errors: ['not_found', 'scan_pending', 'file_infected'],
    params: z.strictObject({ token: z.string().max(200) }),
    response: media('application/octet-stream'),
    async handle({ core, params: { token } }) {
      const { name, contentType, size, octets } = await core.forms.downloads.open(token)
      const headers = { ...attachmentHeaders(name), ...unshown, 'content-length': String(size) }
      return raw(Readable.from(octets), { contentType, headers })
    },
  }),
]

/** Prevents any content from running as part of this site. */
const unshown = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
} as const

const figureActions: readonly Action<RestCore>[] = [
  forms.readOf('analytics', {
    id: 'getFormAnalytics',
    summary: 'Get the statistics of a form',
    description:
      'By day (UTC), from counts recorded as events happen. If pages report the progress of visitors, `pages` shows where ' +
      'visitors leave.',
    input: analyticsInput,
    output: formAnalytics,
    run: ({ core, principal }, { id, ...span }) => core.forms.analytics.get(principal, id, span),
  }),
  figures.list({
    summary: 'List the statistics of all forms by day, the newest form first',
    description: 'For at most 31 days. For statistics of pages and fill times, get the statistics of the form.',
    filter: { project, ...analyticsSpan },
    item: formFigures,
    run: ({ core, principal }, query) => core.forms.analytics.list(principal, query),
  }),
]

const actions: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List the submissions of all forms, newest first',
    description: 'A page can contain fewer entries than `limit`, even zero, and still have a next page.',
    filter: { project, ...submissionsFilter },
    item: submission,
    run: ({ core, principal }, query) => core.forms.submissions.listAll(principal, query),
  }),
  forms.listOf('submissions', {
    summary: 'List the submissions of a form, newest first',
    description: 'A page can contain fewer entries than `limit`, even zero, and still have a next page.',
    filter: submissionFilter,
    item: submission,
    run: ({ core, principal }, query) => core.forms.submissions.list(principal, query),
  }),
  forms.readOf(one, {
    id: 'getFormSubmission',
    summary: 'Get a submission',
    input: submissionInput,
    output: submission,
    run: ({ core, principal }, { id, submissionId }) => core.forms.submissions.get(principal, id, submissionId),
  }),
  forms.readOf(`${one}/notifications`, {
    id: 'listFormSubmissionNotifications',
    summary: 'List the sent notifications of a submission, oldest first',
    description:
      'Mails to recipients, each with its trace, and the delivery of the webhook. A digest is listed after it was sent. Spam ' +
      'triggers no notifications.',
    input: submissionInput,
    output: listEncoder(notice),
    run: ({ core, principal }, { id, submissionId }) => core.forms.submissions.notices(principal, id, submissionId),
  }),
  forms.change({
    id: 'updateFormSubmission',
    summary: 'Update a submission: its status, tags, assignee and note',
    scope: 'api:send',
    input: submissionChanges,
    output: submission,
    http: { path: `/v1/forms/{id}/${one}` },
    run: ({ core, principal }, { id, submissionId, ...changes }) => core.forms.submissions.update(principal, id, submissionId, changes),
  }),
  forms.remove({
    id: 'deleteFormSubmission',
    summary: 'Permanently delete a submission',
    input: submissionInput,
    http: { path: `/v1/forms/{id}/${one}` },
    run: ({ core, principal }, { id, submissionId }) => core.forms.submissions.remove(principal, id, submissionId),
  }),
  forms.act('submissions/bulk', {
    id: 'changeFormSubmissions',
    summary: 'Change many submissions of a form',
    description: 'Marks them as spam or not spam, archives or deletes them, in one write. Unknown ids are ignored.',
    scope: 'api:send',
    input: bulkInput,
    output: bulkResult,
    run: ({ core, principal }, { id, ids, action }) => core.forms.submissions.bulk(principal, id, ids, action),
  }),
]

export const submissionActions: readonly (Action<RestCore> | Operation<RestCore>)[] = [...figureActions, ...actions, exporting, ...files]
