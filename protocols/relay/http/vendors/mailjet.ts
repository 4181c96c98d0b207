/** Mailjet, Send API v3.1. It accepts fields and builds the message. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, NamedAddress, Vendor, VendorAnswer, VendorVerdict } from '../contract/vendor.ts'

const origins: Readonly<Record<string, string>> = { eu: 'https://api.mailjet.com', us: 'https://api.us.mailjet.com' }

/** Header fields that Mailjet sets and refuses in requests (`send-0011`). */
const reserved =
  /^(?:from|sender|subject|to|cc|bcc|reply-to|return-path|delivered-to|date|message-id|list-id|received.*|dkim-signature|domainkey-status|authentication-results|user-agent|x-mailer|x-feedback-id|x-csa-complaints|x-mj-.*|x-mailjet-.*)$/i

/** Codes of the account. `send-0008`: the sender is not validated. */
const ofTheAccount = new Set(['send-0008', 'mj-0016'])

const address = ({ name, address: email }: NamedAddress) => ({ Email: email, ...(name !== '' && { Name: name }) })
const authorization = ({ api_key = '', secret_key = '' }: Credentials) => ({
  authorization: `Basic ${Buffer.from(`${api_key}:${secret_key}`).toString('base64')}`,
})
const origin = (base: string | undefined, { region = 'eu' }: Credentials): string => base ?? origins[region] ?? 'https://api.mailjet.com'

export const mailjet: Vendor = {
  provider: 'mailjet',
  title: httpProviders.mailjet.title,
  credentials: httpProviders.mailjet.credentials,
  maxRecipients: 50,

  async send(credentials, message, { base }) {
    const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = await message.fields()
    const file = ({ filename, contentType, content }: (typeof attachments)[number]) => ({
      Filename: filename,
      ContentType: contentType,
      Base64Content: content.toString('base64'),
    })
    const inline = attachments.filter((one) => one.inline && one.contentId !== undefined)
    return postJson(`${origin(base, credentials)}/v3.1/send`, authorization(credentials), {
      Messages: [
        {
          From: address(from),
          To: to.map(address),
          Cc: cc.map(address),
          Bcc: bcc.map(address),
          // The API accepts only one address.
          ...(replyTo[0] && { ReplyTo: address(replyTo[0]) }),
          Subject: subject,
          // The API refuses a message without a text.
          ...(text !== undefined || html === undefined ? { TextPart: text || ' ' } : {}),
          ...(html !== undefined && { HTMLPart: html }),
          Headers: Object.fromEntries(headers.filter(({ name }) => !reserved.test(name)).map(({ name, value }) => [name, value])),
          Attachments: attachments.filter((one) => !inline.includes(one)).map(file),
          InlinedAttachments: inline.map((one) => ({ ...file(one), ContentID: one.contentId })),
          CustomID: message.traceId,
          TrackOpens: 'disabled',
          TrackClicks: 'disabled',
        },
      ],
    })
  },

  read(answer) {
    const [first = {}] = objectsIn(jsonOf(answer)['Messages'])
    if (answer.status !== 200 || first['Status'] === 'error') return refused(answer, first)
    return { kind: 'accepted', messageId: textOf(objectsIn(first['To'])[0]?.['MessageUUID']) }
  },

  // Lists the senders of the account, which every key may read.
  probe: async (credentials, { base }) => ({
    method: 'GET',
    url: `${origin(base, credentials)}/v3/REST/sender?Limit=1`,
    headers: authorization(credentials),
  }),
}

/** Parses an error. It is in the message, or at the top level if there is no message. */
function refused(answer: VendorAnswer, message: Readonly<Record<string, unknown>>): VendorVerdict {
  const [error = jsonOf(answer)] = objectsIn(message['Errors'])
  const code = textOf(error['ErrorCode'])
  // An error of the message has a separate status.
  const own = Number(error['StatusCode'])
  const status = Number.isInteger(own) && own >= 400 ? own : answer.status === 200 ? 400 : answer.status
  const verdict = verdictByStatus({ ...answer, status }, { code, message: textOf(error['ErrorMessage']) })
  return code !== undefined && ofTheAccount.has(code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
