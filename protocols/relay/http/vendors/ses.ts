/** Amazon SES, API version 2: sends the stored message, signed with Signature Version 4. */
import { httpProviders } from '#config/mail/providers.ts'
import { jsonOf, textOf, verdictByStatus } from '../contract/answers.ts'
import { signedHeaders } from './aws-signature.ts'
import type { Credentials, Vendor, VendorAnswer, VendorContext, VendorRequest, VendorVerdict } from '../contract/vendor.ts'

/** SES identifies errors by name, and many of them share a status. */
const kinds: Readonly<Record<string, 'transient' | 'rate_limited' | 'misconfigured'>> = {
  TooManyRequestsException: 'rate_limited',
  ThrottlingException: 'rate_limited',
  Throttling: 'rate_limited',
  LimitExceededException: 'rate_limited',
  RequestTimeTooSkewed: 'transient',
  AccountSuspendedException: 'misconfigured',
  SendingPausedException: 'misconfigured',
  MailFromDomainNotVerifiedException: 'misconfigured',
  NotFoundException: 'misconfigured',
}

export const ses: Vendor = {
  provider: 'ses',
  title: httpProviders.ses.title,
  credentials: httpProviders.ses.credentials,
  maxRecipients: 50,
  async send(credentials, message, context) {
    const mime = await message.mime()
    // With a Destination, SES uses it as the envelope and ignores blind copies in the header.
    const body = { Destination: { ToAddresses: message.rcptTo }, Content: { Raw: { Data: mime.toString('base64') } } }
    return signed('POST', '/v2/email/outbound-emails', credentials, context, Buffer.from(JSON.stringify(body)))
  },
  read(answer) {
    if (answer.status === 200) return { kind: 'accepted', messageId: textOf(jsonOf(answer)['MessageId']) }
    return refusal(answer)
  },
  probe: async (credentials, context) => signed('GET', '/v2/email/account', credentials, context),
  readProbe(answer) {
    // A valid key without this permission gets AccessDeniedException.
    if (answer.status === 200 || kindOf(answer) === 'AccessDeniedException') return { kind: 'accepted' }
    return refusal(answer)
  },
}

function refusal(answer: VendorAnswer): VendorVerdict {
  const body = jsonOf(answer)
  const code = kindOf(answer)
  const message = textOf(body['message']) ?? textOf(body['Message'])
  const verdict = verdictByStatus(answer, { code: code ?? undefined, message })
  // Unverified senders, and the sandbox of SES.
  const isUnverified = code === 'MessageRejected' && /not verified/i.test(message ?? '')
  return { ...verdict, kind: isUnverified ? 'misconfigured' : (kinds[code ?? ''] ?? verdict.kind) }
}

/** Returns the error name from `x-amzn-errortype: Name:http://…`, or from `__type: namespace#Name` in the body. */
function kindOf(answer: VendorAnswer): string | undefined {
  const named = textOf(answer.headers['x-amzn-errortype']) ?? textOf(jsonOf(answer)['__type'])
  return named?.split(':')[0]?.split('#').at(-1)
}

function signed(method: 'GET' | 'POST', path: string, credentials: Credentials, context: VendorContext, body?: Buffer): VendorRequest {
  const { region = '', access_key_id: accessKeyId = '', secret_access_key: secretAccessKey = '', session_token: sessionToken } = credentials
  const url = `${context.base ?? `https://email.${region}.amazonaws.com`}${path}`
  const headers = { ...(body && { 'content-type': 'application/json' }) }
  const request = { method, url, headers, body: body ?? Buffer.alloc(0) }
  const scope = { region, service: 'ses', nowMs: context.nowMs }
  return { method, url, headers: signedHeaders(request, { accessKeyId, secretAccessKey, sessionToken }, scope), body }
}
