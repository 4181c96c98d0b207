/** SparkPost, Transmissions API. It sends the stored message. */
import { isUtf8 } from 'node:buffer'
import { httpProviders } from '#config/mail/providers.ts'
import { addressesIn, jsonOf, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import { headerFields } from '../contract/addressed-mime.ts'
import { VendorRefusal, type Credentials, type Vendor, type VendorAnswer, type VendorVerdict } from '../contract/vendor.ts'

const origins: Readonly<Record<string, string>> = { us: 'https://api.sparkpost.com', eu: 'https://api.eu.sparkpost.com' }

/** Disables tracking and substitutions. */
const options = { transactional: true, open_tracking: false, click_tracking: false, perform_substitutions: false }

/** 7001: the sending domain is not configured in this account; 1901 and 5005: the account may not send in this way. */
const ofTheAccount = new Set(['7001', '1901', '5005'])

const origin = (base: string | undefined, { region = 'us' }: Credentials): string => base ?? origins[region] ?? 'https://api.sparkpost.com'

export const sparkpost: Vendor = {
  provider: 'sparkpost',
  title: httpProviders.sparkpost.title,
  credentials: httpProviders.sparkpost.credentials,

  async send(credentials, message, { base }) {
    const mime = await message.mime()
    if (!isUtf8(mime)) throw new VendorRefusal({ kind: 'permanent', code: 'not_utf8', message: notUtf8(mime) })
    return postJson(
      `${origin(base, credentials)}/api/v1/transmissions?num_rcpt_errors=${message.rcptTo.length}`,
      { authorization: credentials['api_key'] ?? '' },
      {
        options,
        metadata: { trace_id: message.traceId },
        recipients: message.rcptTo.map((email) => ({ address: { email } })),
        content: { email_rfc822: mime.toString('utf8') },
      },
    )
  },

  read(answer) {
    if (answer.status !== 200) return refused(answer)
    const [results = {}] = objectsIn([jsonOf(answer)['results']])
    const errors = objectsIn(results['rcpt_to_errors']).map(({ description }) => textOf(description) ?? '')
    if (results['total_accepted_recipients'] === 0)
      return { kind: 'permanent', code: 'rejected', message: errors[0] ?? 'SparkPost rejected every recipient.' }
    const addresses = addressesIn(errors.join(' '))
    return { kind: 'accepted', messageId: textOf(results['id']), ...(addresses.length > 0 && { refused: addresses }) }
  },

  // Lists scheduled transmissions, which requires the same permission as sending.
  probe: async (credentials, { base }) => ({
    method: 'GET',
    url: `${origin(base, credentials)}/api/v1/transmissions`,
    headers: { authorization: credentials['api_key'] ?? '' },
  }),
}

/** Names the first header field with non-UTF-8 octets. Otherwise the octets are in the body. */
function notUtf8(mime: Buffer): string {
  const field = headerFields(mime)
    .find(({ text }) => !isUtf8(Buffer.from(text, 'latin1')))
    ?.text.split(':', 1)[0]
  const [place, remedy] =
    field === undefined
      ? ['a part', 'Encode its parts as base64 or quoted-printable.']
      : [`the header field ${field}`, 'Encode it in UTF-8 or as encoded words (RFC 2047).']
  return `SparkPost requires UTF-8, and ${place} of this message contains other bytes. ${remedy}`
}

function refused(answer: VendorAnswer): VendorVerdict {
  const [error = {}] = objectsIn(jsonOf(answer)['errors'])
  const code = textOf(error['code'])
  const details = [textOf(error['message']), textOf(error['description'])].filter((word) => word !== undefined).join(': ')
  const verdict = verdictByStatus(answer, { code, message: details || undefined })
  // 420: an hourly, daily or monthly sending limit of the account.
  if (answer.status === 420) return { ...verdict, kind: 'rate_limited' }
  return code !== undefined && ofTheAccount.has(code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
