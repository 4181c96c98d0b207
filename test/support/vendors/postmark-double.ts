/** A double of Postmark: POST /email, GET /server. */
import { bare, decoded, jsonBody, records, type VendorRules } from './double.ts'

/** A list of mailboxes as text; names are quoted. */
const addresses = (text: unknown): string[] =>
  typeof text !== 'string' ? [] : (text.match(/(?:"(?:[^"\\]|\\.)*" )?<?[^,]+/g) ?? []).map((entry) => bare(entry.trim()))

export const postmarkRules: VendorRules = {
  provider: 'postmark',
  credentials: { server_token: 'right-token-4', message_stream: 'shop' },
  wrong: { server_token: 'wrong-token-4' },
  refusals: {
    permanent: { status: 422, body: { ErrorCode: 406, Message: 'You tried to send to a recipient that has been marked as inactive.' } },
    transient: { status: 503, body: { ErrorCode: 100, Message: 'The Postmark API is offline for maintenance.' } },
    rateLimited: { status: 429, headers: { 'retry-after': '17' }, body: { ErrorCode: 429, Message: 'Rate limit exceeded.' } },
    misconfigured: {
      status: 422,
      body: { ErrorCode: 412, Message: 'While your account is pending approval, all recipient addresses must share the same domain.' },
    },
  },
  authenticate({ headers }) {
    const token = headers['x-postmark-server-token']
    return token === 'right-token-4'
      ? undefined
      : { status: 401, body: { ErrorCode: 10, Message: `Request does not contain a valid Server token: ${String(token)}` } }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== '/email') return undefined
    const body = jsonBody(request)
    if (body['MessageStream'] !== 'shop') throw new Error('the message stream is another one')
    const named = [...addresses(body['To']), ...addresses(body['Cc'])]
    const recipients = [...named, ...addresses(body['Bcc'])]
    if (addresses(body['To']).length === 0 || recipients.length > 50) throw new Error('one to 50 recipients')
    if (body['TextBody'] === undefined && body['HtmlBody'] === undefined) throw new Error('a text is required')
    return {
      recipients,
      named,
      fields: {
        from: bare(body['From']),
        subject: body['Subject'],
        text: body['TextBody'],
        html: body['HtmlBody'],
        replyTo: addresses(body['ReplyTo']),
        headers: Object.fromEntries(records(body['Headers']).map(({ Name, Value }) => [Name, Value])),
        attachments: records(body['Attachments']).map(({ Name, Content }) => ({ filename: Name, content: decoded(Content) })),
      },
    }
  },
  accepted: ({ recipients }) => ({
    status: 200,
    body: {
      To: recipients.join(),
      SubmittedAt: '2026-11-21T10:00:00Z',
      MessageID: 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817',
      ErrorCode: 0,
      Message: 'OK',
    },
  }),
  probed: ({ method, path }) => (method === 'GET' && path === '/server' ? { status: 200, body: { ID: 1, Name: 'shop' } } : undefined),
}
