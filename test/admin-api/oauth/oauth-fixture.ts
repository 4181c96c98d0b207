/**
 * The authorization server of the daemon. Fakes replace the clock, the web with client documents, and the user, who decides without the
 * page.
 */
import { createHash } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import type { Role } from '#core/access/principal/role.ts'
import type { AuthorizationCheck, Authorizations } from '#core/oauth/endpoints/authorizations.ts'
import { parseScopes } from '#core/oauth/protocol/scopes.ts'
import type { SandboxOptions } from '#core/oauth/endpoints/sandboxes.ts'
import type { ScopesOfMember } from '#core/access/principal/member-scopes.ts'
import { FetchFailed, type Fetch, type FetchedDocument } from '#core/outbound/fetch.ts'
import { members } from '#core/people/members/member.ts'
import { Change } from '#store/change.ts'
import type { OAuthServer } from '../../../daemon/composition/composed.ts'
import { baseUrl, startFixture, type Fixture, type FixtureOptions } from '../rest/fixture/rest-fixture.ts'

export const issuer = baseUrl
export const mcpResource = `${baseUrl}/mcp`
export const restResource = `${baseUrl}/v1`
/** A client on the web, with the address of its document. */
export const webClientId = 'https://client.example.net/oauth/client.json'
export const redirectUri = 'http://127.0.0.1:33418/callback'
export const userId = 'usr_1'

export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export interface OAuthFixture extends Fixture {
  /** Options for parts of the authorization server. */
  readonly parts: SandboxOptions & { readonly scopesOfMember: ScopesOfMember }
  readonly server: OAuthServer
  /** Makes the user a member of the first organization with this role, or removes the user. */
  setRole(role: Role | undefined): Promise<void>
  /** Documents of the web by address; other addresses fail. */
  readonly web: Map<string, FetchedDocument>
  /** Fetched addresses. */
  readonly fetched: string[]
  readonly projectId: string
  /** `fetch` with the service at its public address. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  post(path: string, fields: Fields | string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  token(fields: Fields): Promise<Reply>
  /** Calls REST with a token. */
  callRest(token: unknown, path?: string, method?: string, body?: unknown): Promise<Reply>
  /** Returns the result of a request before consent. */
  check(query: Fields): Promise<AuthorizationCheck>
  /** Returns the redirect address after the user approves, or decides by `form`. */
  approve(query: Fields, form?: Fields): Promise<URL>
  /** Returns the query of a valid authorization request, with its verifier. */
  request(changes?: Fields): { readonly query: Fields; readonly verifier: string }
  /** Runs the flow and returns the token response. */
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

export async function startOAuth(t: ExecutionContext, options: FixtureOptions = {}): Promise<OAuthFixture> {
  const web = new Map([[webClientId, documentOf()]])
  const fetched: string[] = []
  const fetchDocument: Fetch = async (url) => {
    fetched.push(url)
    const document = web.get(url)
    if (document) return document
    throw new FetchFailed('The host could not be reached.')
  }
  const fixture = await startFixture(t, { ...options, replacements: { ...options.replacements, fetch: fetchDocument } })
  const { database, daemon, organizationId } = fixture
  await daemon.housekeeping.stop() // tests of deserted sandboxes run the sweep themselves
  const { upkeep } = daemon.part('billing')
  await upkeep.idle()
  await upkeep.stop() // otherwise its writes would change the counted rows
  const setRole = async (role: Role | undefined): Promise<void> => {
    const stored = await database.get(members, { organizationId }, userId)
    const change = new Change()
    const record = role && { id: userId, organizationId, role, joinedAt: fixture.clock.now() }
    if (stored && record) change.replace(members, organizationId, stored, record)
    else if (stored) change.remove(members, organizationId, stored)
    else if (record) change.insert(members, organizationId, record)
    await database.commit(change)
  }
  await setRole('admin')
  const projectId = String((await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const server = daemon.part('oauth')
  const parts = {
    ...daemon.part('core'),
    scopesOfMember: daemon.people.members.scopesOfMember,
    onDeleted: () => daemon.administration.removals.wake(),
  }
  return { ...fixture, ...{ server, parts, setRole, web, fetched, projectId }, ...calls(fixture, server.authorizations, projectId) }
}

function calls(fixture: Fixture, authorizations: Authorizations, home: string) {
  const there = (url: string | URL): string => String(url).replace(baseUrl, `http://${fixture.address}`)
  const go = (url: string | URL, init?: RequestInit): Promise<Response> => fetch(there(url), init)
  const post = async (path: string, fields: Fields | string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const body = typeof fields === 'string' ? fields : encode(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return replyOf(await go(baseUrl + path, { method: 'POST', body, headers: type, redirect: 'manual' }))
  }
  const token = (fields: Fields): Promise<Reply> => post('/oauth/token', fields)
  const request = (changes: Fields = {}) => {
    const verifier = 'v'.repeat(43)
    const usual = { response_type: 'code', client_id: webClientId, redirect_uri: redirectUri, resource: restResource, state: 'st-1' }
    return { query: { ...usual, code_challenge: challengeOf(verifier), code_challenge_method: 'S256', ...changes }, verifier }
  }
  const check = (query: Fields): Promise<AuthorizationCheck> => authorizations.check(encode(query), '127.0.0.1')
  const approve = async (query: Fields, form: Fields = {}): Promise<URL> => {
    const checked = await check(query)
    if (checked.kind === 'problem') throw checked.error
    if (checked.kind === 'redirect') return new URL(checked.location)
    const { pending } = checked
    if (form['decision'] === 'deny') return new URL(authorizations.deny(pending))
    const {
      user = userId,
      organization: organizationId = fixture.organizationId,
      project: projectId = home,
      scopes,
      reach,
      toolsets,
    } = form as Readonly<Record<string, string>>
    const given = scopes === undefined ? pending.scopes : parseScopes(scopes)
    return new URL(
      await authorizations.approve(pending, {
        userId: user,
        organizationId,
        projectId,
        scopes: given,
        reachesOrganization: reach === 'organization',
        toolsets: toolsets?.split(','),
      }),
    )
  }
  return {
    ...{ fetch: go, post, token, request, check, approve },
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
