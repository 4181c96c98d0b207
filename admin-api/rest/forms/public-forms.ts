/** Published forms for visitors: their definition, and where answers are sent. Spec "Public forms". */
import { captchaKey, fillTimeKey, honeypotKey } from '#core/forms/definition/definition.ts'
import { malformed } from '#core/forms/submissions/submit.ts'
import { Refusal } from '#core/refusals.ts'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { action, type Action } from '../../actions/action.ts'
import { streamed, type BodyStream } from '../../bodies/body-stream.ts'
import { parseJsonBody } from '../../bodies/json-body.ts'
import type { Cors } from '../../credentials/credentials.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { publicForm, publicFormInput, publicFormParams, submissionBody, taken, takenShape } from '../../wire/forms/public-form.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['forms']
const captchaHeader = 'x-service-captcha-token'
/** Spec "Errors", `request_too_large`. */
const maxBodyBytes = 65_536
const limits = { maxDepth: 8, maxValues: 5000 }

/** Scripts of any page may ask and read; which pages may send is for the form to say. */
const cors: Cors = { requestHeaders: ['content-type', captchaHeader], allowedOrigin: anyOrigin }

/** What is wrong with a submission, and with the place that it comes from. */
const refusals = [
  ...['form_not_found', 'origin_not_allowed', 'rate_limit_exceeded', 'quota_exhausted', 'malformed_submission'],
  ...['captcha_required', 'captcha_failed', 'captcha_unavailable', 'captcha_not_configured', 'file_uploads_unavailable', 'storage_full'],
] as const

export const publicFormOperations = ({ forms: { publicForms, submit } }: RestCore): readonly (Action | Operation)[] => [
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
    run: (_, { publicId, lang }) => publicForms.read(publicId, lang),
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
    ...{ maxBodyBytes, cors, status: 201 },
    params: publicFormParams,
    body: streamed({
      'application/json': submissionBody,
      'application/x-www-form-urlencoded': submissionBody,
      'multipart/form-data': submissionBody,
    }),
    response: takenShape,
    async handle({ params: { public_id: publicId }, body, headers, remoteAddress }) {
      const { values, files } = await readSubmission(body, headers['content-type'] ?? '')
      const captchaToken = headers[captchaHeader]
      return taken.encode(
        await submit.submit(publicId, {
          ...{ values, files, remoteAddress, origin: headers.origin },
          captchaToken: typeof captchaToken === 'string' ? captchaToken : undefined,
        }),
      )
    },
  }),
]

interface ReadBody {
  readonly values: Readonly<Record<string, unknown>>
  /** Keys of the parts that are files. */
  readonly files: readonly string[]
}

async function readSubmission({ bytes, mediaType }: BodyStream, contentType: string): Promise<ReadBody> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  const whole = Buffer.concat(pieces)
  if (mediaType === 'application/json') return { values: unwrapped(jsonOf(whole)), files: [] }
  if (mediaType === 'application/x-www-form-urlencoded')
    return { values: unwrapped(fieldsOf(new URLSearchParams(whole.toString('utf8')))), files: [] }
  return readMultipart(whole, contentType)
}

/** A part named `data` with the answers as JSON, or a part for each of them; and files. */
async function readMultipart(whole: Buffer<ArrayBuffer>, contentType: string): Promise<ReadBody> {
  const form = await new Response(whole, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw malformed({}, { reason: 'The multipart body is broken.' })
  })
  const files: string[] = []
  const texts: [string, string][] = []
  for (const [key, value] of form) {
    if (typeof value === 'string') texts.push([key, value])
    else if (value.size > 0 || value.name !== '') files.push(key)
  }
  const { data, ...fields } = fieldsOf(texts)
  if (typeof data !== 'string') return { values: fields, files }
  return { values: { ...fields, ...unwrapped(jsonOf(Buffer.from(data))) }, files }
}

/** What comes more than once is a list. */
function fieldsOf(entries: Iterable<readonly [string, string]>): Readonly<Record<string, unknown>> {
  const fields = new Map<string, string[]>()
  for (const [key, value] of entries) {
    const values = fields.get(key)
    if (values) values.push(value)
    else fields.set(key, [value])
  }
  return Object.fromEntries([...fields].map(([key, values]) => [key, values.length === 1 ? values[0] : values]))
}

function jsonOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value = parseJsonBody(bytes, limits)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw malformed({}, { reason: error.message })
  }
  throw malformed({}, { reason: 'The body must be an object.' })
}

/** The answers with what submissions use for themselves, whether `data` is around them or not. */
function unwrapped(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { data } = body
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return body
  const own = [fillTimeKey, honeypotKey, captchaKey].flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))
  return { ...data, ...Object.fromEntries(own) }
}
