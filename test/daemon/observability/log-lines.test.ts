/** Output of a running daemon for operators: its log, as JSON and as text for a terminal, and its metrics. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { WebhookReceiver, type Answering } from '../../support/web/webhook-receiver.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { waitFor } from '../../support/waits.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }

async function started(t: ExecutionContext, env: Record<string, string>): Promise<{ daemon: Daemon; folder: string }> {
  const folder = await temporaryFolder('log')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_LOG_LEVEL: 'info', ...env } })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  return { daemon, folder: folder.path }
}

type Line = Readonly<Record<string, unknown>>

/** Waits for the first line with this message. Lines are written with a delay of a tenth of a second. */
const lineOf = (daemon: Daemon, message: string, isMeant = (_line: Line): boolean => true): Promise<Line> =>
  waitFor(`the log says ${message}`, async () => {
    const lines = daemon.log.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as Line).find((line) => line['msg'] === message && isMeant(line))
  })

test('ready line: contains version, data folder and certificate', async (t) => {
  const { daemon, folder } = await started(t, {})
  const line = await lineOf(daemon, 'ready')
  t.like(line, { level: 'info', version, data_folder: join(folder, 'data'), certificate: { self_signed: true } })
  t.regex(String((line['certificate'] as Record<string, unknown>)['expires']), /^\d{4}-\d\d-\d\dT/)
})

test('REST acceptances and refusals are logged with outcome, code and reason', async (t) => {
  const { daemon } = await started(t, {})
  const sent = await daemon.rest.must('POST', '/v1/messages', { from: 'a@shop.test', to: 'b@inbox.test', subject: 'x', text: 'y' })
  const refused = await daemon.rest.call('POST', '/v1/messages', { from: 'a@shop.test', to: 'nobody', text: 'y' })
  t.is(refused.status, 400)
  t.like(await lineOf(daemon, 'message accepted'), {
    trace_id: sent['trace_id'],
    door: 'rest',
    outcome: 'captured.no_route',
    recipients: 1,
  })
  const line = await lineOf(daemon, 'http refusal')
  t.like(line, { operation: 'sendMessage', status: 400, code: 'validation_failed' })
  t.regex(String(line['reason']), /to/)
  t.regex(String(line['organization_id']), /^org_/)
  t.notRegex(daemon.log, new RegExp(daemon.adminKey))
})

test('failed webhook attempt: logged with host, reason, next attempt, without secrets', async (t) => {
  const { daemon } = await started(t, { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32' })
  const answer: Answering = (response) => response.writeHead(500).end('token-of-the-receiver')
  await using receiver = await new WebhookReceiver({ answer }).listen()
  const ports = [receiver.port, await closedPort(t)]
  const made = await Promise.all(
    ports.map((port) =>
      daemon.rest.must('POST', '/v1/webhooks', {
        ...{ name: 'Shop', event_types: ['failed'], target_url: `http://127.0.0.1:${port}/path-with-token?key=secret` },
      }),
    ),
  )
  await using sink = await Sink.listen({ script: { recipient: () => '550 5.1.1 no such user' } })
  await makeRoute(daemon.rest, await makeDestination(daemon.rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const message = { from: 'a@shop.test', to: 'ann@inbox.test', subject: 'x', text: 'y' }
  const { trace_id } = await daemon.rest.must('POST', '/v1/messages', message)
  const expected = [
    { status_code: 500, reason: 'The receiver returned status 500.' },
    { status_code: null, reason: 'The host refused the connection.' },
  ]
  for (const [at, args] of expected.entries()) {
    const { id, hmac_secret: secret } = made[at] ?? {}
    const line = await lineOf(daemon, 'webhook attempt failed', (one) => one['endpoint_id'] === id)
    t.like(line, {
      ...args,
      level: 'warn',
      trace_id,
      event_type: 'failed',
      host: `127.0.0.1:${ports[at]}`,
      attempt: 1,
      status: 'failed',
    })
    t.is(Date.parse(String(line['next_attempt_at'])) - Date.parse(String(line['time'])) > 50_000, true)
    t.false(daemon.log.includes(String(secret)))
  }
  t.notRegex(daemon.log, /token|key=secret|ann@/)
})

test('POSTERN_LOG_FORMAT=pretty: writes lines for people; colors only on a terminal', async (t) => {
  const { daemon } = await started(t, { POSTERN_LOG_FORMAT: 'pretty' })
  await waitFor('the log says ready', async () => (/ready/.test(daemon.log) ? true : undefined))
  t.regex(daemon.log, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready \{/m)
  t.notRegex(daemon.log, /\u001b\[/)
  t.is((await daemon.stop()).code, 0)
  t.regex(daemon.log, /INFO: stopped/)
})

test('metrics: build, HTTP latency, age of the queue, free disk', async (t) => {
  const { daemon } = await started(t, {})
  await daemon.rest.must('GET', '/v1/projects/me')
  const text = (await daemon.rest.call('GET', '/metrics')).bytes.toString('utf8')
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  t.regex(text, new RegExp(`^postern_build_info\\{version="${version}",node="${process.versions.node}"\\} 1$`, 'm'))
  t.regex(text, /^postern_http_request_seconds_count\{route="getMyProject"\} 1$/m)
  t.is(value('postern_queue_oldest_due_seconds'), 0)
  t.is(value('postern_queue_oldest_age_seconds'), 0)
  t.true(value('postern_disk_free_bytes') > 1_000_000)
})
