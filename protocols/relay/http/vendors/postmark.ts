/** Postmark: the message in fields. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, mailboxText, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, MessageFields, NamedAddress, Vendor, VendorAnswer, VendorContext, VendorVerdict } from '../contract/vendor.ts'

/** Error codes that mean wrong settings: token, sender signature, credits, account under review, message stream. */
const misconfigured = new Set([10, 400, 401, 405, 412, 413, 1226, 1235])

export const postmark: Vendor = {
  provider: 'postmark',
  title: httpProviders.postmark.title,
  credentials: httpProviders.postmark.credentials,
  maxRecipients: 50,
  async send(credentials, message, context) {
    return postJson(`${origin(context)}/email`, authorization(credentials), bodyOf(credentials, await message.fields()))
  },
  read(answer) {
    const body = jsonOf(answer)
    if (answer.status !== 200 || errorCodeOf(body) !== undefined) return refusal(answer)
    return { kind: 'accepted', messageId: textOf(body['MessageID']), refused: inactive(textOf(body['Message']) ?? '') }
  },
  async probe(credentials, context) {
    return { method: 'GET', url: `${origin(context)}/server`, headers: authorization(credentials) }
  },
  readProbe: (answer) => (answer.status === 200 ? { kind: 'accepted' } : refusal(answer)),
}

/** Undefined if the request succeeded. A 200 without a readable code is a success: a retry would send the message twice. */
const errorCodeOf = ({ ErrorCode: code }: Readonly<Record<string, unknown>>): number | undefined =>
  typeof code === 'number' && code !== 0 ? code : undefined

const origin = ({ base }: VendorContext): string => base ?? 'https://api.postmarkapp.com'
const authorization = ({ server_token: token = '' }: Credentials) => ({ 'x-postmark-server-token': token })

function bodyOf({ message_stream: stream }: Credentials, fields: MessageFields) {
  const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = fields
  const kept = headers.map(({ name, value }) => ({ Name: name, Value: value }))
  // Without this field Postmark sets another Message-ID, so that replies would not match.
  if (kept.some(({ Name }) => Name.toLowerCase() === 'message-id')) kept.push({ Name: 'X-PM-KeepID', Value: 'true' })
  return {
    From: mailboxText(from),
    To: list(to),
    ...(cc.length > 0 && { Cc: list(cc) }),
    ...(bcc.length > 0 && { Bcc: list(bcc) }),
    ...(replyTo.length > 0 && { ReplyTo: list(replyTo) }),
    Subject: subject,
    ...(html !== undefined && { HtmlBody: html }),
    // The API refuses a message without a text.
    ...((text !== undefined || html === undefined) && { TextBody: text ?? ' ' }),
    Headers: kept,
    ...(attachments.length > 0 && {
      Attachments: attachments.map((one) => ({
        Name: one.filename,
        Content: one.content.toString('base64'),
        ContentType: one.contentType,
        ...(one.contentId !== undefined && one.inline && { ContentID: `cid:${one.contentId}` }),
      })),
    }),
    ...(stream !== undefined && { MessageStream: stream }),
  }
}

const list = (addresses: readonly NamedAddress[]): string => addresses.map(mailboxText).join(', ')
/** Returns the refused addresses of a partly accepted message, which are in the answer's text. */
function inactive(message: string): string[] {
  const [, named] = /will not deliver to (?:these|the following) inactive (?:addresses|recipients): (.*)/i.exec(message) ?? []
  return named?.match(/[^\s,;<>]+@[^\s,;<>]*[^\s,;<>.]/g) ?? []
}

/** `{ErrorCode, Message}` */
function refusal(answer: VendorAnswer): VendorVerdict {
  const body = jsonOf(answer)
  const code = errorCodeOf(body)
  const verdict = verdictByStatus(answer, { code: code?.toString(), message: textOf(body['Message']) })
  if (code !== undefined && misconfigured.has(code)) return { ...verdict, kind: 'misconfigured' }
  return answer.status === 200 ? { ...verdict, kind: 'permanent' } : verdict
}
