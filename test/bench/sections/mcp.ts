/**
 * Section "mcp": cost of a read for an agent relative to the same read over REST in the same run, and the duration of listing its tools.
 * Each interface has a separate sandbox with one message.
 */
import { portOf } from '../../support/daemon/daemon.ts'
import { recipient, sender, startPostern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import type { LoadResult, RestJob } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { judge, median, row, type Section } from '../results.ts'

const clients = 32
/** Maximum ratio between a call of an agent and the same REST request. */
const mostRatio = 1.5
/** Fraction of the requested messages. */
const share = { warm: 0.25, lists: 0.25 }

interface Life {
  readonly rest: LoadResult
  readonly call: LoadResult
  readonly lists: LoadResult
}

export async function measureMcp(options: BenchOptions): Promise<Section> {
  const lives: Life[] = []
  for (let round = 0; round < options.rounds; round++) lives.push(await measureLife(options))
  const of = (figure: (life: Life) => number): number => median(lives.map(figure))
  const shown = (label: string, load: (life: Life) => LoadResult): string =>
    row(label, [
      of((life) => load(life).p50),
      of((life) => load(life).p99),
      of((life) => load(life).perSecond),
      of((life) => load(life).cpu),
    ])
  const ratio = of(({ rest, call }) => call.p50 / rest.p50)
  return {
    name: 'mcp',
    lines: [
      `Reads of one trace by ${clients} clients that keep their connection: email_trace_lookup at /mcp, and GET /v1/traces/{trace_id}.`,
      row('', ['p50 ms', 'p99 ms', 'reads/s', 'load CPU']),
      shown('REST', ({ rest }) => rest),
      shown('tools/call', ({ call }) => call),
      shown('tools/list', ({ lists }) => lists),
    ],
    verdicts: [judge(`tools/call of a read at ${clients} clients, of the time of its twin over REST`, ratio, '<=', mostRatio, 'x')],
    data: lives,
  }
}

async function measureLife({ warm, messages, seconds }: BenchOptions): Promise<Life> {
  await using postern = await startPostern('nowhere')
  const address = `http://${postern.daemon.addresses.http}`
  const [rest, agent] = await Promise.all([sandboxOf(address, '/v1'), sandboxOf(address, '/mcp')])
  const base = {
    port: portOf(postern.daemon.addresses.http),
    from: sender,
    to: recipient,
    size: 0,
    mostSeconds: seconds,
    sessions: clients,
  }
  const load = (key: string, request: NonNullable<RestJob['request']>, count: number) =>
    loadByRest({ ...base, key, request, count: Math.max(clients, Math.ceil(count)) })
  const sent = { 'Content-Type': 'application/json', Authorization: `Bearer ${rest}` }
  const mail = { from: sender, to: recipient, subject: 'Hello', text: 'It works.' }
  const { trace_id: ofRest } = await json(`${address}/v1/messages`, { method: 'POST', headers: sent, body: JSON.stringify(mail) })
  const made = rpc('tools/call', { name: 'email_send_test', arguments: mail })
  const headers = { ...made.headers, 'Content-Type': 'application/json', Authorization: `Bearer ${agent}` }
  const { result } = await json(`${address}/mcp`, { method: 'POST', headers, body: made.body })
  const ofAgent = (result as { structuredContent: { trace_id: string } }).structuredContent.trace_id
  const read = { path: `/v1/traces/${String(ofRest)}` }
  const called = rpc('tools/call', { name: 'email_trace_lookup', arguments: { trace_id: ofAgent } })
  await load(rest, read, warm * share.warm)
  await load(agent, called, warm * share.warm)
  return {
    rest: await load(rest, read, messages),
    call: await load(agent, called, messages),
    lists: await load(agent, rpc('tools/list', {}), messages * share.lists),
  }
}

async function json(url: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Returns the token of a new sandbox for the interface at this path. */
async function sandboxOf(address: string, path: string): Promise<string> {
  const { resource } = await json(`${address}/.well-known/oauth-protected-resource${path}`, {})
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'anonymous-bootstrap', resource: String(resource) })
  const { access_token: token } = await json(`${address}/oauth/token`, { method: 'POST', body })
  return String(token)
}

/** A request of the current protocol revision. */
function rpc(method: string, given: Readonly<Record<string, unknown>>) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const headers = {
    ...{ Accept: 'application/json, text/event-stream', 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': method },
    ...(typeof given['name'] === 'string' && { 'Mcp-Name': given['name'] }),
  }
  return { path: '/mcp', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...given, _meta: meta } }) }
}
