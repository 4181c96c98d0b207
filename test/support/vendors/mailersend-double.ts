/** A double of MailerSend: POST /v1/email with a bearer token. */
import { decoded, jsonBody, records, type DoubleAnswer, type SeenRequest, type VendorRules } from './double.ts'

const emails = (list: unknown): string[] => records(list).map(({ email }) => String(email))
const isSend = ({ method, path }: SeenRequest): boolean => method === 'POST' && path === '/v1/email'
const invalid = (field: string, message: string): DoubleAnswer => ({ status: 422, body: { message, errors: { [field]: [message] } } })

export const mailersendRules: VendorRules = {
  provider: 'mailersend',
  credentials: { api_token: 'right-token-9', custom_headers: 'yes' },
  wrong: { api_token: 'wrong-token-9' },
  refusals: {
    permanent: invalid('to.0.email', 'The to.0.email must be a valid email address.'),
    transient: { status: 503, body: { message: 'Service unavailable' } },
    rateLimited: { status: 429, headers: { 'retry-after': '17' }, body: { message: 'Too Many Attempts.' } },
    misconfigured: invalid('from.email', 'The from.email domain must be verified in your account to send emails. #MS42207'),
  },
  authenticate({ headers }) {
    if (headers.authorization === 'Bearer right-token-9') return undefined
    return { status: 401, body: { message: `Unauthenticated: ${String(headers.authorization)}` } }
  },
  take(request) {
    if (!isSend(request)) return undefined
    const body = jsonBody(request)
    const named = [...emails(body['to']), ...emails(body['cc'])]
    if (emails(body['to']).length === 0 || emails(body['cc']).length > 10 || emails(body['bcc']).length > 10)
      throw new Error('wrong counts')
    if (!body['text'] && !body['html']) throw new Error('text or html is required')
    return {
      recipients: [...named, ...emails(body['bcc'])],
      named,
      fields: {
        from: emails([body['from']])[0] ?? '',
        subject: body['subject'],
        text: body['text'],
        html: body['html'],
        replyTo: body['reply_to'] === undefined ? [] : emails([body['reply_to']]),
        headers: Object.fromEntries(records(body['headers']).map(({ name, value }) => [String(name), value])),
        attachments: records(body['attachments']).map(({ filename, content }) => ({ filename, content: decoded(content) })),
      },
    }
  },
  accepted: () => ({ status: 202, headers: { 'x-message-id': '5e42957d51f1d94a1070a733' }, body: '' }),
  probed: (request) =>
    isSend(request) && Object.keys(jsonBody(request)).length === 0 ? invalid('from.email', 'The from.email field is required.') : undefined,
}
