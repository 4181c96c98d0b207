/** A double of SMTP2GO: POST /v3/email/mime, which reads the recipients from the header, and POST /v3/email/send. */
import { headerAddresses } from './addressed-by-header.ts'
import { bare, decoded, jsonBody, records, type DoubleAnswer, type VendorRules } from './double.ts'

const failure = (status: number, code: string, error: string, headers = {}): DoubleAnswer => ({
  status,
  headers,
  body: { request_id: 'aa253464', data: { error_code: `E_ApiResponseCodes.${code}`, error } },
})

const mailboxes = (list: unknown): string[] => ((list ?? []) as unknown[]).map(bare)

export const smtp2goRules: VendorRules = {
  provider: 'smtp2go',
  addressedByHeader: true,
  credentials: { api_key: 'right-key-10' },
  wrong: { api_key: 'wrong-key-10' },
  refusals: {
    permanent: failure(400, 'NON_VALIDATING_IN_PAYLOAD', 'The email is not valid.'),
    transient: failure(500, 'API_EXCEPTION', 'An internal error.'),
    rateLimited: failure(429, 'TOO_MANY_REQUESTS', 'Lower your request rate.', { 'retry-after': '17' }),
    misconfigured: failure(400, 'ENDPOINT_PERMISSION_DENIED', 'You do not have permission to access this API endpoint.'),
  },
  authenticate({ headers }) {
    const key = headers['x-smtp2go-api-key']
    return key === 'right-key-10' ? undefined : failure(401, 'API_KEY_INVALID', `The key ${String(key)} is not known.`)
  },
  take(request) {
    if (request.method !== 'POST') return undefined
    if (request.path === '/v3/email/mime') {
      const mime = decoded(jsonBody(request)['mime_email'])
      if (headerAddresses(mime, 'bcc').length > 0) throw new Error('a Bcc field could become visible to all recipients')
      return { recipients: [...headerAddresses(mime, 'to'), ...headerAddresses(mime, 'cc')], mime }
    }
    if (request.path !== '/v3/email/send') return undefined
    const body = jsonBody(request)
    const headers = Object.fromEntries(records(body['custom_headers']).map(({ header, value }) => [String(header), value]))
    const named = [...mailboxes(body['to']), ...mailboxes(body['cc'])]
    return {
      recipients: [...named, ...mailboxes(body['bcc'])],
      named,
      fields: {
        from: bare(body['sender']),
        subject: body['subject'],
        text: body['text_body'],
        html: body['html_body'],
        replyTo: headers['Reply-To'] === undefined ? [] : [bare(headers['Reply-To'])],
        headers,
        attachments: records(body['attachments']).map(({ filename, fileblob }) => ({ filename, content: decoded(fileblob) })),
      },
    }
  },
  accepted: ({ recipients }) => ({
    status: 200,
    body: { request_id: 'aa253464', data: { succeeded: recipients.length, failed: 0, failures: [], email_id: '1er8bV-6Tw0Mi-7h' } },
  }),
  probed: ({ method, path }) =>
    method === 'POST' && path === '/v3/stats/email_cycle'
      ? { status: 200, body: { request_id: 'aa253464', data: { cycle_used: 1 } } }
      : undefined,
}
