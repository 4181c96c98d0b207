/** A double of Resend: POST /emails, and GET /domains, which a sending key may not call. */
import { bare, decoded, jsonBody, records, type VendorRules } from './double.ts'

const addresses = (list: unknown): string[] => (Array.isArray(list) ? list.map(bare) : [])

export const resendRules: VendorRules = {
  provider: 'resend',
  credentials: { api_key: 're_right_5' },
  wrong: { api_key: 're_wrong_5' },
  refusals: {
    permanent: { status: 422, body: { statusCode: 422, name: 'validation_error', message: 'Invalid `to` field.' } },
    transient: { status: 500, body: { statusCode: 500, name: 'application_error', message: 'An unexpected error occurred.' } },
    rateLimited: {
      status: 429,
      headers: { 'retry-after': '17' },
      body: { statusCode: 429, name: 'rate_limit_exceeded', message: 'Too many requests.' },
    },
    misconfigured: { status: 403, body: { statusCode: 403, name: 'validation_error', message: 'The site.test domain is not verified.' } },
  },
  authenticate({ headers }) {
    if (!headers['user-agent']) return { status: 403, body: 'error code: 1010' }
    if (headers.authorization === 'Bearer re_right_5') return undefined
    return { status: 401, body: { statusCode: 401, name: 'validation_error', message: `API key is invalid: ${headers.authorization}` } }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== '/emails') return undefined
    const key = String(request.headers['idempotency-key'] ?? '')
    if (key.length < 1 || key.length > 256) throw new Error('the idempotency key has 1 to 256 characters')
    const body = jsonBody(request)
    const named = [...addresses(body['to']), ...addresses(body['cc'])]
    if (addresses(body['to']).length === 0) throw new Error('to is required')
    return {
      recipients: [...named, ...addresses(body['bcc'])],
      named,
      fields: {
        from: bare(body['from']),
        subject: body['subject'],
        text: body['text'],
        html: body['html'],
        replyTo: addresses(body['reply_to']),
        headers: body['headers'] as Record<string, unknown>,
        attachments: records(body['attachments']).map(({ filename, content }) => ({ filename, content: decoded(content) })),
      },
    }
  },
  accepted: () => ({ status: 200, body: { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' } }),
  probed: ({ method, path }) =>
    method === 'GET' && path === '/domains'
      ? { status: 401, body: { statusCode: 401, name: 'restricted_api_key', message: 'This API key is restricted to only send emails' } }
      : undefined,
}
