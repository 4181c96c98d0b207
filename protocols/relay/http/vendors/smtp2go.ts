/** SMTP2GO, API v3. It takes recipients from To and Cc of the stored message. Messages with hidden recipients are sent as fields. */
import { httpProviders } from '#config/mail/providers.ts'
import { addressedMime } from '../contract/addressed-mime.ts'
import { addressesIn, jsonOf, mailboxText, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, MessageFields, Vendor, VendorAnswer, VendorVerdict } from '../contract/vendor.ts'

const origins: Readonly<Record<string, string>> = {
  global: 'https://api.smtp2go.com',
  us: 'https://us-api.smtp2go.com',
  eu: 'https://eu-api.smtp2go.com',
  au: 'https://au-api.smtp2go.com',
}

const key = ({ api_key = '' }: Credentials) => ({ 'x-smtp2go-api-key': api_key })
const origin = (base: string | undefined, { region = 'global' }: Credentials): string =>
  base ?? origins[region] ?? 'https://api.smtp2go.com'

export const smtp2go: Vendor = {
  provider: 'smtp2go',
  title: httpProviders.smtp2go.title,
  credentials: httpProviders.smtp2go.credentials,
  maxRecipients: 100,

  async send(credentials, message, { base }) {
    const start = `${origin(base, credentials)}/v3/email`
    const { mime, hidden } = await addressedMime(message)
    // The documentation does not say whether a Bcc field is removed before sending, so it is never sent.
    if (hidden.length > 0) return postJson(`${start}/send`, key(credentials), standardEmail(await message.fields()))
    return postJson(`${start}/mime`, key(credentials), { mime_email: mime.toString('base64') })
  },

  read(answer) {
    const data = dataOf(answer)
    if (answer.status !== 200 || data['error_code'] !== undefined) return refused(answer)
    const failures = JSON.stringify(data['failures'] ?? [])
    if (data['succeeded'] === 0) return { kind: 'permanent', code: 'failed', message: `SMTP2GO refused every recipient: ${failures}` }
    const addresses = addressesIn(failures)
    return { kind: 'accepted', messageId: textOf(data['email_id']), ...(addresses.length > 0 && { refused: addresses }) }
  },

  // Reads the usage of the plan. A key without permission for it is still valid.
  probe: async (credentials, { base }) => postJson(`${origin(base, credentials)}/v3/stats/email_cycle`, key(credentials), {}),
  readProbe(answer) {
    const known = answer.status === 200 || /PERMISSION/.test(textOf(dataOf(answer)['error_code']) ?? '')
    return known ? { kind: 'accepted' } : refused(answer)
  },
}

function standardEmail({ from, to, cc, bcc, replyTo, subject, text, html, headers, attachments }: MessageFields) {
  const file = ({ filename, contentType, content }: MessageFields['attachments'][number]) => ({
    filename,
    mimetype: contentType,
    fileblob: content.toString('base64'),
  })
  const inline = attachments.filter((one) => one.inline && one.contentId !== undefined)
  const others = headers.filter(({ name }) => !/^(?:content-type|content-transfer-encoding|mime-version)$/i.test(name))
  return {
    sender: mailboxText(from),
    to: to.map(mailboxText),
    cc: cc.map(mailboxText),
    bcc: bcc.map(mailboxText),
    subject,
    ...(text !== undefined || html === undefined ? { text_body: text || ' ' } : {}),
    ...(html !== undefined && { html_body: html }),
    custom_headers: [
      ...others.map(({ name, value }) => ({ header: name, value })),
      ...(replyTo.length > 0 ? [{ header: 'Reply-To', value: replyTo.map(mailboxText).join(', ') }] : []),
    ],
    attachments: attachments.filter((one) => !inline.includes(one)).map(file),
    // The HTML refers to an inline image by its file name.
    inlines: inline.map((one) => ({ ...file(one), filename: one.contentId ?? one.filename })),
  }
}

function dataOf(answer: VendorAnswer): Readonly<Record<string, unknown>> {
  return objectsIn([jsonOf(answer)['data']])[0] ?? {}
}

function refused(answer: VendorAnswer): VendorVerdict {
  const data = dataOf(answer)
  const code = textOf(data['error_code'])?.replace('E_ApiResponseCodes.', '')
  const verdict = verdictByStatus(answer, { code, message: textOf(data['error']) })
  // 402 means a valid request that could not be processed.
  if (answer.status === 402 || code === 'API_EXCEPTION') return { ...verdict, kind: 'transient' }
  return code !== undefined && /PERMISSION|API_?KEY|ENDPOINT/.test(code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
