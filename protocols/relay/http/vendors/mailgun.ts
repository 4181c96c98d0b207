/** Mailgun, in both regions: sends the stored message. */
import { randomUUID } from 'node:crypto'
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, Vendor, VendorAnswer, VendorContext, VendorRequest, VendorVerdict } from '../contract/vendor.ts'

export const mailgun: Vendor = {
  provider: 'mailgun',
  title: httpProviders.mailgun.title,
  credentials: httpProviders.mailgun.credentials,
  maxRecipients: 1000,
  async send(credentials, message, context) {
    return form(credentials, context, message.rcptTo, await message.mime())
  },
  read(answer) {
    if (answer.status === 200) return { kind: 'accepted', messageId: textOf(jsonOf(answer)['id']) }
    return refusal(answer)
  },
  // A sending key can only send. A message without recipients gets 400 after the key and the domain were checked.
  probe: async (credentials, context) => form(credentials, context, []),
  readProbe: (answer) => (answer.status === 400 || answer.status === 200 ? { kind: 'accepted' } : refusal(answer)),
}

function form(credentials: Credentials, { base }: VendorContext, recipients: readonly string[], mime?: Buffer): VendorRequest {
  const { domain = '', region, api_key: key = '' } = credentials
  const origin = base ?? (region === 'eu' ? 'https://api.eu.mailgun.net' : 'https://api.mailgun.net')
  const boundary = `postern-${randomUUID()}`
  const part = (name: string, more = ''): string => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
  const fields = recipients.map((address) => `${part('to')}${address}\r\n`).join('')
  const file = mime && [part('message', '; filename="message.eml"\r\nContent-Type: message/rfc822'), mime, '\r\n']
  const pieces = [fields, ...(file ?? []), `--${boundary}--\r\n`]
  return {
    method: 'POST',
    url: `${origin}/v3/${encodeURIComponent(domain)}/messages.mime`,
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))),
  }
}

/** Parses `{message}`, or plain text for a wrong key. */
function refusal(answer: VendorAnswer): VendorVerdict {
  const message = textOf(jsonOf(answer)['message']) ?? textOf(answer.text.trim())
  const verdict = verdictByStatus(answer, { message })
  const isUnready = /domain .*(not allowed|unverified|disabled|not activated)|authorized recipients/i.test(message ?? '')
  return { ...verdict, kind: isUnready && verdict.kind === 'permanent' ? 'misconfigured' : verdict.kind }
}
