/** An agent from nothing to a diagnosis: a sandbox, a person who takes it over, a provider, live mail, and why some did not arrive. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { Daemon, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { eventually, within } from '../../support/deadline.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { freePort, temporaryFolder } from '../../support/daemon/workspace.ts'

type Json = Readonly<Record<string, unknown>>

const email = 'ada@example.ch'

/** The person: opens a link, and fills in the form of a page. */
class Person {
  readonly #origin: string
  #cookie = ''
  /** The one that they took over. */
  #organization = ''

  constructor(origin: string) {
    this.#origin = origin
  }

  async open(link: string): Promise<void> {
    const response = await this.#fetch(link, { method: 'POST', body: new URLSearchParams() })
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  async allow(path: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const page = await (await this.#fetch(this.#origin + path, {})).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const { status, headers } = await this.#fetch(this.#origin + path, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }) })
    this.#organization = /org_[0-9a-f]+/.exec(headers.get('location') ?? '')?.[0] ?? ''
    return status
  }

  /** What a screen of the dashboard sends. */
  async change(path: string, body: Json): Promise<number> {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-organization-id': this.#organization }
    return (await this.#fetch(this.#origin + path, { method: 'PATCH', headers, body: JSON.stringify(body) })).status
  }

  /** Looks at the page of a message that waits, and presses a button of it. */
  async decide(link: string, verb: 'approve' | 'refuse'): Promise<{ readonly page: string; readonly status: number }> {
    const page = await (await this.#fetch(link, {})).text()
    const [csrf = '', digest = ''] = ['csrf', 'digest'].map((name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '')
    const { status } = await this.#fetch(`${link}/${verb}`, { method: 'POST', body: new URLSearchParams({ csrf, digest }) })
    return { page, status }
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    const headers = { origin: this.#origin, cookie: this.#cookie, ...(init.headers as Record<string, string>) }
    return fetch(url, { ...init, redirect: 'manual', headers })
  }
}

async function connect(
  origin: string,
  token: unknown,
): Promise<{ readonly client: Client; must(name: string, given?: Json): Promise<Json> }> {
  const requestInit = { headers: { authorization: `Bearer ${String(token)}` } }
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }))
  return {
    client,
    async must(name, given = {}) {
      const { isError, structuredContent } = await client.callTool({ name, arguments: { ...given } })
      if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`)
      return structuredContent as Json
    },
  }
}

test('an agent comes from an address to live mail, with a person where one is needed', async (t) => {
  await using folder = await temporaryFolder('journey')
  const refusing = (address: string): string | undefined => (address.includes('gone') ? '550 5.1.1 no such user' : undefined)
  await using sink = await Sink.listen({ script: { recipient: refusing } })
  const [port, env] = [await freePort(), { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }]
  const options = { folder: folder.path, env: { ...env, POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` } }
  await using daemon = await Daemon.start(options)
  const origin = `http://localhost:${portOf(daemon.addresses.http)}`
  const token = async (fields: Record<string, string>): Promise<Json> => {
    const body = new URLSearchParams({ client_id: 'anonymous-bootstrap', ...fields })
    return (await (await fetch(`${origin}/oauth/token`, { method: 'POST', body })).json()) as Json
  }
  const { resource } = (await (await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)).json()) as Json
  const first = await token({ grant_type: 'client_credentials', resource: String(resource) })
  const sandboxed = await connect(origin, first['access_token'])
  t.like(await sandboxed.must('account_status'), { status: 'anonymous' })
  const { inbox_id: inbox } = await sandboxed.must('email_sandbox_inbox_open')
  const mail = { from: 'shop@example.com', to: 'customer@example.net', subject: 'Hello', text: 'It works.' }
  const waiting = sandboxed.must('virtual_inbox_message_wait', { id_or_address: inbox, timeout_seconds: 60 })
  await eventually(30_000, 'the wait has begun', async () => {
    await sandboxed.must('email_send_test', mail)
    return Promise.race([waiting.then(() => true), new Promise((resolve) => setImmediate(() => resolve(undefined)))])
  })
  const { message } = (await waiting) as { message: { id: string } }
  t.like(await sandboxed.must('virtual_inbox_message_get', { id: message.id }), { untrusted: { subject: 'Hello' } })
  t.is(sink.deliveries.length, 0)

  const claim = await sandboxed.must('account_claim', { email })
  const { output } = await runCommand(options, 'login-link', email)
  const person = new Person(origin)
  await person.open(/http:\/\/\S+\/sign-in\/link\/[\w-]{43}/.exec(output)?.[0] ?? '')
  t.is(await person.allow(`/claims/${String(claim['user_code'])}`, { send_sandbox: 'on', send_live: 'on', admin: 'on' }), 303)
  const next = await token({ grant_type: 'refresh_token', refresh_token: String(first['refresh_token']) })
  const agent = await connect(origin, next['access_token'])
  t.like(await agent.must('account_status'), { status: 'claimed', claim_progress: { claimed: true } })

  const credentials = { host: '127.0.0.1', port: sink.port, security: 'none' }
  const connected = await agent.must('email_provider_connect', { provider: 'smtp', credentials, name: 'Provider' })
  const destination_id = connected['id']
  t.like(connected, { mode: 'sandbox' })
  t.like(await agent.must('email_provider_test', { destination_id }), { ok: true })
  t.like(await agent.must('email_send_test', { ...mail, destination_id }), { outcome: 'captured.sandbox_destination' })
  t.like(await agent.must('destination_promote_to_live', { destination_id }), { mode: 'live', already_live: false })
  const { project_id: project } = await agent.must('account_status')
  t.is(await person.change(`/v1/projects/${String(project)}`, { agent_send_approval: 'always' }), 200)
  const live = await agent.must('email_send_test', { ...mail, to_extra: ['gone@example.net'], destination_id })
  t.like(live, { outcome: 'relayed', status: 'awaiting_approval' })
  t.is(sink.deliveries.length, 0)
  const { page, status } = await person.decide((live['approval'] as { url: string }).url, 'approve')
  t.true(['customer@example.net', 'gone@example.net', 'It works.'].every((word) => page.includes(word)))
  t.is(status, 303)
  const delivery = await within(
    60_000,
    'it is delivered',
    sink.delivered(({ to }) => to.includes('customer@example.net')),
  )
  t.regex(delivery.text, /Subject: Hello/)

  const trace = await eventually(60_000, 'its end is known', async () => {
    const { trace: seen } = (await agent.must('email_trace_lookup', { trace_id: live['trace_id'] })) as { trace: Json }
    return seen['status'] === 'failed' ? seen : undefined
  })
  t.like(trace, { door: 'mcp', summary: '1 sent, 1 failed (hard bounce)' })
  t.regex(JSON.stringify(trace), /Approved by ada@example\.ch/)
  t.like(await agent.must('email_diagnose_bounce', { message_id: live['trace_id'] }), { found: true, bounce: 'hard', stage: 'rcpt' })
  t.like(await agent.must('email_diagnose_missing', { recipient: 'gone@example.net', time_window: '24h' }), { verdict: 'bounced' })
  for (const { client } of [sandboxed, agent]) await client.close()
})
