/** An agent that the owner lets read: it registers, gets a token of the authorization server, and calls a tool. */
import { members } from '#core/people/members/member.ts'
import { challengeOf, encode } from '../../admin-api/oauth/oauth-fixture.ts'
import type { StartedDaemon } from '../../support/daemon/start-daemon.ts'

const revision = '2026-07-28'
const redirectUri = 'http://127.0.0.1:33418/callback'
const json = { 'content-type': 'application/json' }

/** Returns a token for tools that read, in the whole organization. `baseUrl`: public address of the service. */
export async function agentToken(daemon: StartedDaemon, baseUrl: string): Promise<string> {
  const { database, organizationId, addresses, rest } = daemon
  const { authorizations } = daemon.part('oauth')
  const client = { client_name: 'Agent', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' }
  const registered = await fetch(`http://${addresses.http}/oauth/register`, {
    ...{ method: 'POST', headers: json, body: JSON.stringify(client) },
  })
  const { client_id: clientId } = (await registered.json()) as { readonly client_id: string }
  const verifier = 'v'.repeat(43)
  const checked = await authorizations.check(
    encode({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, resource: `${baseUrl}/mcp`, scope: 'mcp:read' },
      ...{ state: 's', code_challenge: challengeOf(verifier), code_challenge_method: 'S256' },
    }),
    '127.0.0.1',
  )
  if (!('pending' in checked)) throw new Error(JSON.stringify(checked))
  const [owner] = await database.all(members, { organizationId })
  const projectId = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const decision = { userId: owner?.record.id ?? '', organizationId, projectId, scopes: checked.pending.scopes, reachesOrganization: true }
  const code = new URL(await authorizations.approve(checked.pending, decision)).searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: clientId, redirect_uri: redirectUri }
  const granted = await fetch(`http://${addresses.http}/oauth/token`, { method: 'POST', body: encode(grant) })
  return ((await granted.json()) as { readonly access_token: string }).access_token
}

/** Returns the result of a tool in the form for programs. */
export async function callTool(
  { addresses }: StartedDaemon,
  token: string,
  name: string,
  given: object,
): Promise<Readonly<Record<string, unknown>>> {
  const about = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': name }
  const meta = { 'io.modelcontextprotocol/protocolVersion': revision, 'io.modelcontextprotocol/clientCapabilities': {} }
  const response = await fetch(`http://${addresses.http}/mcp`, {
    method: 'POST',
    headers: { ...json, ...about, accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } }),
  })
  const text = await response.text()
  const { result } = JSON.parse(text) as { readonly result?: { readonly structuredContent: Readonly<Record<string, unknown>> } }
  if (!result) throw new Error(text)
  return result.structuredContent
}
