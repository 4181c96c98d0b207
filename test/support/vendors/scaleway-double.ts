/** A double of Scaleway Transactional Email: POST …/regions/{region}/emails, GET …/domains, with X-Auth-Token. */
import { bare, decoded, jsonBody, records, type DoubleAnswer, type VendorRules } from './double.ts'

const start = '/transactional-email/v1alpha1/regions/fr-par'
const emails = (list: unknown): string[] => records(list).map(({ email }) => String(email))
const invalid = (argument_name: string, help_message: string): DoubleAnswer => ({
  status: 400,
  body: { type: 'invalid_arguments', message: 'invalid argument(s)', details: [{ argument_name, reason: 'constraint', help_message }] },
})

export const scalewayRules: VendorRules = {
  provider: 'scaleway',
  credentials: { secret_key: 'right-secret-11', project_id: '6170692e-7363-616c-6577-61792e636f6d' },
  wrong: { secret_key: 'wrong-secret-11' },
  refusals: {
    permanent: invalid('to', 'is not an email address'),
    transient: { status: 409, body: { type: 'transient_state', message: 'resource is in a transient state' } },
    rateLimited: { status: 429, headers: { 'retry-after': '17' }, body: { type: 'too_many_requests', message: 'quota reached' } },
    misconfigured: invalid('from.email', 'domain is not verified in the project'),
  },
  authenticate({ headers }) {
    const token = headers['x-auth-token']
    if (token === 'right-secret-11') return undefined
    return { status: 401, body: { type: 'denied_authentication', message: `authentication is denied for ${String(token)}` } }
  },
  take(request) {
    if (request.method !== 'POST' || request.path !== `${start}/emails`) return undefined
    const body = jsonBody(request)
    if (body['project_id'] !== '6170692e-7363-616c-6577-61792e636f6d') throw new Error('project_id is missing')
    if (!body['text'] && !body['html']) throw new Error('text or html is required')
    const named = [...emails(body['to']), ...emails(body['cc'])]
    const all = Object.fromEntries(records(body['additional_headers']).map(({ key, value }) => [String(key), value]))
    const { 'Reply-To': replyTo, ...headers } = all
    return {
      recipients: [...named, ...emails(body['bcc'])],
      named,
      fields: {
        from: emails([body['from']])[0] ?? '',
        subject: body['subject'],
        text: body['text'],
        html: body['html'],
        replyTo: replyTo === undefined ? [] : [bare(replyTo)],
        headers,
        attachments: records(body['attachments']).map(({ name, content }) => ({ filename: name, content: decoded(content) })),
      },
    }
  },
  accepted: ({ recipients }) => ({
    status: 200,
    body: { emails: recipients.map((address, at) => ({ id: `email-${at}`, message_id: `m-${at}`, mail_rcpt: address, status: 'new' })) },
  }),
  probed: ({ method, path }) =>
    method === 'GET' && path === `${start}/domains?project_id=6170692e-7363-616c-6577-61792e636f6d&page_size=1`
      ? { status: 403, body: { type: 'permissions_denied', message: 'insufficient permissions' } }
      : undefined,
}
