/** Real bounces: Debian's Postfix accepts mail from the daemon, the next server refuses it, and Postfix returns a bounce. */
import type { ExecutionContext } from 'ava'
import { Daemon, portOf, runCommand } from '../support/daemon/daemon.ts'
import { NameServer } from '../core/outbound/name-server.ts'
import { waitFor, waiting } from '../support/waits.ts'
import { WebhookReceiver } from '../support/web/webhook-receiver.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import type { RestClient } from '../support/daemon/rest.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { traceIdOf } from '../support/smtp/smtp-replies.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { testWith } from '../support/peers/peers.ts'
import { Dovecot, dovecotPassword } from './dovecot.ts'
import { Postfix } from './postfix.ts'
import { assertVerified } from '../support/problems.ts'

const peers = testWith('postfix', 'dovecot')
const refusal = '550 5.1.1 <anna@shop.test>: no such user'
const [anna, ben] = ['anna@shop.test', 'ben@shop.test'] as const

interface Recipient {
  readonly address: string
  readonly status: string
}

/** Submits a message to both recipients and returns its trace id. */
async function submit(daemon: Daemon, destinationId: string, settings: Readonly<Record<string, unknown>>): Promise<string> {
  const login = await makeLogin(daemon.rest, destinationId, settings)
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const content = Buffer.from(`From: web@site.test\r\nTo: ${anna}, ${ben}\r\nSubject: Your order\r\n\r\nHello\r\n`)
  const { reply } = await client.send({ from: 'web@site.test', to: [anna, ben], content })
  await client.quit()
  return String(traceIdOf(reply))
}

/** Waits for this status of the trace. Returns the status of each recipient. */
async function settled(t: ExecutionContext, rest: RestClient, id: string, status: string): Promise<Record<string, unknown>> {
  const trace = await waitFor(`the trace is ${status}`, async () => {
    const found = await rest.must('GET', `/v1/traces/${id}`)
    return found['status'] === status ? found : undefined
  })
  t.log((trace['recipients'] as Recipient[]).map(({ address, status: one }) => `${address} ${one}`))
  return trace
}

const statuses = (trace: Record<string, unknown>): string[] =>
  (trace['recipients'] as Recipient[]).map(({ address, status }) => `${address} ${status}`)

peers('A bounce of Postfix comes back over MX to the return path of its recipient', async (t) => {
  await using outer = await temporaryFolder('postfix')
  await using folder = await temporaryFolder('bounces')
  await using sink = await Sink.listen({
    script: {
      recipient: (address) => (address === anna ? '550 5.1.1 <anna@shop.test>: no such user' : undefined),
    },
  })
  await using daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_INBOUND_DOMAIN: 'bounces.site.test' } })
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: `[127.0.0.1]:${String(sink.port)}`,
      transport_maps: `inline:{{bounces.site.test = smtp:[127.0.0.1]:${String(portOf(daemon.addresses.mx[0]))}}}`,
      smtp_tls_security_level: 'may',
    },
  })
  const destination = await makeDestination(daemon.rest, { name: 'Postfix', port: postfix.port, mode: 'live' })
  const id = await submit(daemon, destination, { verp_enabled: true })

  const trace = await settled(t, daemon.rest, id, 'bounced')
  t.deepEqual(statuses(trace), [`${anna} bounced`, `${ben} sent`])
  t.regex(JSON.stringify(trace['timeline']), /no such user/)
  await sink.delivered(({ to }) => to.includes(ben))
  // the bounce used TLS, and caused no reply
  await waitFor('Postfix is done', async () =>
    /to=<b\S+@bounces\.site\.test>.*status=sent \(250 2\.0\.0/.test(await postfix.log()) ? true : undefined,
  )
  t.notRegex(await postfix.log(), /status=deferred/)
})

peers('A bounce of Postfix in a mailbox of Dovecot is polled over IMAP inside TLS', async (t) => {
  const owner = { uid: 65534, gid: 65534 }
  await using outer = await temporaryFolder('postfix')
  await using mail = await temporaryFolder('dovecot')
  await using folder = await temporaryFolder('polled')
  await using sink = await Sink.listen({ script: { recipient: (address) => (address === anna ? refusal : undefined) } })
  await using dovecot = await Dovecot.start({ folder: mail.path, owner })
  const options = { folder: folder.path, env: { POSTERN_IMAP_CA_FILE: dovecot.ca } }
  await using daemon = await Daemon.start(options)
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: `[127.0.0.1]:${String(sink.port)}`,
      virtual_mailbox_domains: 'site.test',
      virtual_mailbox_base: `${mail.path}/mail`,
      virtual_mailbox_maps: 'inline:{{web@site.test = web/}}',
      virtual_uid_maps: `static:${owner.uid}`,
      virtual_gid_maps: `static:${owner.gid}`,
    },
  })
  const { rest } = daemon
  const destination = await makeDestination(rest, { name: 'Postfix', port: postfix.port, mode: 'live' })
  const id = await submit(daemon, destination, {})
  await waitFor('the notice is in the mailbox', async () => ((await dovecot.files('web')).length > 0 ? true : undefined))

  const imap = { host: '127.0.0.1', port: dovecot.tlsPort, username: 'web', poll_interval_seconds: 30 }
  const source = await rest.must('POST', '/v1/ingest-sources', {
    provider: 'postfix',
    imap_config: { ...imap, password: dovecotPassword, mailbox: 'INBOX' },
  })
  const trace = await settled(t, rest, id, 'bounced')
  t.deepEqual(statuses(trace), [`${anna} bounced`, `${ben} sent`])
  t.regex(JSON.stringify(trace['timeline']), /no such user/)
  const shown = await waitFor('the end of the first check is shown', async () => {
    const found = await rest.must('GET', `/v1/ingest-sources/${String(source['id'])}`)
    return (found['imap'] as Record<string, unknown>)['last_polled_at'] === null ? undefined : found
  })
  t.like(shown['imap'], { ...imap, last_error: null, skipped_mails: 0 })
  t.false(JSON.stringify(shown).includes(dovecotPassword))
  t.false(daemon.log.includes(dovecotPassword))
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})

peers('Postfix delivers over TLS to an inbound route, and keeps nothing', async (t) => {
  await using outer = await temporaryFolder('postfix')
  await using folder = await temporaryFolder('inbound')
  await using dns = new NameServer()
  await using receiver = await new WebhookReceiver().listen()
  const env = {
    POSTERN_INBOUND_DOMAIN: 'in.site.test',
    POSTERN_DNS_SERVERS: await dns.listen(),
    POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32',
  }
  await using daemon = await Daemon.start({ folder: folder.path, env })
  const relayhost = `[127.0.0.1]:${String(portOf(daemon.addresses.mx[0]))}`
  await using postfix = await Postfix.start({ folder: outer.path, settings: { relayhost, smtp_tls_security_level: 'encrypt' } })
  await daemon.rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop+*', webhook_url: receiver.url })
  const client = await SmtpClient.connect({ port: postfix.port })
  const content = Buffer.from('From: anna@peer.test\r\nSubject: Question\r\n\r\nIs it open on Sunday?\r\n')
  t.true((await client.send({ from: 'anna@peer.test', to: ['shop+sunday@in.site.test', 'shop+open@in.site.test'], content })).accepted)
  await client.quit()
  const [request] = await waiting('the mail arrives', receiver.hasReceived(1))
  const { data } = JSON.parse(request?.body ?? '') as { data: Record<string, unknown> }
  t.like(data, { subject: 'Question', envelope: { from: 'anna@peer.test', tls: true, helo: 'smarthost.test' } })
  t.deepEqual((data['envelope'] as { to: string[] }).to.toSorted(), ['shop+open@in.site.test', 'shop+sunday@in.site.test'])
  await waitFor('Postfix is done', async () => (/status=sent \(250 2\.0\.0/.test(await postfix.log()) ? true : undefined))
  t.notRegex(await postfix.log(), /status=(?:deferred|bounced)/)
})
