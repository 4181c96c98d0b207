/** Resend: the message in fields, with an idempotency key, so that a repeated attempt sends no second message. */
import { createHash } from 'node:crypto'
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, mailboxText, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, MessageFields, Vendor, VendorAnswer, VendorContext, VendorVerdict } from '../contract/vendor.ts'

export const resend: Vendor = {
  provider: 'resend',
  title: httpProviders.resend.title,
  credentials: httpProviders.resend.credentials,
  maxRecipients: 50,
  async send(credentials, message, context) {
    const body = bodyOf(await message.fields())
    // The key includes the recipients, because a retry for some of them is a different request.
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url')
    const headers = { ...authorization(credentials), 'idempotency-key': `${message.traceId}/${digest}` }
    return postJson(`${origin(context)}/emails`, headers, body)
  },
  read(answer) {
    if (answer.status === 200 || answer.status === 201) return { kind: 'accepted', messageId: textOf(jsonOf(answer)['id']) }
    return refusal(answer)
  },
  async probe(credentials, context) {
    return { method: 'GET', url: `${origin(context)}/domains`, headers: authorization(credentials) }
  },
  // A valid key that can only send gets this error.
  readProbe: (answer) =>
    answer.status === 200 || jsonOf(answer)['name'] === 'restricted_api_key' ? { kind: 'accepted' } : refusal(answer),
}

const origin = ({ base }: VendorContext): string => base ?? 'https://api.resend.com'
const authorization = ({ api_key: key = '' }: Credentials) => ({ authorization: `Bearer ${key}` })

function bodyOf({ from, to, cc, bcc, replyTo, subject, text, html, headers, attachments }: MessageFields) {
  return {
    from: mailboxText(from),
    to: to.map(mailboxText),
    ...(cc.length > 0 && { cc: cc.map(mailboxText) }),
    ...(bcc.length > 0 && { bcc: bcc.map(mailboxText) }),
    ...(replyTo.length > 0 && { reply_to: replyTo.map(mailboxText) }),
    subject,
    ...(html !== undefined && { html }),
    // The API refuses a message without a text.
    ...((text !== undefined || html === undefined) && { text: text ?? ' ' }),
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    ...(attachments.length > 0 && {
      attachments: attachments.map((one) => ({
        filename: one.filename,
        content: one.content.toString('base64'),
        content_type: one.contentType,
        ...(one.contentId !== undefined && one.inline && { content_id: one.contentId }),
      })),
    }),
  }
}

/** `{statusCode, name, message}` */
function refusal(answer: VendorAnswer): VendorVerdict {
  const { name, message } = jsonOf(answer)
  return verdictByStatus(answer, { code: textOf(name), message: textOf(message) })
}
