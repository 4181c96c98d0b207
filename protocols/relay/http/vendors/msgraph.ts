/** Microsoft Graph, `sendMail` of one mailbox by an application of its own. It takes the message as it is, with the recipients in it. */
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

/** The national clouds: where tokens come from, and where mail goes. */
const clouds: Readonly<Record<string, readonly [login: string, graph: string]>> = {
  global: ['https://login.microsoftonline.com', 'https://graph.microsoft.com'],
  us_gov: ['https://login.microsoftonline.us', 'https://graph.microsoft.us'],
  us_dod: ['https://login.microsoftonline.us', 'https://dod-graph.microsoft.us'],
  china: ['https://login.partner.microsoftonline.cn', 'https://microsoftgraph.chinacloudapi.cn'],
}

/** Codes that come with statuses which say otherwise: the mailbox or the rights of the application. */
const ofTheAccount =
  /^(?:ErrorSendAsDenied|ErrorAccessDenied|ErrorAccountSuspend|ErrorMessageSubmissionBlocked|MailboxNotEnabledForRESTAPI|ErrorInvalidUser|ErrorQuotaExceeded)$/

/** Applications whose tokens are kept at a time; all go when there are more. */
const maxTokens = 1000
/** A token lives for an hour; it is asked for again sooner, as rights that were given meanwhile are only in a new one. */
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

/** Throws `VendorRefusal` when no token is given. */
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
    throw new VendorRefusal({ kind, code: 'token', message: `Microsoft gave no access token: ${verdict.said}` })
  }
  if (tokens.size >= maxTokens) tokens.clear()
  tokens.set(key, { token: verdict.token, usableUntil: context.nowMs + Math.min(usableMs, verdict.expiresInSeconds * 500) })
  return { authorization: `Bearer ${verdict.token}` }
}

function refused(tokens: Tokens, answer: VendorAnswer): VendorVerdict {
  const [error = {}] = objectsIn([jsonOf(answer)['error']])
  const code = textOf(error['code'])
  // A token may have been revoked, and which one does not stand in the answer; each costs one request to have again.
  if (answer.status === 401) tokens.clear()
  const verdict = verdictByStatus(answer, { code, message: textOf(error['message']) })
  return code !== undefined && ofTheAccount.test(code) ? { ...verdict, kind: 'misconfigured' } : verdict
}
