/**
 * Microsoft Graph, `sendMail` for one mailbox with application permissions. It sends the MIME message; the recipients are in its header.
 */
import { createHash } from 'node:crypto'
import { httpProviders } from '#config/mail/providers.ts'
import { readToken, tokenRequest } from '../token.ts'
import { addressedMime } from '../contract/addressed-mime.ts'
import { jsonOf, objectsIn, postJson, textOf, verdictByStatus } from '../contract/answers.ts'
import {
  VendorRefusal,
  type Credentials,
  type Vendor,
  type VendorAnswer,
  type VendorContext,
  type VendorVerdict,
} from '../contract/vendor.ts'

/** The national clouds: origin of the token endpoint, and of the Graph API. */
const clouds: Readonly<Record<string, readonly [login: string, graph: string]>> = {
  global: ['https://login.microsoftonline.com', 'https://graph.microsoft.com'],
  us_gov: ['https://login.microsoftonline.us', 'https://graph.microsoft.us'],
  us_dod: ['https://login.microsoftonline.us', 'https://dod-graph.microsoft.us'],
  china: ['https://login.partner.microsoftonline.cn', 'https://microsoftgraph.chinacloudapi.cn'],
}

/** Codes that mean a problem of the mailbox or of the application's permissions, despite their status. */
const ofTheAccount =
  /^(?:ErrorSendAsDenied|ErrorAccessDenied|ErrorAccountSuspend|ErrorMessageSubmissionBlocked|MailboxNotEnabledForRESTAPI|ErrorInvalidUser|ErrorQuotaExceeded)$/

/** Maximum cached tokens. The cache is cleared when it is full. */
const maxTokens = 1000
/** A token lives for an hour. It is replaced earlier, because only a new token contains permissions granted in the meantime. */
const usableMs = 10 * 60_000

type Tokens = Map<string, { readonly token: string; readonly usableUntil: number }>

/** Creates the vendor with its own cache of access tokens. */
export function msgraph(): Vendor {
  const tokens: Tokens = new Map()
  return {
    provider: 'msgraph',
    title: httpProviders.msgraph.title,
    credentials: httpProviders.msgraph.credentials,

    async send(credentials, message, context) {
      const { mime } = await addressedMime(message)
      const headers = { ...(await authorization(tokens, credentials, context)), 'content-type': 'text/plain' }
      return { method: 'POST', url: sendMail(credentials, context), headers, body: Buffer.from(mime.toString('base64')) }
    },

    read(answer) {
      return answer.status === 202 || answer.status === 200
        ? { kind: 'accepted', messageId: textOf(answer.headers['request-id']) }
        : refused(tokens, answer)
    },

    // sends no message: Graph answers 400 if the mailbox exists and may send
    probe: async (credentials, context) => postJson(sendMail(credentials, context), await authorization(tokens, credentials, context), {}),
    readProbe: (answer) => (answer.status === 400 ? { kind: 'accepted' } : refused(tokens, answer)),
  }
}

const cloudOf = ({ cloud = 'global' }: Credentials): readonly [login: string, graph: string] =>
  clouds[cloud] ?? ['https://login.microsoftonline.com', 'https://graph.microsoft.com']

const sendMail = (credentials: Credentials, { base }: VendorContext): string =>
  `${base ?? cloudOf(credentials)[1]}/v1.0/users/${encodeURIComponent(credentials['mailbox'] ?? '')}/sendMail`

/** Returns the authorization header. Throws `VendorRefusal` without a token. */
async function authorization(
  tokens: Tokens,
  credentials: Credentials,
  context: VendorContext,
): Promise<{ readonly authorization: string }> {
  const { tenant = '', client_id: clientId = '', client_secret: clientSecret = '' } = credentials
  const [login, graph] = cloudOf(credentials)
  const tokenUrl = `${context.base ?? login}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
  const grant = { tokenUrl, clientId, clientSecret, scope: `${graph}/.default` }
  const key = createHash('sha256').update(JSON.stringify(grant)).digest('base64')
  const kept = tokens.get(key)
  if (kept !== undefined && context.nowMs < kept.usableUntil) return { authorization: `Bearer ${kept.token}` }
  const verdict = readToken(await context.ask(tokenRequest(grant)), grant)
  if (verdict.kind !== 'token') {
    const kind = verdict.kind === 'misconfigured' ? 'misconfigured' : 'transient'
    throw new VendorRefusal({ kind, code: 'token', message: `Microsoft returned no access token: ${verdict.said}` })
  }
  if (tokens.size >= maxTokens) tokens.clear()
  tokens.set(key, { token: verdict.token, usableUntil: context.nowMs + Math.min(usableMs, verdict.expiresInSeconds * 500) })
  return { authorization: `Bearer ${verdict.token}` }
}

function refused(tokens: Tokens, answer: VendorAnswer): VendorVerdict {
  const [error = {}] = objectsIn([jsonOf(answer)['error']])
  const code = textOf(error['code'])
  // A token may have been revoked, but the answer does not identify it. Each other token costs one request to replace.
  if (answer.status === 401) tokens.clear()
  const verdict = verdictByStatus(answer, { code, message: textOf(error['message']) })
  return code !== undefined && ofTheAccount.test(code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
