/** Published forms for visitors: the definition, and the submission. Spec "Public forms". */
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { action, type Action } from '../../actions/action.ts'
import { streamed } from '../../bodies/body-stream.ts'
import { maxSubmissionBytes, readSubmission, submissionSeconds } from '../../bodies/submission-body.ts'
import type { Cors } from '../../credentials/credentials.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import {
  progressInput,
  publicForm,
  publicFormInput,
  publicFormParams,
  submissionBody,
  taken,
  takenShape,
} from '../../wire/forms/public-form.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['forms']
const captchaHeader = 'x-service-captcha-token'

/** Scripts of any page may load the definition; the form decides which pages may submit. */
const cors: Cors = { requestHeaders: ['content-type', captchaHeader], allowedOrigin: anyOrigin }

/** Errors of a submission, and of its origin. */
const refusals = [
  ...['form_not_found', 'origin_not_allowed', 'rate_limit_exceeded', 'quota_exhausted', 'malformed_submission'],
  ...['captcha_required', 'captcha_failed', 'captcha_unavailable', 'captcha_not_configured', 'storage_full'],
  ...['file_uploads_unavailable', 'file_too_large', 'upload_failed', 'request_too_large', 'overloaded'],
] as const

export const publicFormOperations: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  action({
    id: 'getPublicForm',
    summary: 'Get a published form',
    description:
      'For web pages, without a key. 404 for unpublished forms, and if forms are disabled for the owner. Each response contains ' +
      'a new token to send with the answers.',
    tags,
    scope: 'none',
    errors: ['form_not_found'],
    input: publicFormInput,
    output: publicForm,
    http: {
      ...{ method: 'GET', path: '/v1/public/forms/{public_id}', cors },
      headers: { 'Cache-Control': { description: 'no-store: the token is valid once.', of: () => 'no-store' } },
    },
    run: ({ core }, { publicId, lang }) => core.forms.publicForms.show(publicId, lang),
  }),
  action({
    id: 'noteFormProgress',
    summary: 'Report the progress of a visitor in a form',
    description:
      'For web pages, without a key. Report the first page when the visitor fills in a field, and each further page. Each ' +
      '`fill_time_token` and page counts once in the statistics of the form; nothing else is stored. Invalid reports count ' +
      'nothing.',
    tags,
    scope: 'none',
    errors: ['form_not_found', 'rate_limit_exceeded'],
    input: progressInput,
    http: { method: 'POST', path: '/v1/public/forms/{public_id}/progress', cors },
    run: ({ core, client: { address } }, { publicId, ...progress }) =>
      core.forms.visits.progressed(publicId, { ...progress, remoteAddress: address }),
  }),
  operation({
    ...{ method: 'POST', path: '/v1/public/forms/{public_id}/submissions', operationId: 'submitForm' },
    summary: 'Submit a form',
    description:
      'For web pages, without a key: `{"data": {"email": "ada@example.ch"}, "_mnx_ft": "ft1.…"}`, the same fields without the ' +
      'wrapper, or form encoding. Invalid submissions are refused with `malformed_submission`; `details.fields` contains the ' +
      'problems of each field, and `details.fill_time_token` a new token if the old one is no longer valid. Repeating the same ' +
      'answers with the same token creates no second submission and returns the same response.',
    tags,
    scope: 'none',
    errors: [...refusals, 'validation_failed'],
    ...{ maxBodyBytes: maxSubmissionBytes, deadlineSeconds: submissionSeconds, cors, status: 201 },
    params: publicFormParams,
    body: streamed({
      'application/json': submissionBody,
      'application/x-www-form-urlencoded': submissionBody,
      'multipart/form-data': submissionBody,
    }),
    response: takenShape,
    async handle({ core, params: { public_id: publicId }, body, headers, remoteAddress }) {
      const from = { origin: headers.origin, remoteAddress }
      await using uploads = core.forms.submit.uploads(publicId, from)
      const values = await readSubmission(body, headers['content-type'] ?? '', uploads)
      const { [captchaHeader]: token } = headers
      const captchaToken = typeof token === 'string' ? token : undefined
      return taken.encode(await core.forms.submit.submit(publicId, { ...from, values, uploads, captchaToken }))
    },
  }),
]
