/** A double of Brevo: POST /v3/smtp/email, GET /v3/account. */
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { decoded, jsonBody, records, type VendorRules } from './double.ts'

/** Fields as readers of the sent mail see them. Brevo encodes nothing. */
function headersOf(headers: unknown): Record<string, unknown> {
  const entries = Object.entries((headers ?? {}) as Record<string, string>)
  const raw = entries.find(([, value]) => !/^[\t -~]*$/.test(value))
  if (raw) throw new Error(`the header field ${raw[0]} would leave as it is`)
  return Object.fromEntries(entries.map(([name, value]) => [name, decodeEncodedWords(value)]))
}

const emails = (list: unknown): string[] => records(list).map(({ email }) => String(email))

export const brevoRules: VendorRules = {
  provider: 'brevo',
  credentials: { api_key: 'xkeysib-right-6' },
  wrong: { api_key: 'xkeysib-wrong-6' },
  refusals: {
    permanent: { status: 400, body: { code: 'invalid_parameter', message: 'email is not valid in to' } },
    transient: { status: 502, body: '<html>Bad gateway</html>' },
    rateLimited: { status: 429, headers: { 'x-sib-ratelimit-reset': '17' }, body: { code: 'too_many_requests', message: 'Slow down.' } },
    misconfigured: { status: 402, body: { code: 'not_enough_credits', message: 'You have no credits left.' } },
  },
  authenticate({ headers }) {
    const key = headers['api-key']
    return key === 'xkeysib-right-6' ? undefined : { status: 401, body: { code: 'unauthorized', message: `Key not found: ${String(key)}` } }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== '/v3/smtp/email') return undefined
    const body = jsonBody(request)
    const named = [...emails(body['to']), ...emails(body['cc'])]
    if (emails(body['to']).length === 0) throw new Error('to is required')
    if (records(body['to']).some(({ name }) => name === '')) throw new Error('a name must not be empty')
    return {
      recipients: [...named, ...emails(body['bcc'])],
      named,
      fields: {
        from: String((body['sender'] as { email?: unknown }).email),
        subject: body['subject'],
        text: body['textContent'],
        html: body['htmlContent'],
        replyTo: body['replyTo'] === undefined ? [] : emails([body['replyTo']]),
        headers: headersOf(body['headers']),
        attachments: records(body['attachment']).map(({ name, content }) => ({ filename: name, content: decoded(content) })),
      },
    }
  },
  accepted: () => ({ status: 201, body: { messageId: '<202611211000.1@smtp-relay.mailin.fr>' } }),
  probed: ({ method, path }) =>
    method === 'GET' && path === '/v3/account' ? { status: 200, body: { email: 'shop@site.test' } } : undefined,
}
