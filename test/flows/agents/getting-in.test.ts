/**
 * Real clients from an address to their first call: both generations of the SDK, the inspector, and a bridge for clients that start
 * programs. Each requests access, and a person allows it on the page that it opens or prints.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import test, { type ExecutionContext } from '#test'
import { waitFor, waiting } from '../../support/waits.ts'
import { Daemon } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { specifiedTools } from '../../admin-api/mcp/specified-tools.ts'
import { accessBy, allowedClient } from './allowed-client.ts'
import { Person } from './person.ts'

const toolCount = Object.keys(specifiedTools).length
const inspector = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/cli/build/index.js'))
const bridge = fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js'))
const identity = { name: 'test', version: '1' }

interface Place {
  readonly address: string
  readonly person: Person
  /** Environment of programs: their folders, and a browser that opens nothing, since they also print the address. */
  readonly env: Readonly<Record<string, string>>
}

/** Returns the address that a program asks to open. Continues to read its output, so that the program is not blocked. */
function askedFor(output: Readable): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  output.on('data', (piece: Buffer) => {
    said += piece.toString()
    const [url] = /http:\/\/localhost:\d+\/oauth\/authorize\?\S+(?=\s)/.exec(said) ?? []
    if (url !== undefined) resolve(url)
  })
  output.once('close', () => reject(new Error(`no page was opened: ${said}`)))
  return promise
}

/** Undefined until a program listens there. */
async function reached(url: URL): Promise<Response | undefined> {
  try {
    return await fetch(url)
  } catch (error) {
    if ((error as { readonly cause?: { readonly code?: string } }).cause?.code === 'ECONNREFUSED') return undefined
    throw error
  }
}

/** Opens the consent page as the person and allows access. Retries the program's redirect URL until the program listens. */
async function allowIn({ person }: Place, output: Readable): Promise<void> {
  const url = await waiting('the agent program prints the consent URL', askedFor(output))
  const back = await person.consent(url)
  const response = await waitFor('the program accepts the authorization response', () => reached(back))
  if (!response.ok) throw new Error(`the agent program refused the authorization response: ${await response.text()}`)
}

async function byPresentSdk(t: ExecutionContext, { address, person }: Place): Promise<void> {
  const { client, must, refused, asked } = await allowedClient(address, person)
  t.like(await must('account_status'), { status: 'claimed' })
  t.is(asked(), 1)
  t.like(await refused('destination_promote_to_live', { destination_id: 'dst_1' }), { code: 'not_found' })
  t.is(asked(), 2, 'for the scope that this call needs')
  await client.close()
}

async function byOlderSdk(t: ExecutionContext, { address, person }: Place): Promise<void> {
  const provider = accessBy(person)
  const transportOf = () => new OlderTransport(new URL(address), { authProvider: provider as never })
  const first = transportOf()
  await t.throwsAsync(new OlderClient(identity).connect(first as never), { instanceOf: UnauthorizedError })
  await first.finishAuth(provider.kept.back?.get('code') ?? '')
  const client = new OlderClient(identity)
  await client.connect(transportOf())
  t.like((await client.callTool({ name: 'account_status', arguments: {} })).structuredContent, { status: 'claimed' } as never)
  t.is((await client.listTools()).tools.length, toolCount)
  await client.close()
}

async function byInspector(t: ExecutionContext, place: Place): Promise<void> {
  const callback = `http://127.0.0.1:${await programPort()}/oauth/callback`
  const given = ['--cli', place.address, '--transport', 'http', '--callback-url', callback, '--format', 'json']
  const call = ['--method', 'tools/call', '--tool-name', 'account_status']
  const program = spawn(process.execPath, [inspector, ...given, ...call], { env: place.env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [printed, ended] = [text(program.stdout), once(program, 'close')]
  t.teardown(() => program.kill())
  await allowIn(place, program.stderr)
  await waiting('the inspector ends', ended)
  t.regex(await printed, /"status":\s*"claimed"/)
}

async function byBridge(t: ExecutionContext, place: Place): Promise<void> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bridge, place.address, String(await programPort())],
    env: place.env,
    stderr: 'pipe',
  })
  const client = new Client(identity)
  t.teardown(() => client.close())
  const connecting = client.connect(transport)
  await allowIn(place, transport.stderr as Readable)
  await waiting('the bridge is connected', connecting)
  t.like((await client.callTool({ name: 'account_status', arguments: {} })).structuredContent, { status: 'claimed' } as never)
  await client.close()
}

test('clients: each kind gets from the address to a call', async (t) => {
  await using folder = await temporaryFolder('getting-in')
  const port = await programPort()
  const options = { folder: folder.path, env: { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` } }
  await using daemon = await Daemon.start(options)
  const origin = `http://localhost:${port}`
  const browser = { BROWSER: 'true', MCP_AUTO_OPEN_ENABLED: 'true' }
  const env = { ...browser, PATH: process.env['PATH'] ?? '', HOME: folder.path, MCP_REMOTE_CONFIG_DIR: `${folder.path}/bridge` }
  const place: Place = { address: `${origin}/mcp`, person: await Person.signIn(options, origin, 'olga@example.ch'), env }
  await byPresentSdk(t, place)
  await byOlderSdk(t, place)
  await Promise.all([byInspector(t, place), byBridge(t, place)])
  t.is((await daemon.stop()).code, 0)
})
