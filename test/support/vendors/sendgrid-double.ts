/** A double of SendGrid: POST /v3/mail/send, GET /v3/scopes. */
import { decoded, jsonBody, records, type VendorRules } from './double.ts'

const emails = (list: unknown): string[] => records(list).map(({ email }) => String(email))

export const sendgridRules: VendorRules = {
  provider: 'sendgrid',
  credentials: { api_key: 'SG.right-key-1' },
  wrong: { api_key: 'SG.wrong-key-1' },
  refusals: {
    permanent: {
      status: 400,
      body: { errors: [{ message: 'The to address does not exist.', field: 'personalizations.0.to', help: null }] },
    },
    transient: { status: 503, body: { errors: [{ message: 'Service unavailable' }] } },
    rateLimited: { status: 429, headers: { 'retry-after': '17' }, body: { errors: [{ field: null, message: 'too many requests' }] } },
    misconfigured: {
      status: 403,
      body: { errors: [{ message: 'The from address does not match a verified Sender Identity.', field: 'from' }] },
    },
  },
  authenticate({ headers }) {
    if (headers.authorization === 'Bearer SG.right-key-1') return undefined
    return {
      status: 401,
      body: { errors: [{ message: `The provided authorization grant ${headers.authorization} is invalid`, field: null }] },
    }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== '/v3/mail/send') return undefined
    const body = jsonBody(request)
    const [one, ...more] = records(body['personalizations'])
    if (!one || more.length > 0) throw new Error('one personalization is a message')
    const named = [...emails(one['to']), ...emails(one['cc'])]
    const all = [...named, ...emails(one['bcc'])]
    if (emails(one['to']).length === 0) throw new Error('to is required')
    if (new Set(all.map((email) => email.toLowerCase())).size !== all.length) throw new Error('addresses must be unique')
    const contents = records(body['content'])
    if (contents.some(({ value }) => value === '')) throw new Error('the value of content must not be empty')
    const types = contents.map(({ type }) => type)
    if (types.lastIndexOf('text/plain') > types.indexOf('text/html') && types.includes('text/html'))
      throw new Error('text/plain comes before text/html')
    return {
      recipients: all,
      named,
      fields: {
        from: String((body['from'] as { email?: unknown }).email),
        subject: body['subject'],
        text: contents.find(({ type }) => type === 'text/plain')?.['value'],
        html: contents.find(({ type }) => type === 'text/html')?.['value'],
        replyTo: emails(body['reply_to_list']),
        headers: (body['headers'] ?? {}) as Record<string, unknown>,
        attachments: records(body['attachments']).map(({ filename, content }) => ({ filename, content: decoded(content) })),
      },
    }
  },
  accepted: () => ({ status: 202, headers: { 'x-message-id': 'sg-message-1' } }),
  probed: ({ method, path }) => (method === 'GET' && path === '/v3/scopes' ? { status: 200, body: { scopes: ['mail.send'] } } : undefined),
}
