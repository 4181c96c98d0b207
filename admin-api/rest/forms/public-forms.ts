/** Published forms for visitors: their definition, and where answers are sent. Spec "Public forms". */
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

/** Scripts of any page may ask and read; which pages may send is for the form to say. */
const cors: Cors = { requestHeaders: ['content-type', captchaHeader], allowedOrigin: anyOrigin }

/** What is wrong with a submission, and with the place that it comes from. */
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
      'For web pages, without a key. 404 for forms that are not published, and where the owner has forms switched off. Each response has a token of its own, which goes back ' +
      'with the answers.',
    tags,
    scope: 'none',
    errors: ['form_not_found'],
    input: publicFormInput,
    output: publicForm,
    http: {
      ...{ method: 'GET', path: '/v1/public/forms/{public_id}', cors },
      headers: { 'Cache-Control': { description: 'no-store: the token is good once.', of: () => 'no-store' } },
    },
    run: ({ core }, { publicId, lang }) => core.forms.publicForms.show(publicId, lang),
  }),
  action({
    id: 'noteFormProgress',
    summary: 'Say how far a visitor has come in a form',
    description:
      'For web pages, without a key: the first page once something was filled in, and each further one. It is counted for the figures of the form, once for each ' +
      '`fill_time_token` and page; nothing else is kept of it. What is wrong counts nothing.',
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
    summary: 'Send the answers to a form',
    description:
      'For web pages, without a key: `{"data": {"email": "ada@example.ch"}, "_mnx_ft": "ft1.…"}`, the same without the wrapper, or a form as browsers send it. ' +
      'What is wrong is refused with `malformed_submission`; `details.fields` has the problems of each field, and `details.fill_time_token` a fresh token where the old one is no ' +
      'longer good. The same answers with the same token are taken once, and get the same response again.',
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
