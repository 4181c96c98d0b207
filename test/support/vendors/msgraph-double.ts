/** A double of Microsoft Graph and its token endpoint. The recipients are in the header of the message. */
import { headerAddresses } from './addressed-by-header.ts'
import { type DoubleAnswer, type SeenRequest, type VendorRules } from './double.ts'

const isSend = ({ method, path }: SeenRequest): boolean => method === 'POST' && path === '/v1.0/users/shop%40site.test/sendMail'
const isToken = ({ method, path }: SeenRequest): boolean => method === 'POST' && path === '/site.test/oauth2/v2.0/token'
const failure = (status: number, code: string, message: string, headers = {}): DoubleAnswer => ({
  status,
  headers,
  body: { error: { code, message } },
})

function tokenAnswer({ body }: SeenRequest): DoubleAnswer {
  const form = Object.fromEntries(new URLSearchParams(body.toString()))
  const good = form['client_id'] === 'app-12' && form['client_secret'] === 'right-secret-12'
  if (!good || form['grant_type'] !== 'client_credentials' || form['scope'] !== 'https://graph.microsoft.com/.default')
    return { status: 401, body: { error: 'invalid_client', error_description: `AADSTS7000215: not ${String(form['client_secret'])}` } }
  return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: 'graph-token' } }
}

export const msgraphRules: VendorRules = {
  provider: 'msgraph',
  addressedByHeader: true,
  asksFirst: true,
  credentials: { tenant: 'site.test', client_id: 'app-12', client_secret: 'right-secret-12', mailbox: 'shop@site.test' },
  wrong: { client_secret: 'wrong-secret-12' },
  refusals: {
    permanent: failure(400, 'ErrorInvalidRecipients', 'At least one recipient is not valid.'),
    transient: failure(503, 'ServiceUnavailable', 'The service is down.'),
    rateLimited: failure(429, 'ApplicationThrottled', 'Application is over its limit.', { 'retry-after': '17' }),
    misconfigured: failure(403, 'ErrorAccessDenied', 'Access is denied. Check credentials and try again.'),
  },
  authenticate(request) {
    if (isToken(request) || request.headers.authorization === 'Bearer graph-token') return undefined
    return failure(401, 'InvalidAuthenticationToken', 'Access token is empty.')
  },
  take(request) {
    if (!isSend(request)) return undefined
    if (request.headers['content-type'] !== 'text/plain') throw new Error(`the content type is ${request.headers['content-type']}`)
    const text = request.body.toString('latin1')
    if (!/^[A-Za-z0-9+/]+=*$/.test(text)) throw new Error('Invalid base64 string for MIME content.')
    const mime = Buffer.from(text, 'base64')
    return { recipients: ['to', 'cc', 'bcc'].flatMap((name) => headerAddresses(mime, name)), mime }
  },
  accepted: () => ({ status: 202, headers: { 'request-id': '0e5d7d1c-req' } }),
  probed(request) {
    if (isToken(request)) return tokenAnswer(request)
    return isSend(request) && request.body.toString() === '{}' ? failure(400, 'ErrorInvalidRequest', 'The Message is missing.') : undefined
  },
}
