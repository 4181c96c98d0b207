/** Scaleway Transactional Email, API v1alpha1. It accepts fields and creates a message for each recipient. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, mailboxText, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import type { Credentials, NamedAddress, Vendor, VendorAnswer, VendorVerdict } from '../contract/vendor.ts'

const address = ({ name, address: email }: NamedAddress) => ({ email, ...(name !== '' && { name }) })
const token = ({ secret_key = '' }: Credentials) => ({ 'x-auth-token': secret_key })
const start = (base: string | undefined, { region = 'fr-par' }: Credentials): string =>
  `${base ?? 'https://api.scaleway.com'}/transactional-email/v1alpha1/regions/${region}`

export const scaleway: Vendor = {
  provider: 'scaleway',
  title: httpProviders.scaleway.title,
  credentials: httpProviders.scaleway.credentials,
  // Default quota of an organization.
  maxRecipients: 10,

  async send(credentials, message, { base }) {
    const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = await message.fields()
    const additional = headers.map(({ name, value }) => ({ key: name, value }))
    if (replyTo.length > 0) additional.push({ key: 'Reply-To', value: replyTo.map(mailboxText).join(', ') })
    return postJson(`${start(base, credentials)}/emails`, token(credentials), {
      project_id: credentials['project_id'],
      from: address(from),
      to: to.map(address),
      cc: cc.map(address),
      bcc: bcc.map(address),
      subject,
      ...(text !== undefined || html === undefined ? { text: text || ' ' } : {}),
      ...(html !== undefined && { html }),
      additional_headers: additional,
      // The API has no inline parts, so an inline image becomes a normal attachment.
      attachments: attachments.map(({ filename, contentType, content }) => ({
        name: filename,
        type: contentType,
        content: content.toString('base64'),
      })),
    })
  },

  read(answer) {
    if (answer.status !== 200) return refused(answer)
    const all = objectsIn(jsonOf(answer)['emails'])
    const failed = all.filter(({ status }) => status === 'failed')
    const addresses = failed.map((one) => textOf(one['mail_rcpt']) ?? textOf(one['rcpt_to'])).filter((one) => one !== undefined)
    if (failed.length > 0 && failed.length === all.length) {
      const details = textOf(failed[0]?.['status_details']) ?? 'Scaleway rejected every recipient.'
      return { kind: 'permanent', code: 'failed', message: details }
    }
    return { kind: 'accepted', messageId: textOf(all[0]?.['id']), ...(addresses.length > 0 && { refused: addresses }) }
  },

  probe: async (credentials, { base }) => ({
    method: 'GET',
    url: `${start(base, credentials)}/domains?project_id=${encodeURIComponent(credentials['project_id'] ?? '')}&page_size=1`,
    headers: token(credentials),
  }),
  // A valid key may send without permission to read domains.
  readProbe(answer) {
    const known = answer.status === 200 || (answer.status === 403 && jsonOf(answer)['type'] === 'permissions_denied')
    return known ? { kind: 'accepted' } : refused(answer)
  },
}

function refused(answer: VendorAnswer): VendorVerdict {
  const body = jsonOf(answer)
  const type = textOf(body['type'])
  const [first = {}] = objectsIn(body['details'])
  const argument = textOf(first['argument_name']) ?? ''
  const why = textOf(first['help_message']) ?? textOf(first['reason'])
  const details = [textOf(body['message']), [argument, why].filter(Boolean).join(' ')].filter(Boolean).join(': ')
  const verdict = verdictByStatus(answer, { code: type, message: details || undefined })
  if (type === 'quotas_exceeded' || type === 'too_many_requests') return { ...verdict, kind: 'rate_limited' }
  // The sender's domain and the project are settings. All other arguments belong to the message.
  if (type === 'invalid_arguments' && /^(?:from|project_id|region)/.test(argument)) return { ...verdict, kind: 'misconfigured' }
  return type === 'transient_state' || type === 'precondition_failed' ? { ...verdict, kind: 'transient' } : verdict
}
