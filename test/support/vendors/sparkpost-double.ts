/** A double of SparkPost: POST and GET /api/v1/transmissions with the bare key. */
import { jsonBody, records, type DoubleAnswer, type VendorRules } from './double.ts'

const failure = (status: number, code: string, message: string, description: string, headers = {}): DoubleAnswer => ({
  status,
  headers,
  body: { errors: [{ message, description, code }] },
})

export const sparkpostRules: VendorRules = {
  provider: 'sparkpost',
  takesText: true,
  credentials: { api_key: 'right-key-8', region: 'eu' },
  wrong: { api_key: 'wrong-key-8' },
  refusals: {
    permanent: failure(422, '1300', 'invalid data format/type', 'Error validating content.email_rfc822'),
    transient: failure(503, '1000', 'Service unavailable', 'Try again.'),
    rateLimited: failure(420, '2102', 'Exceed Sending Limit (daily)', 'Wait.', { 'retry-after': '17' }),
    misconfigured: failure(400, '7001', 'Invalid domain', 'Unconfigured Sending Domain <site.test>'),
  },
  authenticate({ headers }) {
    const key = headers.authorization
    return key === 'right-key-8' ? undefined : { status: 401, body: { errors: [{ message: 'Unauthorized.', description: String(key) }] } }
  },
  take(request) {
    const { pathname, searchParams } = new URL(request.path, 'https://sparkpost.test')
    if (request.method !== 'POST' || pathname !== '/api/v1/transmissions') return undefined
    const { options, recipients, content } = jsonBody(request) as Record<string, Record<string, unknown>>
    if (options?.['perform_substitutions'] !== false) throw new Error('braces in the message would be replaced')
    const addresses = records(recipients).map(({ address }) => String((address as { email?: unknown }).email))
    if (searchParams.get('num_rcpt_errors') !== String(addresses.length)) throw new Error('errors of recipients are not asked for')
    return { recipients: addresses, mime: Buffer.from(String(content?.['email_rfc822'])) }
  },
  accepted: ({ recipients }) => ({
    status: 200,
    body: { results: { total_rejected_recipients: 0, total_accepted_recipients: recipients.length, id: '11668787484950529' } },
  }),
  probed: ({ method, path }) => (method === 'GET' && path === '/api/v1/transmissions' ? { status: 200, body: { results: [] } } : undefined),
}
