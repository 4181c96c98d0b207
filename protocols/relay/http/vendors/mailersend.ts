/** MailerSend, Email API v1. It accepts fields and builds the message. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, MessageFields, NamedAddress, Vendor, VendorAnswer, VendorVerdict } from '../contract/vendor.ts'

/** Codes of the account. MS42207: unverified domain; MS42225: limits of a trial. */
const ofTheAccount = new Set(['MS42207', 'MS42225'])

const address = ({ name, address: email }: NamedAddress) => ({ email, ...(name !== '' && { name }) })
const authorization = ({ api_token = '' }: Credentials) => ({ authorization: `Bearer ${api_token}` })
const url = (base: string | undefined): string => `${base ?? 'https://api.mailersend.com'}/v1/email`

export const mailersend: Vendor = {
  provider: 'mailersend',
  title: httpProviders.mailersend.title,
  credentials: httpProviders.mailersend.credentials,
  // Limit of recipients in Cc and in Bcc.
  maxRecipients: 10,

  async send(credentials, message, { base }) {
    const fields = await message.fields()
    const { from, to, cc, bcc, replyTo, subject, text, html, attachments } = fields
    return postJson(url(base), authorization(credentials), {
      from: address(from),
      to: to.map(address),
      ...(cc.length > 0 && { cc: cc.map(address) }),
      ...(bcc.length > 0 && { bcc: bcc.map(address) }),
      // The API accepts only one address.
      ...(replyTo[0] && { reply_to: address(replyTo[0]) }),
      subject,
      ...(text !== undefined || html === undefined ? { text: text || ' ' } : {}),
      ...(html !== undefined && { html }),
      ...headersFor(credentials, fields),
      ...(attachments.length > 0 && {
        attachments: attachments.map(({ filename, content, contentId, inline }) => ({
          filename,
          content: content.toString('base64'),
          disposition: inline && contentId !== undefined ? 'inline' : 'attachment',
          ...(inline && contentId !== undefined && { id: contentId }),
        })),
      }),
      settings: { track_clicks: false, track_opens: false, track_content: false },
    })
  },

  read(answer) {
    if (answer.status !== 200 && answer.status !== 202) return refused(answer)
    const suppressed = objectsIn(jsonOf(answer)['warnings']).flatMap(({ recipients }) => objectsIn(recipients))
    const addresses = suppressed.map(({ email }) => textOf(email)).filter((email) => email !== undefined)
    return {
      kind: 'accepted',
      messageId: textOf(answer.headers['x-message-id']),
      ...(addresses.length > 0 && { refused: addresses }),
    }
  },

  // Sends an empty message. A valid token gets 422 for missing fields; a token without permission to send gets another error.
  probe: async (credentials, { base }) => postJson(url(base), authorization(credentials), {}),
  readProbe: (answer) => (answer.status === 422 ? { kind: 'accepted' } : refused(answer)),
}

/** Returns the supported header fields: threading always, others only in plans that allow them. Otherwise the API refuses the message. */
function headersFor({ custom_headers }: Credentials, { headers }: MessageFields) {
  const valueOf = (wanted: string): string | undefined => headers.find(({ name }) => name.toLowerCase() === wanted)?.value
  const inReplyTo = valueOf('in-reply-to')
  const references = valueOf('references')
    ?.split(/\s+/)
    .filter((id) => id !== '')
  const custom = custom_headers === 'yes' ? headers.filter(({ name }) => !/^(?:in-reply-to|references|message-id|date)$/i.test(name)) : []
  return {
    ...(inReplyTo !== undefined && { in_reply_to: inReplyTo }),
    ...(references !== undefined && references.length > 0 && { references }),
    ...(custom.length > 0 && { headers: custom.map(({ name, value }) => ({ name, value })) }),
  }
}

function refused(answer: VendorAnswer): VendorVerdict {
  const body = jsonOf(answer)
  const [field, problems] = Object.entries(objectsIn([body['errors']])[0] ?? {})[0] ?? []
  const message = textOf(Array.isArray(problems) ? problems[0] : problems) ?? textOf(body['message'])
  const code = /#(MS\d+)/.exec(message ?? '')?.[1]
  const verdict = verdictByStatus(answer, { code: code ?? field, message })
  const account = (code !== undefined && ofTheAccount.has(code)) || field?.startsWith('from') === true
  return account ? { ...verdict, kind: 'misconfigured' } : verdict
}
