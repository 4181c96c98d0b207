/** A double of Mailjet: POST /v3.1/send, GET /v3/REST/sender, both with Basic authentication. */
import { decoded, jsonBody, records, type DoubleAnswer, type VendorRules } from './double.ts'

const emails = (list: unknown): string[] => records(list).map(({ Email }) => String(Email))

/** An error of the single message, as in an answer. */
const failure = (status: number, code: string, message: string): DoubleAnswer => ({
  status,
  body: {
    Messages: [{ Status: 'error', Errors: [{ ErrorIdentifier: 'f987008f', ErrorCode: code, StatusCode: status, ErrorMessage: message }] }],
  },
})

export const mailjetRules: VendorRules = {
  provider: 'mailjet',
  credentials: { api_key: 'right-id-7', secret_key: 'right-secret-7' },
  wrong: { secret_key: 'wrong-secret-7' },
  refusals: {
    permanent: failure(400, 'mj-0013', '"anna@peer.test" is an invalid email address.'),
    transient: { status: 500, body: { ErrorIdentifier: 'f987008f', ErrorMessage: 'Something went wrong.', StatusCode: 500 } },
    rateLimited: {
      status: 429,
      headers: { 'retry-after': '17' },
      body: { ErrorIdentifier: 'f987008f', ErrorMessage: 'Too many requests.', StatusCode: 429 },
    },
    misconfigured: failure(400, 'send-0008', '"shop@site.test" is not an authorized sender email address for your account.'),
  },
  authenticate({ headers }) {
    const login = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
    if (login === 'right-id-7:right-secret-7') return undefined
    return { status: 401, body: { ErrorIdentifier: 'f987008f', StatusCode: 401, ErrorMessage: `API key authentication failed: ${login}` } }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== '/v3.1/send') return undefined
    const [message = {}, ...others] = records(jsonBody(request)['Messages'])
    if (others.length > 0) throw new Error('one message was expected')
    const headers = (message['Headers'] ?? {}) as Record<string, unknown>
    const refused = Object.keys(headers).find((name) => /^(?:from|to|subject|reply-to|message-id|date)$/i.test(name))
    if (refused) throw new Error(`send-0011: ${refused}`)
    if (!message['TextPart'] && !message['HTMLPart']) throw new Error('send-0003: at least TextPart or HTMLPart')
    const named = [...emails(message['To']), ...emails(message['Cc'])]
    const recipients = [...named, ...emails(message['Bcc'])]
    if (emails(message['To']).length === 0 || recipients.length > 50) throw new Error('mj-0003: from 1 to 50 recipients')
    return {
      recipients,
      named,
      fields: {
        from: emails([message['From']])[0] ?? '',
        subject: message['Subject'],
        text: message['TextPart'],
        html: message['HTMLPart'],
        replyTo: message['ReplyTo'] === undefined ? [] : emails([message['ReplyTo']]),
        headers,
        attachments: records(message['Attachments']).map((one) => ({ filename: one['Filename'], content: decoded(one['Base64Content']) })),
      },
    }
  },
  accepted: ({ recipients }) => ({
    status: 200,
    body: {
      Messages: [
        {
          Status: 'success',
          To: recipients.map((Email, at) => ({ Email, MessageUUID: `uuid-${at}`, MessageID: 456 + at })),
          Cc: [],
          Bcc: [],
        },
      ],
    },
  }),
  probed: ({ method, path }) =>
    method === 'GET' && path === '/v3/REST/sender?Limit=1' ? { status: 200, body: { Count: 0, Data: [], Total: 0 } } : undefined,
}
