/** Clients as people have them: from nothing but the address to a call, by both generations of the SDK, the inspector, and a bridge. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { UnauthorizedError as OlderUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import test from 'ava'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { mcpResource, redirectUri } from '../../oauth/oauth-fixture.ts'
import { proxyWith } from './agent-proxy.ts'
import { startMcp, type McpFixture } from '../mcp-fixture.ts'
import { specifiedTools } from '../specified-tools.ts'

const toolCount = Object.keys(specifiedTools).length

const run = promisify(execFile)
const inspector = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/cli/build/index.js'))
const bridge = fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js'))

/** What a client keeps of its sign-in, and the user who allows what it asks for. */
function providerOf({ approve }: McpFixture) {
  const kept: { discovered?: unknown; client?: unknown; tokens?: unknown; verifier?: string; back?: URLSearchParams } = {}
  return {
    kept,
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri], client_name: 'Test agent', token_endpoint_auth_method: 'none' },
    saveDiscoveryState: (found: unknown) => void (kept.discovered = found),
    discoveryState: () => kept.discovered,
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    async redirectToAuthorization(url: URL): Promise<void> {
      const back = await approve(Object.fromEntries(url.searchParams))
      kept.back = back.searchParams
    },
  }
}

const identity = { name: 'test', version: '1' }
const address = new URL(mcpResource)

test('the present SDK comes from the address alone to a call', async (t) => {
  const fixture = await startMcp(t)
  const provider = providerOf(fixture)
  const options = { authProvider: provider as never, fetch: fixture.fetch }
  const first = new StreamableHTTPClientTransport(address, options)
  await t.throwsAsync(new Client(identity).connect(first), { instanceOf: UnauthorizedError })
  await first.finishAuth(provider.kept.back ?? new URLSearchParams())
  const client = new Client(identity, { versionNegotiation: { mode: 'auto' } })
  t.teardown(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(address, options))
  const { structuredContent } = await client.callTool({ name: 'account_status', arguments: {} })
  t.like(structuredContent, { project_id: fixture.projectId, status: 'claimed' } as never)
})

test('the SDK before it comes from the address alone to a call', async (t) => {
  const fixture = await startMcp(t)
  const provider = providerOf(fixture)
  const options = { authProvider: provider as never, fetch: fixture.fetch }
  const first = new OlderTransport(address, options)
  await t.throwsAsync(new OlderClient(identity).connect(first as never), { instanceOf: OlderUnauthorizedError })
  await first.finishAuth(provider.kept.back?.get('code') ?? '')
  const client = new OlderClient(identity)
  t.teardown(() => client.close())
  await client.connect(new OlderTransport(address, options))
  const { structuredContent } = await client.callTool({ name: 'account_status', arguments: {} })
  t.like(structuredContent, { project_id: fixture.projectId, status: 'claimed' } as never)
  t.is((await client.listTools()).tools.length, toolCount)
})

for (const era of ['legacy', 'modern'])
  test(`${era}: the inspector finds nothing wrong with the schemas of the tools`, async (t) => {
    const fixture = await startMcp(t)
    const url = await proxyWith(t, fixture, await fixture.tokenOf())
    await using folder = await temporaryFolder('inspector')
    const given = ['--cli', url, '--transport', 'http', '--method', 'tools/list', '--strict', '--protocol-era', era, '--format', 'json']
    const env = { PATH: process.env['PATH'], HOME: folder.path }
    const { stdout, stderr } = await run(process.execPath, [inspector, ...given], { env, maxBuffer: 16 * 1024 * 1024 })
    t.is(stderr, '')
    t.is(stdout.match(/"inputSchema"/g)?.length, toolCount)
  })

test('a bridge for clients that start programs passes calls on', async (t) => {
  const fixture = await startMcp(t)
  const url = await proxyWith(t, fixture, await fixture.tokenOf())
  await using folder = await temporaryFolder('bridge')
  const args = [bridge, url, '--allow-http', '--transport', 'http-only']
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, MCP_REMOTE_CONFIG_DIR: folder.path }
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' })
  const client = new Client(identity)
  await client.connect(transport)
  t.teardown(() => client.close())
  const { structuredContent } = await client.callTool({ name: 'account_status', arguments: {} })
  t.like(structuredContent, { project_id: fixture.projectId } as never)
})
