/** Figures over time by REST, with a daemon that relays, captures, refuses and is killed in between. */
import test from '#test'
import { makeDestination, makeLogin, makeRoute } from '../../support/daemon/provision.ts'
import type { RestClient } from '../../support/daemon/rest.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback' }

const totals = async (rest: RestClient, what: string, query = ''): Promise<Record<string, unknown>> =>
  (await rest.must('GET', `/v1/insights/${what}?${query}`))['totals'] as Record<string, unknown>

test('insights: relayed, captured and refused mail counts once and survives a kill', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const first = await startDaemon(t, { env })
  const live = await makeDestination(first.rest, { name: 'live', port: sink.port, mode: 'live' })
  await makeRoute(first.rest, live)
  const sandbox = await makeDestination(first.rest, { name: 'sandbox', port: sink.port, mode: 'sandbox' })
  const send = (to: readonly string[], more: object = {}) =>
    first.rest.must('POST', '/v1/messages', { from: 'shop@site.test', to, subject: 'Hi', text: 'Hi', ...more })
  await send(['anna@peer.test', 'ben@other.test'])
  await send(['anna@peer.test'])
  await send(['anna@peer.test'], { destination_id: sandbox })
  t.is((await first.rest.call('POST', '/v1/messages', { from: 'shop@site.test', to: ['anna@peer.test'] })).status, 400)
  const login = await makeLogin(first.rest, live, { allowed_from_domains: ['site.test'] })
  const client = await SmtpClient.signIn({ port: Number(first.addresses.submission.split(':').at(-1)) }, login)
  const foreign = { from: 'shop@bank.test', to: ['anna@peer.test'], content: Buffer.from('Subject: Hi\r\n\r\nHi\r\n') }
  t.false((await client.send(foreign)).accepted)
  await client.quit()
  await first.pass(1000) // refusals stay in memory for one second
  const read = async (rest: RestClient) => ({
    sends: await totals(rest, 'sends'),
    delivery: await totals(rest, 'delivery'),
    latency: await totals(rest, 'latency'),
    smtp: await totals(rest, 'smtp'),
    domains: (await rest.must('GET', '/v1/insights/domains'))['data'],
  })
  const before = await read(first.rest)
  t.like(before.sends, { relayed: 2, captured_sandbox_destination: 1, captured_no_route: 0, refused: 2, failed: 0 })
  t.deepEqual(before.sends['refused_by_code'], { validation_failed: 1, sender_not_allowed: 1 })
  t.deepEqual(before.delivery, { taken: 3, failed: 0, deferred: 0, delivered: 0, bounced: 0, complained: 0 })
  t.like(before.latency['delivery'], { count: 2 })
  t.like(before.smtp, { logins: 1, refused: 1, refused_by_code: { sender_not_allowed: 1 } })
  t.like(before.domains, [
    { domain: 'peer.test', taken: 2 },
    { domain: 'other.test', taken: 1 },
  ])
  await first.crash()
  const second = await first.again()
  t.deepEqual(await read(second.rest), before)
  const page = await second.rest.must('GET', '/v1/insights/destinations?limit=1')
  const [one] = page['data'] as { destination_id: string; points: unknown[]; totals: Record<string, unknown> }[]
  t.is(one?.destination_id, live)
  t.like(one?.totals, { attempts: 2, errors: 0, taken: 3 })
  t.is(one?.points.length, 96)
})

test('insights: each project has separate figures, deleted with it', async (t) => {
  const daemon = await startDaemon(t)
  const { rest } = daemon
  const project = String((await rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
  const { key } = await rest.must('POST', '/v1/api-keys', { name: 'second', scopes: ['api:send'], project_id: project })
  const own = daemon.client(String(key))
  await own.must('POST', '/v1/messages', { from: 'a@site.test', to: ['b@peer.test'], subject: 'Hi', text: 'Hi' })
  await rest.must('POST', '/v1/messages', { from: 'a@site.test', to: ['b@peer.test'], subject: 'Hi', text: 'Hi' })
  t.like(await totals(own, 'sends'), { captured_no_route: 1 })
  t.like(await totals(rest, 'sends', `project=${project}`), { captured_no_route: 1 })
  t.like(await totals(rest, 'sends'), { captured_no_route: 2 }, 'all projects of the organization')
  const wrong = [`project=prj_unknown`, 'from=yesterday', 'step_seconds=90', 'step_seconds=0', 'from=2020-01-01T00:00:00Z&step_seconds=60']
  for (const query of wrong) {
    const { status } = await rest.call('GET', `/v1/insights/sends?${query}`)
    t.is(status, query.startsWith('project') ? 404 : 400, query)
  }
})
