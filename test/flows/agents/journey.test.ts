/** An agent from an address to a diagnosis: a sandbox, a person who takes it over, a provider, live mail, and reasons of failed mail. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { Person } from './person.ts'

type Json = Readonly<Record<string, unknown>>

const email = 'ada@example.ch'

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

test('agent: gets from an address to live mail, with a person for approvals', async (t) => {
  await using folder = await temporaryFolder('journey')
  const refusing = (address: string): string | undefined => (address.includes('gone') ? '550 5.1.1 no such user' : undefined)
  await using sink = await Sink.listen({ script: { recipient: refusing } })
  const [port, env] = [await programPort(), { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }]
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
  const pending = sandboxed.must('virtual_inbox_message_wait', { id_or_address: inbox, timeout_seconds: 60 })
  await waitFor('the wait has begun', async () => {
    await sandboxed.must('email_send_test', mail)
    return Promise.race([pending.then(() => true), new Promise((resolve) => setImmediate(() => resolve(undefined)))])
  })
  const { message } = (await pending) as { message: { id: string } }
  t.like(await sandboxed.must('virtual_inbox_message_get', { id: message.id }), { untrusted: { subject: 'Hello' } })
  t.is(sink.deliveries.length, 0)

  const claim = await sandboxed.must('account_claim', { email })
  const person = await Person.signIn(options, origin, email)
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
  const template = { slug: 'hello', name: 'Hello', subject_tmpl: 'Hello', text_tmpl: 'It works, {{name}}.' }
  const { id } = await agent.must('email_template_create', template)
  const { subject: _subject, text: _text, ...envelope } = mail
  const live = await agent.must('email_send_test', {
    ...{ ...envelope, to_extra: ['gone@example.net'], destination_id, template_slug: 'hello', template_vars: { name: 'Ada' } },
  })
  t.like(live, { outcome: 'relayed', status: 'awaiting_approval' })
  await agent.must('email_template_create', { ...template, text_tmpl: 'Something else.' })
  await agent.must('email_template_delete', { id })
  t.is(sink.deliveries.length, 0)
  const { page, file, status } = await person.decide((live['approval'] as { url: string }).url, 'approve')
  t.true(['customer@example.net', 'gone@example.net', 'It works, Ada.'].every((word) => page.includes(word)))
  t.is(status, 303)
  const delivery = await waiting(
    'it is delivered',
    sink.delivered(({ to }) => to.includes('customer@example.net')),
  )
  t.regex(delivery.text, /Subject: Hello/)
  t.is(delivery.text.slice(delivery.text.indexOf('Date: ')), `${file}\r\n`, 'the viewed file, octet by octet')

  const trace = await waitFor('the trace has ended', async () => {
    const { trace: seen } = (await agent.must('email_trace_lookup', { trace_id: live['trace_id'] })) as { trace: Json }
    return seen['status'] === 'failed' ? seen : undefined
  })
  t.like(trace, { door: 'mcp', summary: '1 sent, 1 failed (hard bounce)' })
  t.regex(JSON.stringify(trace), /Approved by ada@example\.ch/)
  t.like(await agent.must('email_diagnose_bounce', { message_id: live['trace_id'] }), { found: true, bounce: 'hard', stage: 'rcpt' })
  t.like(await agent.must('email_diagnose_missing', { recipient: 'gone@example.net', time_window: '24h' }), { verdict: 'bounced' })
  for (const { client } of [sandboxed, agent]) await client.close()
})
