/** A double of Amazon SES version 2: POST /v2/email/outbound-emails, GET /v2/email/account, every request signed. */
import { createHash, createHmac } from 'node:crypto'
import { decoded, jsonBody, type DoubleAnswer, type SeenRequest, type VendorRules } from './double.ts'

const keys = {
  access_key_id: 'AKIAEXAMPLE',
  secret_access_key: 'right-secret-key',
  session_token: 'right-session-token',
  region: 'eu-central-1',
}

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')

/** Verifies like AWS, with the headers in the order that the signature lists. */
function isSigned({ method, path, headers, body }: SeenRequest): boolean {
  const [, access, date = '', region = '', service = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  if (access !== keys.access_key_id || region !== keys.region || service !== 'ses') return false
  if (
    headers['x-amz-security-token'] !== keys.session_token ||
    !names.split(';').includes('host') ||
    !names.includes('x-amz-security-token')
  )
    return false
  const signed = names.split(';').map((name) => `${name}:${String(headers[name])}\n`)
  const canonical = [method, path, '', ...signed.map((line) => line.trimEnd()), '', names, sha256(body)].join('\n')
  const toSign = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${date}/${region}/${service}/aws4_request\n${sha256(canonical)}`
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${keys.secret_access_key}`)
  return hmac(key, toSign).toString('hex') === signature
}

const failure = (status: number, type: string, message: string, headers = {}): DoubleAnswer => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazonaws/`, ...headers },
  body: { message },
})

export const sesRules: VendorRules = {
  provider: 'ses',
  credentials: keys,
  wrong: { secret_access_key: 'wrong-secret-key' },
  refusals: {
    permanent: failure(400, 'MessageRejected', 'Message contains a virus.'),
    transient: failure(500, 'InternalServiceErrorException', 'Try again.'),
    rateLimited: failure(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', { 'retry-after': '17' }),
    misconfigured: failure(
      400,
      'MessageRejected',
      'Email address is not verified. The following identities failed the check: shop@site.test',
    ),
  },
  authenticate: (request) =>
    isSigned(request)
      ? undefined
      : failure(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the one you provided.'),
  take(request) {
    if (request.method !== 'POST' || request.path !== '/v2/email/outbound-emails') return undefined
    const { Destination, Content } = jsonBody(request) as { Destination: Record<string, string[]>; Content: { Raw: { Data: string } } }
    const recipients = Object.values(Destination).flat()
    if (recipients.length > 50) throw new Error('at most 50 recipients')
    return { recipients, mime: decoded(Content.Raw.Data) }
  },
  accepted: () => ({ status: 200, body: { MessageId: '010701' } }),
  probed: ({ method, path }) =>
    method === 'GET' && path === '/v2/email/account'
      ? failure(403, 'AccessDeniedException', 'User is not authorized to perform: ses:GetAccount')
      : undefined,
}
