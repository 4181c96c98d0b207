/**
 * The authorization server beside the REST side, over a real socket and a real store. Played are time, the web that client
 * documents come from, and the pages: a person decides by a form without looking.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import type { Right } from '#core/access/scope.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import type { Authorizations } from '#core/oauth/authorizations.ts'
import { bearerCheck } from '#core/oauth/bearers.ts'
import { parseScopes } from '#core/oauth/scopes.ts'
import { FetchFailed, type Fetch, type FetchedDocument } from '#core/outbound/fetch.ts'
import { Audit } from '#core/audit.ts'
import { members as memberRecords } from '#core/people/member.ts'
import { Policies } from '#core/routing/policy.ts'
import { SettingWrites } from '#core/setting-writes.ts'
import { Change } from '#store/change.ts'
import { answer } from '../../../admin-api/answer.ts'
import { bearerAuthentication } from '../../../admin-api/authentication.ts'
import { authorizeOperations, redirectTo, type AuthorizationUi } from '../../../admin-api/oauth/authorize.ts'
import { oauthOperations } from '../../../admin-api/oauth/operations.ts'
import { oauthServer, type OAuthParts, type OAuthServer } from '../../../daemon/oauth-core.ts'
import { baseUrl, startRig, type Rig } from '../rest/rig.ts'

export const issuer = baseUrl
export const mcpResource = `${baseUrl}/mcp`
export const restResource = `${baseUrl}/v1`
/** A client on the web, and where its document is. */
export const webClientId = 'https://client.example.net/oauth/client.json'
export const redirectUri = 'http://127.0.0.1:33418/callback'
export const userId = 'usr_1'

export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export interface OAuthRig extends Rig {
  readonly parts: OAuthParts
  readonly server: OAuthServer
  /** Rights of people who are members of the first organization without a record. */
  readonly members: Map<string, readonly Right[]>
  /** Documents of the web by address; a missing one cannot be fetched. */
  readonly web: Map<string, FetchedDocument>
  /** Addresses that were fetched. */
  readonly fetched: string[]
  /** What came again, as the events told. */
  readonly reused: string[]
  readonly projectId: string
  /** `fetch` as if the service were at its public address. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  post(path: string, fields: Fields | string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  token(fields: Fields): Promise<Reply>
  /** REST with a token. */
  callRest(token: unknown, path?: string, method?: string, body?: unknown): Promise<Reply>
  /** Where the browser is sent when the person approves (or what `form` says instead). */
  approve(query: Fields, form?: Fields): Promise<URL>
  /** The query of an authorization request in order, with its verifier. */
  request(changes?: Fields): { readonly query: Fields; readonly verifier: string }
  /** Goes all the way to the token answer. */
  signIn(changes?: Fields, form?: Fields): Promise<Record<string, unknown>>
  bootstrap(fields?: Fields, address?: string): Promise<Reply>
}

export const encode = (fields: Fields): URLSearchParams => {
  const search = new URLSearchParams()
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) if (value !== undefined) search.append(name, value)
  return search
}

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export const documentOf = (changes: Readonly<Record<string, unknown>> = {}, headers = {}): FetchedDocument => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  text: JSON.stringify({
    client_id: webClientId,
    client_name: 'Agent',
    redirect_uris: [redirectUri, 'https://client.example.net/back'],
    ...changes,
  }),
})

/** Where the person belongs; known once the service runs. */
interface Home {
  organizationId: string
  projectId: string
}

/** Shows the request as JSON and takes the decision from a form; the person is `userId` unless the form says otherwise. */
const playedUi = (authorizations: Authorizations, home: Home): AuthorizationUi => ({
  ask(pending) {
    if (pending.prompts.includes('none')) return redirectTo(authorizations.deny(pending, 'login_required'))
    return answer({ ...pending }, {})
  },
  async decide(pending, _request, form) {
    if (form.get('decision') === 'deny') return redirectTo(authorizations.deny(pending))
    const scopes = form.has('scopes') ? parseScopes(form.get('scopes') ?? '') : pending.scopes
    const { organizationId, projectId } = home
    const approval = { userId: form.get('user') ?? userId, organizationId, projectId: form.get('project') ?? projectId, scopes }
    return redirectTo(await authorizations.approve(pending, approval))
  },
  problem: (error) => answer({ problem: error.error, description: error.message }, { status: 400 }),
})

/** With MCP unless told, so that there are two surfaces to keep apart. */
export async function startOAuth(t: ExecutionContext, options: { readonly servesMcp?: boolean } = {}): Promise<OAuthRig> {
  const members = new Map<string, readonly Right[]>([[userId, ['api:admin']]])
  const web = new Map([[webClientId, documentOf()]])
  const fetched: string[] = []
  const reused: string[] = []
  const fetchDocument: Fetch = async (url) => {
    fetched.push(url)
    const document = web.get(url)
    if (document) return document
    throw new FetchFailed('The host could not be reached.')
  }
  const made = Promise.withResolvers<{ readonly parts: OAuthParts; readonly server: OAuthServer }>()
  const home: Home = { organizationId: '', projectId: '' }
  const rig = await startRig(t, {
    besides({ database, clock, apiKeys, removals, people }) {
      const config = { baseUrl, authUrl: null, mcpUrl: null, smtpHost: 'localhost', http: { listen: { host: '', port: 0 } } as never }
      const parts: OAuthParts = {
        ...{ config, database, clock, fetch: fetchDocument, servesMcp: options.servesMcp ?? true },
        policies: new Policies(database),
        onDeleted: () => removals.wake(),
        writes: new SettingWrites(database, new Audit({ database, clock })),
        secrets: new SecretBox(Buffer.alloc(32, 7)),
        rightsOfMember: async (organizationId, id) => {
          const rights = organizationId === home.organizationId ? members.get(id) : undefined
          if (!rights && id === userId) return undefined
          if (!rights) return people.members.rightsOf(organizationId, id)
          return { role: rights.includes('api:admin') ? 'admin' : 'viewer', rights, administersOrganization: rights.includes('api:admin') }
        },
        events: { tokenReused: (what) => reused.push(what) },
        notices: people.notices,
      }
      const server = oauthServer(parts)
      made.resolve({ parts, server })
      const { authorizations } = server
      return {
        operations: [...oauthOperations(server), ...authorizeOperations(authorizations, playedUi(authorizations, home))],
        authenticate: bearerAuthentication(bearerCheck(apiKeys, server.tokenCheck)),
        protectedResource: server.restResource,
      }
    },
  })
  home.organizationId = rig.organizationId
  // keys ask the record how far their minter reaches
  const record = { id: userId, organizationId: rig.organizationId, role: 'admin' as const, joinedAt: rig.clock.now() }
  await rig.database.commit(new Change().insert(memberRecords, rig.organizationId, record))
  home.projectId = String((await rig.rest.must('GET', '/v1/projects/me'))['project_id'])
  return { ...rig, ...(await made.promise), ...{ members, web, fetched, reused }, projectId: home.projectId, ...calls(rig) }
}

function calls(rig: Rig) {
  const there = (url: string | URL): string => String(url).replace(baseUrl, `http://${rig.address}`)
  const go = (url: string | URL, init?: RequestInit): Promise<Response> => fetch(there(url), init)
  const post = async (path: string, fields: Fields | string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const body = typeof fields === 'string' ? fields : encode(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return replyOf(await go(baseUrl + path, { method: 'POST', body, headers: type, redirect: 'manual' }))
  }
  const token = (fields: Fields): Promise<Reply> => post('/oauth/token', fields)
  const request = (changes: Fields = {}) => {
    const verifier = randomBytes(32).toString('base64url')
    const usual = { response_type: 'code', client_id: webClientId, redirect_uri: redirectUri, resource: restResource, state: 'st-1' }
    return { query: { ...usual, code_challenge: challengeOf(verifier), code_challenge_method: 'S256', ...changes }, verifier }
  }
  const approve = async (query: Fields, form: Fields = {}): Promise<URL> => {
    const { status, headers, body } = await post(`/oauth/authorize?${encode(query).toString()}`, form)
    if (status !== 303) throw new Error(`not redirected: ${status} ${JSON.stringify(body)}`)
    return new URL(headers.get('location') ?? '')
  }
  return {
    ...{ fetch: go, post, token, request, approve },
    async callRest(bearer: unknown, path = '/v1/projects/me', method = 'GET', body?: unknown): Promise<Reply> {
      const headers = { authorization: `Bearer ${String(bearer)}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
      return replyOf(await go(baseUrl + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }))
    },
    async signIn(changes: Fields = {}, form: Fields = {}): Promise<Record<string, unknown>> {
      const { query, verifier } = request(changes)
      const code = (await approve(query, form)).searchParams.get('code') ?? ''
      const fields = { grant_type: 'authorization_code', code, code_verifier: verifier }
      const reply = await token({ ...fields, client_id: query['client_id'], redirect_uri: query['redirect_uri'] })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body
    },
    bootstrap: (fields: Fields = {}, address = '192.0.2.1') =>
      post(
        '/oauth/token',
        { grant_type: 'client_credentials', client_id: 'anonymous-bootstrap', ...fields },
        { 'x-forwarded-for': address },
      ),
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, body: json ? (JSON.parse(text) as Record<string, unknown>) : { text } }
}
