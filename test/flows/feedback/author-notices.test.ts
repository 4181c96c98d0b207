/** A refusal after the 250: the author of local mail gets a report, and REST callers read their traces. */
import test from '#test'
import { readReport } from '#ingest/report/report.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { traceIdOf } from '../../support/smtp/smtp-replies.ts'

const minute = 60_000
const author = 'editor@example.ch'
const gone = 'gone@example.net'
const letter = `From: ${author}\r\nTo: ${gone}\r\nSubject: hi\r\nMessage-ID: <m1@example.ch>\r\nDate: Sat, 28 Nov 2026 10:00:00 +0000\r\n\r\nhello\r\n`

test("author notice: a refusal after the 250 is reported to the author's server", async (t) => {
  await using sink = await Sink.listen({ script: { recipient: (to) => (to.startsWith('gone') ? '550 5.1.1 no such user' : undefined) } })
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SMTP_HOST: 'relay.example.ch' }
  const daemon = await startDaemon(t, { env })
  const { rest, addresses } = daemon
  const destinationId = await makeDestination(rest, { name: 'Provider', port: sink.port, mode: 'live' })
  const login = await makeLogin(rest, destinationId, { allowed_from_domains: ['example.ch'] })
  const port = Number(addresses.submission.split(':').at(-1))
  const client = await SmtpClient.signIn({ port }, login)
  const { accepted, reply } = await client.send({ from: author, to: [gone], content: Buffer.from(letter) })
  await client.quit()
  t.true(accepted)
  await daemon.settled()
  t.is(sink.deliveries.length, 0)
  await daemon.pass(minute)
  const [notice, ...others] = sink.deliveries
  t.is(others.length, 0)
  t.like(notice, { from: '', to: [author] })
  const { kind, events } = readReport(Buffer.from(notice?.content ?? ''))
  t.is(kind, 'dsn')
  t.like(events[0], { recipient: gone, action: 'failed', status: '5.1.1', reportingMta: 'relay.example.ch' })
  const traceId = traceIdOf(reply) ?? ''
  const trace = await rest.must('GET', `/v1/traces/${traceId}`)
  const timeline = trace['timeline'] as { event: string; detail: Record<string, unknown> }[]
  const told = timeline.find(({ event }) => event === 'author_notified')
  t.like(told?.detail, { to: author, recipients: [gone] })
  const other = await rest.must('GET', `/v1/traces/${String(told?.detail['notice_trace_id'])}`)
  t.is(other['door'], 'failure_notice')
  const accepting = (other['timeline'] as typeof timeline).find(({ event }) => event === 'accepted')
  t.is(accepting?.detail['notice_of'], traceId)
})

test('author notice: local sendmail and send-only keys have an author, other keys not', async (t) => {
  await using sink = await Sink.listen({ script: { recipient: (to) => (to.startsWith('gone') ? '550 5.1.1 no such user' : undefined) } })
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SENDMAIL_LOCAL_RECIPIENT: 'admin@example.ch' }
  const daemon = await startDaemon(t, { env })
  const { rest } = daemon
  const destinationId = await makeDestination(rest, { name: 'Provider', port: sink.port, mode: 'live' })
  await rest.must('POST', '/v1/routing/rules', { match: { any: true }, destination_id: destinationId, priority: 100 })
  const key = await rest.must('POST', '/v1/api-keys', { name: 'site', send_only: true })
  const order = { from: 'root@web1', to: gone, subject: 'x', text: 'x' }
  await rest.must('POST', '/v1/messages', order)
  await daemon.settled()
  await daemon.pass(2 * minute)
  t.is(sink.deliveries.length, 0)
  await daemon.client(String(key['key'])).must('POST', '/v1/messages', order)
  const handOver = async (from: string, id: string): Promise<void> => {
    const envelope = JSON.stringify({ from, to: [gone] })
    const response = await fetch(`http://${daemon.addresses.http}/v1/sendmail`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${String(key['key'])}`, 'content-type': 'application/octet-stream', 'idempotency-key': id },
        'x-forwarded-for': '198.51.100.7',
      },
      body: `${envelope}\n${letter.replace(author, 'cron@web1')}`,
    })
    t.is(response.status, 200)
    await response.text()
  }
  await handOver('cron@web1', 'one')
  await handOver('', 'with the null reverse-path')
  await daemon.settled()
  await daemon.pass(2 * minute)
  t.deepEqual(
    sink.deliveries.map(({ from, to }) => [from, ...to]),
    Array.from({ length: 2 }, () => ['', 'admin@example.ch']),
  )
})
