/**
 * An agent that only knows the address, and Postfix at both ends: it accepts mail, refuses some, and returns some. A client of the latest
 * protocol version calls every tool for its result; a client of the previous version calls it for its refusal.
 */
import type { ExecutionContext } from 'ava'
import { toolRequestsOf, type ToolMade } from '../admin-api/mcp/walks/tool-requests.ts'
import { NameServer } from '../core/outbound/name-server.ts'
import { allowedClient } from '../flows/agents/allowed-client.ts'
import { CalledTools, callOtherTools } from '../flows/agents/every-tool.ts'
import { Person } from '../flows/agents/person.ts'
import { waitFor } from '../support/waits.ts'
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { closedPort } from '../support/network/held-port.ts'
import { programPort } from '../support/network/program-port.ts'
import { testWith } from '../support/peers/peers.ts'
import type { ToolCalls } from '../support/web/tool-calls.ts'
import { Sink } from '../support/smtp/sink.ts'
import { WebhookReceiver } from '../support/web/webhook-receiver.ts'
import { Dovecot, dovecotPassword } from './dovecot.ts'
import { Postfix } from './postfix.ts'

const peers = testWith('postfix', 'dovecot')

interface DnsRecord {
  readonly purpose: string
  readonly type: string
  readonly name: string
  readonly expected: string
}

/** Splits a TXT record into strings of at most 255 octets. */
const stringsOf = (text: string): readonly string[] => text.match(/[^]{1,255}/g) ?? []

/** Publishes the records that the agent received. */
async function verifyDomain(t: ExecutionContext, agent: ToolCalls, dns: NameServer, destination_id: unknown): Promise<void> {
  const { records } = await agent.must('email_domain_verify_records', { domain: 'site.test', destination_id })
  t.like(await agent.must('email_domain_verify_status', { domain: 'site.test' }), { domain: { status: 'pending' } })
  for (const { type, name, expected } of records as readonly DnsRecord[])
    if (type === 'TXT') dns.zones.set(name, { txt: [...(dns.zones.get(name)?.txt ?? []), stringsOf(expected)] })
  t.like(await agent.must('email_domain_verify_status', { domain: 'site.test' }), { found: true, domain: { status: 'verified' } })
}

/** The return path through Postfix: a mail of the agent is scored, and a refused one is sent again. */
async function scoreAndReplay(t: ExecutionContext, agent: ToolCalls, mail: object): Promise<void> {
  const { id: inspect_id, address } = await agent.must('email_inspect_address_create')
  await agent.must('email_send_test', { ...mail, to: address })
  const inspected = await waitFor('the report is there', async () => {
    const found = await agent.must('email_inspect_report_get', { inspect_id })
    return found['status'] === 'ready' ? found : undefined
  })
  t.like(inspected, { untrusted_mail: { subject: 'Your order' } })
  t.is((inspected['checks'] as readonly unknown[]).length, 17)

  const { id: login } = await agent.must('smtp_credential_create', { label: 'Shop' })
  t.like(await agent.must('smtp_credential_test_connection', { id: login }), { ok: true })
  const { job_id } = await agent.must('email_bulk_replay', { filter: { to: 'gone@shop.test' } })
  const replayed = await waitFor('the replay has ended', async () => {
    const found = await agent.must('email_bulk_replay_status', { job_id })
    return found['status'] === 'finished' ? found : undefined
  })
  t.like(replayed, { counters: { examined: 1, replayed: 1 } })
}

/** Returns the first request to the endpoint. */
const delivered = (agent: ToolCalls, endpoint_id: unknown) =>
  waitFor('the webhook was delivered', async () => {
    const { data } = await agent.must('webhook_attempts_list', { endpoint_id })
    return (data as readonly Readonly<Record<string, unknown>>[]).find((one) => one['status'] === 'succeeded')
  })

/** Creates a source for a Dovecot mailbox and returns its id. */
async function mailboxSource({ rest }: Daemon, { tlsPort }: Dovecot): Promise<string> {
  const imap_config = { host: '127.0.0.1', port: tlsPort, username: 'web', password: dovecotPassword, mailbox: 'INBOX' }
  return String((await rest.must('POST', '/v1/ingest-sources', { provider: 'postfix', imap_config }))['id'])
}

/** A refused call contains no id of an existing object. */
async function beRefused(t: ExecutionContext, agent: ToolCalls): Promise<void> {
  const requests = toolRequestsOf({} as ToolMade)
  for (const [name, { wrong = { given: { no_such_argument: 1 }, code: 'validation_failed' } }] of Object.entries(requests)) {
    const { code, message, next_action: next } = await agent.refused(name, wrong.given)
    t.is(code, wrong.code, `${name}: ${message}`)
    t.true(message.length > 10 && next.length > 3, name)
  }
}

peers('an agent sets a provider and a domain up, sends, gets mail and reports, and finds out why some did not arrive', async (t) => {
  await using outer = await temporaryFolder('postfix')
  await using folder = await temporaryFolder('agent')
  await using mailboxes = await temporaryFolder('dovecot')
  await using dovecot = await Dovecot.start({ folder: mailboxes.path })
  await using dns = new NameServer()
  await using sink = await Sink.listen()
  await using receiver = await new WebhookReceiver().listen()
  const port = await programPort()
  const env = {
    POSTERN_HTTP_LISTEN: `127.0.0.1:${port}`,
    POSTERN_INBOUND_DOMAIN: 'in.site.test',
    POSTERN_IMAP_CA_FILE: dovecot.ca,
    POSTERN_DNS_SERVERS: await dns.listen(),
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
  }
  const options = { folder: folder.path, env }
  await using daemon = await Daemon.start(options)
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: `[127.0.0.1]:${sink.port}`,
      transport_maps: `inline:{{in.site.test = smtp:[127.0.0.1]:${portOf(daemon.addresses.mx[0])}}}`,
      smtpd_recipient_restrictions:
        'check_recipient_access inline:{{gone@shop.test = 550 5.1.1 Gone since May}}, permit_mynetworks, reject',
      smtp_tls_security_level: 'may',
    },
  })
  const origin = `http://localhost:${port}`
  const olga = await Person.signIn(options, origin, 'olga@example.ch')
  const [client, called] = [await allowedClient(`${origin}/mcp`, olga), new CalledTools()]
  const agent = called.of(client)

  const connect = (name: string, host: number) =>
    agent.must('email_provider_connect', { provider: 'smtp', name, credentials: { host: '127.0.0.1', port: host, security: 'none' } })
  const { id: destination_id } = await connect('Postfix', postfix.port)
  const { id: dead } = await connect('Nobody there', await closedPort(t))
  t.like(await agent.must('email_provider_test', { destination_id }), { ok: true })
  t.like(await agent.must('email_provider_test', { destination_id: dead }), { ok: false })
  t.like(await agent.must('email_provider_health', { destination_id }), { reachability: { ok: true } })
  t.like(await agent.must('destination_promote_to_live', { destination_id }), { mode: 'live' })

  await verifyDomain(t, agent, dns, destination_id)
  const { id: endpoint_id } = await agent.must('webhook_endpoint_create', { name: 'Events', target_url: receiver.url })
  const { id: route_id } = await agent.must('email_inbound_route_create', { local_part_pattern: 'shop', webhook_url: receiver.url })
  const mail = { from: 'web@site.test', subject: 'Your order', text: 'It is on its way.', destination_id, reply_to: 'help@site.test' }
  const to_extra = ['gone@shop.test', 'shop@in.site.test']
  const { trace_id } = await agent.must('email_send_test', { ...mail, to: 'ben@shop.test', to_extra })
  const trace = await waitFor('the trace has ended', async () => {
    const { trace: seen } = (await agent.must('email_trace_lookup', { trace_id })) as { readonly trace: Readonly<Record<string, unknown>> }
    return seen['status'] === 'failed' ? seen : undefined
  })
  t.is(trace['summary'], '2 sent, 1 failed (hard bounce)')
  const arrived = await sink.delivered(({ to }) => to.includes('ben@shop.test'))
  t.regex(arrived.text, /^DKIM-Signature: /m)
  const bounce = await agent.must('email_diagnose_bounce', { message_id: trace_id })
  t.like(bounce, { found: true, bounce: 'hard', stage: 'rcpt' })
  t.regex(JSON.stringify(bounce['untrusted_reply']), /Gone since May/)
  t.like(await agent.must('email_diagnose_missing', { recipient: 'gone@shop.test', time_window: '1h' }), { verdict: 'bounced' })

  const received = await waitFor('Postfix brought the mail', async () => {
    const { data } = await agent.must('email_inbound_messages_list', { route_id, limit: 5 })
    return (data as readonly Readonly<Record<string, unknown>>[]).find((one) => one['status'] === 'processed')
  })
  t.like(received, { untrusted_subject: 'Your order', untrusted_envelope_from: 'web@site.test', untrusted_helo: 'smarthost.test' })
  t.like(await delivered(agent, endpoint_id), { event_type: 'failed', trace_id, last_status_code: 204 })

  await scoreAndReplay(t, agent, mail)
  const [live, polled] = [String(destination_id), await mailboxSource(daemon, dovecot)]
  await callOtherTools(t, { agent, rest: daemon.rest, origin, live, dead: String(dead), sink, receiver, polled })
  t.true(client.asked() > 1, 'for each scope that a call needed')
  const older = await allowedClient(`${origin}/mcp`, olga, 'legacy')
  await beRefused(t, called.of(older))
  called.assertAll(t, (await client.client.listTools()).tools)
  for (const one of [client, older]) await one.client.close()
  t.is((await daemon.stop()).code, 0)
})
