/** Brevo, API version 3. A message is sent as JSON fields, not as MIME. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import { encodedWords } from '../contract/addressed-mime.ts'
import type { Credentials, MessageFields, NamedAddress, Vendor, VendorAnswer, VendorContext, VendorVerdict } from '../contract/vendor.ts'

/** Codes that mean wrong settings although their status blames the request. */
const misconfigured = new Set(['unauthorized', 'permission_denied', 'not_enough_credits', 'account_under_validation'])

export const brevo: Vendor = {
  provider: 'brevo',
  title: httpProviders.brevo.title,
  credentials: httpProviders.brevo.credentials,
  maxRecipients: 99,
  async send(credentials, message, context) {
    return postJson(`${origin(context)}/v3/smtp/email`, authorization(credentials), bodyOf(await message.fields()))
  },
  read(answer) {
    if (answer.status === 201 || answer.status === 202 || answer.status === 200)
      return { kind: 'accepted', messageId: textOf(jsonOf(answer)['messageId']) }
    return refusal(answer)
  },
  async probe(credentials, context) {
    return { method: 'GET', url: `${origin(context)}/v3/account`, headers: authorization(credentials) }
  },
  readProbe: (answer) => (answer.status === 200 ? { kind: 'accepted' } : refusal(answer)),
}

const origin = ({ base }: VendorContext): string => base ?? 'https://api.brevo.com'
const authorization = ({ api_key: key = '' }: Credentials) => ({ 'api-key': key })

function bodyOf({ from, to, cc, bcc, replyTo, subject, text, html, headers, attachments }: MessageFields) {
  const [reply] = replyTo
  // Brevo writes non-ASCII octets into the header unencoded, which many servers refuse.
  const kept = headers.map(({ name, value }) => ({ name, value: /^[\t -~]*$/.test(value) ? value : encodedWords(value).join(' ') }))
  return {
    sender: mailbox(from),
    to: to.map(mailbox),
    ...(cc.length > 0 && { cc: cc.map(mailbox) }),
    ...(bcc.length > 0 && { bcc: bcc.map(mailbox) }),
    // Brevo accepts only one address.
    ...(reply && { replyTo: mailbox(reply) }),
    subject,
    ...(html !== undefined && { htmlContent: html }),
    ...((text !== undefined || html === undefined) && { textContent: text ?? ' ' }),
    ...(kept.length > 0 && { headers: Object.fromEntries(kept.map(({ name, value }) => [name, value])) }),
    ...(attachments.length > 0 && {
      attachment: attachments.map((one) => ({ name: one.filename, content: one.content.toString('base64') })),
    }),
  }
}

/** The API limits names of recipients to 70 characters. */
const mailbox = ({ name, address }: NamedAddress) => ({ email: address, ...(name !== '' && { name: name.slice(0, 70).toWellFormed() }) })

/** Parses `{code, message}`. The delay before a retry is in a separate header. */
function refusal(answer: VendorAnswer): VendorVerdict {
  const { code, message } = jsonOf(answer)
  const verdict = verdictByStatus(answer, { code: textOf(code), message: textOf(message) })
  const reset = Number(answer.headers['x-sib-ratelimit-reset'] ?? Number.NaN)
  const waits = verdict.kind === 'rate_limited' && verdict.retryAfterSeconds === undefined && reset > 0 && reset <= 86_400
  if (waits) return { ...verdict, retryAfterSeconds: Math.ceil(reset) }
  return misconfigured.has(verdict.code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
