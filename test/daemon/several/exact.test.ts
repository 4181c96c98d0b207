/** Three daemons with one database and simultaneous requests: limits apply to all together, and each event is reported once. */
import type { ExecutionContext } from 'ava'
import { column } from '../../support/column.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { type Daemon, portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { anyDatabases } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { type Received, WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { severalDaemons } from './daemons.ts'

const test = testWith('postgresql')
const operatorKey = `svcop_${'o'.repeat(43)}`
const env = {
  POSTERN_PLAN: 'basic',
  POSTERN_OPERATOR_KEY: operatorKey,
  POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
}
const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' }

interface Fixture {
  readonly daemons: readonly [Daemon, Daemon, Daemon]
  readonly sink: Sink
  readonly receiver: WebhookReceiver
}

test('three daemons: share their limits and report each event once', async (t) => {
  await using postgresql = await anyDatabases()
  await using sink = await Sink.listen({
    script: { recipient: (address) => (/gone/.test(address) ? '550 5.1.1 no such user' : undefined) },
  })
  await using receiver = await new WebhookReceiver().listen()
  const several = await severalDaemons(t, await postgresql.database())
  const daemons = await Promise.all([several.start(env), several.start(env), several.start(env)])
  const fixture: Fixture = { daemons, sink, receiver }
  await eachOnce(t, fixture)
  await budgetIsExact(t, fixture)
  await capIsExact(t, fixture)
  await quotaIsExact(t, fixture)
  await guessesCountTogether(t, fixture)
})

/** Sends `times` simultaneous requests to each daemon. Returns the statuses. */
async function atAll({ daemons }: Fixture, times: number, body: object): Promise<readonly number[]> {
  const calls = daemons.flatMap(({ rest }) => Array.from({ length: times }, () => rest.call('POST', '/v1/messages', body)))
  return (await Promise.all(calls)).map(({ status }) => status)
}

const countOf = (statuses: readonly number[], status: number): number => statuses.filter((one) => one === status).length

async function budgetIsExact(t: ExecutionContext, fixture: Fixture): Promise<void> {
  const [a, , c] = fixture.daemons
  const { id } = await a.rest.must('POST', '/v1/projects', { name: 'Shop', send_budget: 7 })
  const statuses = await atAll(fixture, 4, { ...mail, project_id: id })
  t.deepEqual([countOf(statuses, 200), countOf(statuses, 429)], [7, 5])
  t.like(await c.rest.must('GET', `/v1/projects/${String(id)}`), { project_sends_today: 7 })
  await c.rest.must('PATCH', `/v1/projects/${String(id)}`, { send_budget: 8 })
  const more = await atAll(fixture, 1, { ...mail, project_id: id })
  t.deepEqual([countOf(more, 200), countOf(more, 429)], [1, 2], 'one more, at any daemon')
}

async function capIsExact(t: ExecutionContext, fixture: Fixture): Promise<void> {
  const [a, b] = fixture.daemons
  const { id } = await a.rest.must('POST', '/v1/projects', { name: 'Sandbox', monthly_capture_cap: 5 })
  const statuses = await atAll(fixture, 3, { ...mail, project_id: id })
  t.deepEqual([countOf(statuses, 200), countOf(statuses, 402)], [5, 4])
  const kept = await Array.fromAsync(b.rest.rows(`/v1/traces?project=${String(id)}`))
  t.is(kept.length, 5, 'nothing of refused mail is stored')
}

/** Checks the quota of the organization at the REST and SMTP entry points of every daemon. */
async function quotaIsExact(t: ExecutionContext, fixture: Fixture): Promise<void> {
  const [a, b] = fixture.daemons
  using operator = new RestClient(b.addresses.http, operatorKey)
  const [organization] = (await operator.must('GET', '/operator/v1/organizations'))['data'] as Record<string, unknown>[]
  const usedUp = async ({ rest }: Daemon): Promise<number> => {
    const { limits } = await rest.must('GET', '/v1/usage')
    return Number((limits as { name: string; used: number }[]).find(({ name }) => name === 'sends_today')?.used)
  }
  const before = await usedUp(a)
  const path = `/operator/v1/organizations/${String(organization?.['id'])}/overrides`
  await operator.must('PUT', path, { sends_per_day: before + 10 })
  const login = await makeLogin(a.rest, await makeDestination(a.rest, { name: 'Box', port: 9, mode: 'sandbox' }))
  const [byRest, bySmtp] = await Promise.all([
    atAll(fixture, 3, mail),
    Promise.all(fixture.daemons.map((daemon) => submitted(daemon, login, 3))),
  ])
  const replies = bySmtp.flat()
  t.is(countOf(byRest, 200) + countOf(replies, 250), 10)
  t.is(countOf(byRest, 429) + countOf(replies, 450), 8)
  t.deepEqual(await Promise.all(fixture.daemons.map(usedUp)), [before + 10, before + 10, before + 10])
}

/** Checks that 20 failed logins of one user within 15 minutes lock the user, regardless of the daemon. */
async function guessesCountTogether(t: ExecutionContext, { daemons }: Fixture): Promise<void> {
  const [a, b] = daemons
  const login = await makeLogin(a.rest, await makeDestination(a.rest, { name: 'Guessed', port: 9, mode: 'sandbox' }))
  const guesses = Array.from({ length: 20 }, (_, at) => guess(daemons[at % 3] ?? b, { ...login, password: `wrong ${at}` }))
  t.deepEqual(new Set(await Promise.all(guesses)), new Set([535]))
  const after = await Promise.all(daemons.map((daemon) => guess(daemon, login)))
  t.deepEqual(after, [454, 454, 454], 'also with the right password, after no earlier login from here')
}

/** Returns the reply code. */
async function guess({ addresses }: Daemon, { username, password }: Login): Promise<number> {
  const client = await SmtpClient.connect({ port: portOf(addresses.submission[0]) })
  const { code } = await client.authenticate(username, password)
  client.destroy()
  return code
}

/** Returns the reply codes of `count` messages. */
async function submitted(daemon: Daemon, login: Login, count: number): Promise<readonly number[]> {
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const codes: number[] = []
  for (let i = 0; i < count; i++) {
    const letter = { from: mail.from, to: [mail.to], content: Buffer.from('Subject: x\r\n\r\nx\r\n') }
    codes.push((await client.send(letter)).reply.code)
  }
  await client.quit()
  return codes
}

/** Returns the traces in requests to a path. `name` is the field with the trace. */
const toldOf = (received: readonly Received[], path: string, name: 'message' | 'data'): readonly string[] =>
  received
    .filter((one) => one.path === path)
    .map(({ body }) => (JSON.parse(body) as Record<typeof name, { readonly trace_id: string }>)[name].trace_id)
    .toSorted(inText)

async function eachOnce(t: ExecutionContext, { daemons, sink, receiver }: Fixture): Promise<void> {
  const [a, b, c] = daemons
  const inbox = await a.rest.must('POST', '/v1/inboxes', { address_pattern: '@box.test', notify_webhook_url: `${receiver.url}/inbox` })
  await b.rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: `${receiver.url}/event`, event_types: ['failed'] })
  await makeRoute(c.rest, await makeDestination(c.rest, { name: 'Host', port: sink.port, mode: 'live' }), 'live.test')
  const since = new Date(Date.now() - 60_000).toISOString()
  const wait = `/v1/inboxes/${String(inbox['id'])}/wait?since=${since}&timeout=60`
  const held = Promise.all(daemons.flatMap(({ rest }) => [rest.must('POST', wait), rest.must('POST', wait)]))
  const { trace_id } = await a.rest.must('POST', '/v1/messages', { ...mail, to: 'one@box.test' })
  const woken = await waiting('all who wait are woken', held)
  t.deepEqual(new Set(column(woken, 'trace_id')), new Set([trace_id]), 'by the same capture')

  const captured = [String(trace_id)]
  const failed: string[] = []
  const send = async ({ rest }: Daemon, at: number): Promise<void> => {
    const capture = await rest.must('POST', '/v1/messages', { ...mail, to: `${at}@box.test` })
    captured.push(String(capture['trace_id']))
    const relay = await rest.must('POST', '/v1/messages', { ...mail, from: 'a@live.test', to: `gone${at}@there.test` })
    failed.push(String(relay['trace_id']))
  }
  for (let at = 0; at < 4; at++) await Promise.all(daemons.map((daemon, of) => send(daemon, at * 3 + of)))
  await waiting('all requests get the event', receiver.hasReceived(captured.length + failed.length))
  const attempts = await waitFor('all attempts are on record', async () => {
    const rows = await Array.fromAsync(b.rest.rows('/v1/webhooks/attempts?status=succeeded'))
    return rows.length < failed.length ? undefined : rows
  })
  t.deepEqual(new Set(column(attempts, 'attempt_count')), new Set([1]))
  t.deepEqual(toldOf(receiver.received, '/hook/inbox', 'message'), captured.toSorted(inText), 'ledger: each capture is reported once')
  t.deepEqual(toldOf(receiver.received, '/hook/event', 'data'), failed.toSorted(inText), 'ledger: each failure is reported once')
}

const inText = (one: string, other: string): number => one.localeCompare(other)
