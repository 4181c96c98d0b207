/** Twilio SendGrid, Web API version 3: the message in fields. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, MessageFields, NamedAddress, Vendor, VendorAnswer, VendorContext, VendorVerdict } from '../contract/vendor.ts'

/** Header fields that SendGrid sets and refuses in requests. */
const reserved = new Set(['x-sg-id', 'x-sg-eid', 'received', 'dkim-signature', 'content-type', 'content-transfer-encoding'])

export const sendgrid: Vendor = {
  provider: 'sendgrid',
  title: httpProviders.sendgrid.title,
  credentials: httpProviders.sendgrid.credentials,
  maxRecipients: 1000,
  async send(credentials, message, context) {
    return postJson(`${origin(credentials, context)}/v3/mail/send`, authorization(credentials), bodyOf(await message.fields()))
  },
  read(answer) {
    if (answer.status === 202 || answer.status === 200) return { kind: 'accepted', messageId: textOf(answer.headers['x-message-id']) }
    return refusal(answer)
  },
  async probe(credentials, context) {
    return { method: 'GET', url: `${origin(credentials, context)}/v3/scopes`, headers: authorization(credentials) }
  },
  readProbe(answer) {
    if (answer.status !== 200) return refusal(answer)
    const { scopes } = jsonOf(answer)
    if (Array.isArray(scopes) && scopes.includes('mail.send')) return { kind: 'accepted' }
    return { kind: 'misconfigured', code: 'mail.send', message: 'The API key lacks the permission Mail Send.' }
  },
}

const origin = ({ region }: Credentials, { base }: VendorContext): string =>
  base ?? (region === 'eu' ? 'https://api.eu.sendgrid.com' : 'https://api.sendgrid.com')

const authorization = ({ api_key: key = '' }: Credentials) => ({ authorization: `Bearer ${key}` })

function bodyOf({ from, to, cc, bcc, replyTo, subject, text, html, headers, attachments }: MessageFields) {
  const content = [
    ...(text === undefined ? [] : [{ type: 'text/plain', value: text }]),
    ...(html === undefined ? [] : [{ type: 'text/html', value: html }]),
  ]
  const kept = headers.filter(({ name }) => !reserved.has(name.toLowerCase()))
  return {
    personalizations: [
      { to: to.map(mailbox), ...(cc.length > 0 && { cc: cc.map(mailbox) }), ...(bcc.length > 0 && { bcc: bcc.map(mailbox) }) },
    ],
    from: mailbox(from),
    ...(replyTo.length > 0 && { reply_to_list: replyTo.map(mailbox) }),
    subject,
    // The API refuses a message without a text or with an empty one.
    content: content.length > 0 ? content : [{ type: 'text/plain', value: ' ' }],
    ...(kept.length > 0 && { headers: Object.fromEntries(kept.map(({ name, value }) => [name, value])) }),
    ...(attachments.length > 0 && {
      attachments: attachments.map((one) => ({
        content: one.content.toString('base64'),
        filename: one.filename,
        type: one.contentType,
        disposition: one.inline ? 'inline' : 'attachment',
        ...(one.contentId !== undefined && { content_id: one.contentId }),
      })),
    }),
  }
}

const mailbox = ({ name, address }: NamedAddress) => ({ email: address, ...(name !== '' && { name }) })

/** `{errors: [{message, field, help}]}` */
function refusal(answer: VendorAnswer): VendorVerdict {
  const { errors } = jsonOf(answer)
  const messages = (Array.isArray(errors) ? errors : []).map((one: unknown) => {
    const { message, field } = Object(one) as { readonly message?: unknown; readonly field?: unknown }
    return [textOf(field), textOf(message)].filter((word) => word !== undefined).join(': ')
  })
  return verdictByStatus(answer, { message: messages.filter((line) => line !== '').join('; ') || undefined })
}
