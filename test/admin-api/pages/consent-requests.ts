/** Shared fixtures of consent tests: clients that request access, and members who decide. */
import { createHash } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import type { FetchedDocument } from '#core/outbound/fetch.ts'
import { members } from '#core/people/members/member.ts'
import type { Role } from '#core/access/principal/role.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { addOrganization } from '#core/beginnings/new-organization.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { startPageServer, type PageServer, type PageServerOptions } from './page-server.ts'
import { PageClient, type Visited } from './page-client.ts'

/** A client whose name is verified by its host. */
export const vouchedFor = 'https://client.example.net/oauth/client.json'
export const webRedirect = 'https://app.example.net/back'
export const loopbackRedirect = 'http://127.0.0.1:33418/callback'

export type Query = Readonly<Record<string, string>>

export interface Asking {
  /** Path and query of the authorization request. */
  readonly path: string
  readonly verifier: string
  readonly query: Query
}

export interface Tokens {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const document = (name: string): FetchedDocument => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ client_id: vouchedFor, client_name: name, redirect_uris: [webRedirect, loopbackRedirect] }),
})

/** Returns a valid request of the verified client, with changes. */
export function asking(server: PageServer, changes: Query = {}): Asking {
  server.web.set(vouchedFor, document('Nightly <report>'))
  const verifier = 'v'.repeat(43)
  const query = {
    ...{ response_type: 'code', client_id: vouchedFor, redirect_uri: webRedirect, resource: `${server.url}/v1`, state: 'st-1' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', scope: 'api:read', ...changes },
  }
  return { path: `/oauth/authorize?${new URLSearchParams(query).toString()}`, verifier, query }
}

/** Registers a client, whose name is not verified. Returns its id. */
export async function registered(server: PageServer, redirectUri = webRedirect): Promise<string> {
  const body = JSON.stringify({ client_name: 'Stranger', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' })
  const response = await fetch(`${server.url}/oauth/register`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  return ((await response.json()) as { client_id: string }).client_id
}

/** Exchanges the code in a redirect address for tokens. */
export async function exchange(server: PageServer, { query, verifier }: Asking, location: string): Promise<Tokens> {
  const code = told(location).get('code') ?? ''
  const { client_id = '', redirect_uri = '', resource = '' } = query
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, code_verifier: verifier, client_id, redirect_uri, resource })
  const response = await fetch(`${server.url}/oauth/token`, { method: 'POST', body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Returns the parameters that the client receives. */
export const told = (location: string): URLSearchParams => new URL(location).searchParams

/** Submits the form of the page; a name may have several values. */
export async function decide(pageClient: PageClient, path: string, fields: readonly (readonly [string, string])[]): Promise<Visited> {
  const csrf = await pageClient.csrf('/account/applications')
  return pageClient.post(path, new URLSearchParams([['csrf', csrf], ...fields.map(([name, value]): [string, string] => [name, value])]))
}

/** Returns the form fields that grant these scopes for a place. */
export const allowing = (place: string, ...scopes: readonly string[]): (readonly [string, string])[] => [
  ['decision', 'allow'],
  ['place', place],
  ...scopes.map((scope) => ['scope', scope] as const),
]

/** Signs in a user; the first user is the owner of the first organization. */
export async function signedIn(server: PageServer, email: string): Promise<PageClient> {
  const pageClient = new PageClient(server)
  await pageClient.signIn(email)
  return pageClient
}

/** Starts a server with a signed-in user. */
export async function signedInServer(
  t: ExecutionContext,
  email: string,
  options?: PageServerOptions,
): Promise<{ server: PageServer; pageClient: PageClient }> {
  const server = await startPageServer(t, options)
  return { server, pageClient: await signedIn(server, email) }
}

/** Makes a user a member of an organization, or of a new one. The user must have signed in. */
export async function join(server: PageServer, email: string, role: Role, organizationId?: string): Promise<Home> {
  const { database, clock } = server
  const now = clock.now()
  const change = new Change()
  const fresh = { name: `House of ${role}`, plan: 'free', project: { name: 'Default', status: 'claimed' }, now } as const
  const home = organizationId === undefined ? addOrganization(database, change, fresh) : await homeOf(server, organizationId)
  const id = (await userByEmail(database, email))?.record.id ?? ''
  change.insert(members, home.organizationId, { id, organizationId: home.organizationId, role, joinedAt: now })
  await database.commit(change)
  return placeIn(home)
}

/** An organization with its project Default, as in the form. */
export interface Home {
  readonly organizationId: string
  readonly projectId: string
  readonly place: string
}

export async function homeOf({ database }: PageServer, organizationId: string): Promise<Home> {
  const stored = await database.get(organizations, { organizationId }, organizationId)
  return placeIn({ organizationId, projectId: stored?.record.defaultProjectId ?? '' })
}

const placeIn = ({ organizationId, projectId }: Omit<Home, 'place'>): Home => ({
  ...{ organizationId, projectId },
  place: `${organizationId}.${projectId}`,
})

/** Returns the checked scopes of a page. */
export const ticked = (html: string): string[] =>
  [...html.matchAll(/<input\s+type="checkbox"[^>]*name="scope"[^>]*value="([^"]+)"[^>]*>/g)].flatMap(([tag, value = '']) =>
    /\bchecked\b/.test(tag) ? [value] : [],
  )
