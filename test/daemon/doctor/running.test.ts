/** A running daemon reports its problems by REST, metrics, command, mail, webhook and as alerts. */
import { createHmac } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import type { AlertEvent } from '#core/alerts/kinds/alert-event.ts'
import { SystemResolver, systemLookUp } from '#core/outbound/resolver.ts'
import { writeSeen } from '#core/ingest-sources/source-status.ts'
import { destinations } from '#core/routing/destination.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { RecordIds } from '#store/ids.ts'
import { doctor } from '../../../daemon/commands/doctor.ts'
import { writeOperatorFile } from '../../../daemon/process/operator-file.ts'
import { destinationDefaults } from '../../core/records.ts'
import { column } from '../../support/column.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { operatorToken, startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { NameServer, type Records } from '../../support/web/name-server.ts'
import { receiverOf, type Received } from '../../support/web/webhook-receiver.ts'

interface Found {
  readonly id: string
  readonly severity: string
  readonly subject: string
  readonly summary: string
  readonly fix: string
}
interface Report {
  readonly ok: boolean
  readonly checked_at: string | null
  readonly findings: readonly Found[]
}

const operatorKey = `svcop_${'o'.repeat(43)}`
const systemDestination = new RecordIds().next('dst', 0)
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const second = 1000
const minute = 60 * second
const day = 86_400_000

/** A daemon with notifications, and a name server with records that a test can change. */
async function watched(t: ExecutionContext, env: Readonly<Record<string, string>> = {}) {
  const records: Record<string, readonly string[]> = {}
  const names = await NameServer.start(records satisfies Records)
  t.teardown(() => names[Symbol.asyncDispose]())
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const receiver = await receiverOf(t)
  const clock = FakeClock.atMachineTime()
  const daemon = await startDaemon(t, {
    env: {
      POSTERN_OPERATOR_KEY: operatorKey,
      POSTERN_SMTP_HOST: 'mail.example.org',
      POSTERN_INBOUND_DOMAIN: 'bounces.example.org',
      POSTERN_SYSTEM_DESTINATION: systemDestination,
      POSTERN_SYSTEM_FROM: 'Postern <post@example.org>',
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.0/8;webhooks=127.0.0.1/32',
      POSTERN_DOCTOR_MAIL_TO: 'ops@example.org',
      POSTERN_DOCTOR_WEBHOOK_URL: receiver.url,
      POSTERN_DOCTOR_WEBHOOK_SECRET: secret,
      POSTERN_DOCTOR_ADDRESSES: '192.0.2.7',
      POSTERN_DOCTOR_BLOCKLISTS: 'zen.spamhaus.org,bl.spamcop.net',
      POSTERN_STORE_LOW_DISK_BYTES: '1048576',
      ...env,
    },
    replacements: {
      clock,
      resolver: new SystemResolver({ servers: [names.address] }),
      lookUp: systemLookUp([names.address]),
    },
  })
  const { database, organizationId } = daemon
  const mailDestination = {
    ...destinationDefaults,
    ...{ id: systemDestination, projectId: await projectOf(daemon), host: '127.0.0.1', port: sink.port, security: 'none' as const },
  }
  await database.commit(new Change().insert(destinations, organizationId, mailDestination))
  const operator = daemon.client(operatorKey)
  const look = async (): Promise<Report> => (await operator.must('POST', '/operator/v1/doctor')) as unknown as Report
  return { daemon, operator, look, records, sink, receiver, clock }
}

async function projectOf({ rest }: StartedDaemon): Promise<string> {
  const { data } = (await rest.must('GET', '/v1/projects')) as { data: readonly { readonly id: string }[] }
  return data[0]?.id ?? ''
}

/** Adds a signing domain and publishes all of its records. */
async function publish({ rest }: StartedDaemon, records: Record<string, readonly string[]>): Promise<readonly string[]> {
  const made = (await rest.must('POST', '/v1/domains', { domain: 'example.com' })) as {
    id: string
    records: readonly { purpose: string; type: string; name: string; expected: string }[]
  }
  for (const { type, name, expected } of made.records)
    records[`${name} ${type}`] = [expected.replace('include:<your provider>', 'ip4:192.0.2.7')]
  await rest.must('POST', `/v1/domains/${made.id}/verify`)
  return made.records.filter(({ purpose }) => purpose === 'dkim').map(({ name }) => `${name} TXT`)
}

/** Our address with a reverse name, listed by one blocklist and refused by the other. */
const ownAddress = {
  '7.2.0.192.in-addr.arpa PTR': ['mail.example.org'],
  'mail.example.org A': ['192.0.2.7'],
  '7.2.0.192.zen.spamhaus.org A': ['127.0.0.2'],
  '7.2.0.192.bl.spamcop.net A': ['127.255.255.254'],
} as const

/** Creates a destination with a closed port, given-up webhooks, and a source with its last report a week ago. */
async function breakThings(t: ExecutionContext, daemon: StartedDaemon, hook: string, at: number) {
  const { rest, database, organizationId } = daemon
  const projectId = await projectOf(daemon)
  const broken = {
    ...destinationDefaults,
    id: database.newId('dst', 1),
    projectId,
    name: 'Broken',
    host: '127.0.0.2',
    port: await closedPort(t),
  }
  const endpoint = await rest.must('POST', '/v1/webhooks', { name: 'Hook', target_url: hook, event_types: ['bounced'] })
  const source = await rest.must('POST', '/v1/ingest-sources', { provider: 'stalwart', label: 'mx1' })
  const change = new Change().insert(destinations, organizationId, broken)
  change.insert(webhookDeliveries, organizationId, {
    ...{
      id: database.newId('wha', at),
      deliveryId: '00000000-0000-4000-8000-000000000001',
      eventId: 'evt_1',
      eventType: 'bounced',
      endpointId: String(endpoint['id']),
    },
    ...{ projectId, traceId: null, body: '{}', status: 'parked', attemptCount: 7, begun: { at, attempts: 0 }, lastStatusCode: 500 },
    ...{ lastError: 'The receiver returned status 500.', nextAttemptAt: null, createdAt: at, updatedAt: at },
  })
  await database.commit(change)
  await database.commit(writeSeen(new Change(), organizationId, String(source['id']), { at: at - 7 * day, agent: null }))
  return { broken, endpointId: String(endpoint['id']), sourceId: String(source['id']) }
}

function checkSignature(t: ExecutionContext, alert: Received | undefined): void {
  const signed = `${String(alert?.headers['webhook-id'])}.${String(alert?.headers['webhook-timestamp'])}.${alert?.body ?? ''}`
  t.is(alert?.headers['webhook-signature'], `v1,${createHmac('sha256', Buffer.alloc(32, 1)).update(signed).digest('base64')}`)
}

async function checkMetrics(t: ExecutionContext, { addresses }: StartedDaemon): Promise<void> {
  const metrics = await (await fetch(`http://${addresses.http}/metrics`)).text()
  t.regex(metrics, /^postern_doctor_findings\{severity="error"\} 4$/m)
  t.regex(metrics, /^postern_doctor_findings\{severity="warning"\} 1$/m)
  t.regex(metrics, /^postern_doctor_finding\{id="domain\.dkim"\} 1$/m)
}

/** Returns the output of `postern doctor --json` with the running daemon. */
async function byCommand({ addresses, config }: StartedDaemon) {
  const [host = '', port] = addresses.http.split(':')
  await writeOperatorFile(
    config.dataDir,
    { http: { host, port: Number(port) }, https: [], acme: [], submission: [], submissions: [], mx: [], sites: [] },
    operatorToken,
  )
  const printed: string[] = []
  const code = await doctor(config, true, { write: (text: string) => printed.push(text) })
  return { code, ...(JSON.parse(printed.join('')) as { readonly ok: boolean; readonly findings: readonly Record<string, unknown>[] }) }
}

async function assertPrinted(t: ExecutionContext, daemon: StartedDaemon): Promise<void> {
  const { code, findings } = await byCommand(daemon)
  t.is(code, 1)
  t.true(findings.every((one) => /^id,severity,(organization_name,)?summary,fix$/.test(Object.keys(one).join())))
  t.is(typeof findings.find(({ id }) => id === 'domain.dkim')?.['organization_name'], 'string')
  t.is(findings.find(({ id }) => id === 'address.listed')?.['organization_name'], undefined)
}

test('problems: reported once by REST, metrics, command, mail, webhook, like their end', async (t) => {
  const { daemon, operator, look, records, sink, receiver, clock } = await watched(t)
  t.like(await operator.must('GET', '/operator/v1/doctor'), { ok: true, checked_at: null, findings: [] })
  const dkim = await publish(daemon, records)
  Object.assign(records, ownAddress)
  t.is(dkim.length, 1)
  const key = records[dkim[0] ?? ''] ?? []
  delete records[dkim[0] ?? '']

  const { broken, endpointId, sourceId } = await breakThings(t, daemon, receiver.url, clock.now())

  const report = await look()
  t.false(report.ok)
  const byId = new Map(report.findings.map((one) => [one.id, one]))
  t.deepEqual(
    report.findings.map(({ id, severity, subject }) => [severity, id, subject]),
    [
      ['error', 'address.listed', '192.0.2.7 zen.spamhaus.org'],
      ['error', 'destination.probe_failed', broken.id],
      ['error', 'domain.dkim', 'example.com'],
      ['error', 'webhook.parked', endpointId],
      ['warning', 'source.silent', sourceId],
      ['notice', 'backup.none', ''],
      ['notice', 'blocklist.refused', 'bl.spamcop.net'],
    ],
  )
  t.regex(
    byId.get('webhook.parked')?.summary ?? '',
    /^One webhook delivery to Hook was given up within 7 days: the receiver returned status 500\.$/,
  )
  for (const { summary, fix } of report.findings) t.regex(`${summary}\n${fix}`, /^[A-Z0-9a-z].*\.\n[A-Z].*\.$/)

  // alerts: one message to each of the two channels, with everything that was found
  await daemon.pass(90 * second)
  const [alert] = await receiver.hasReceived(1)
  const mail = await sink.delivered(({ to }) => to.includes('ops@example.org'))
  t.regex(mail.text, /^Subject: Error in Postern: .* \(and 4 more\)/m)
  const kindsOf = (received: Received | undefined) => {
    const { type, data } = JSON.parse(received?.body ?? '{}') as AlertEvent
    return [type, column(data.open, 'kind').toSorted(), column(data.over, 'kind').toSorted()]
  }
  const errors = ['address.listed', 'destination.probe_failed', 'domain.dkim']
  t.deepEqual(kindsOf(alert), ['alert', [...errors, 'source.silent', 'webhook.parked'], []])
  checkSignature(t, alert)
  await checkMetrics(t, daemon)
  await assertPrinted(t, daemon)

  // two problems are solved, which is told after ten minutes; the others were told before
  records[dkim[0] ?? ''] = key
  delete records['7.2.0.192.zen.spamhaus.org A']
  t.false((await look()).findings.some(({ id }) => id === 'domain.dkim' || id === 'address.listed'))
  await daemon.pass(11 * minute)
  t.deepEqual(kindsOf((await receiver.hasReceived(2))[1]), ['alert', [], ['address.listed', 'domain.dkim']])
  const ended = await sink.delivered(({ text }) => /^Subject: Resolved in Postern: [^]*?\(and\s+1\s+more\)/m.test(text))
  t.true(ended.to.includes('ops@example.org'))

  // after a restart, told findings are known; an error that persists is repeated after a day
  await daemon.stop()
  const next = await daemon.again()
  await next.client(operatorKey).must('POST', '/operator/v1/doctor')
  await next.settled()
  clock.advance(day)
  await next.pass(second)
  const repeated = ['alert', ['destination.probe_failed', 'webhook.parked'], []]
  t.deepEqual(kindsOf((await receiver.hasReceived(3))[2]), repeated, 'nothing in between')
})
