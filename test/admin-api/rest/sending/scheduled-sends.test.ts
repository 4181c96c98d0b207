/** Scheduled sends by REST: accepted, listed, canceled and refused. */
import test from '#test'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { addDestination, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' }
const hour = 3_600_000

const route = async (rest: RestClient): Promise<void> => {
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: await addDestination(rest, {}, true) })
}

const schedule = (rest: RestClient, send_at: number, changes: object = {}) =>
  rest.must('POST', '/v1/messages', { ...plain, send_at: new Date(send_at).toISOString(), ...changes })

const listed = async (rest: RestClient, query = ''): Promise<unknown[]> => {
  const { data } = (await rest.must('GET', `/v1/messages/scheduled${query}`)) as { data: { subject: string }[] }
  return data.map(({ subject }) => subject)
}

test('sendMessage with send_at returns status queued, and the trace shows the time', async (t) => {
  const { rest, clock } = await startFixture(t)
  await route(rest)
  const send_at = new Date(clock.now() + hour).toISOString()
  const sent = await rest.must('POST', '/v1/messages', { ...plain, send_at })
  t.deepEqual({ ...sent, trace_id: '' }, { trace_id: '', outcome: 'relayed', status: 'queued' })
  const trace = await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`)
  t.like(trace, { status: 'queued', send_at, next_attempt_at: send_at, attempts: 0 })
  t.deepEqual((trace['timeline'] as { event: string; message: string }[]).map(({ event, message }) => `${event}: ${message}`).slice(2), [
    'queued: The destination Host is live.',
    `scheduled: It leaves at ${send_at} and can be canceled until then.`,
  ])
})

test('sendMessage accepts scheduled_at, other offsets and lower case, up to 3 days ahead', async (t) => {
  const { rest, clock } = await startFixture(t)
  await route(rest)
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
  for (const time of [{ scheduled_at: at(1) }, { send_at: at(72 * hour) }, { send_at: at(hour).toLowerCase() }]) {
    t.is((await rest.must('POST', '/v1/messages', { ...plain, ...time }))['status'], 'queued')
  }
  const sent = await rest.must('POST', '/v1/messages', { ...plain, send_at: '2030-01-02T01:30:00.5+01:00' })
  t.is((await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`))['send_at'], '2030-01-02T00:30:00.500Z')
})

test('sendMessage refuses a send_at in the past or beyond 3 days and stores nothing', async (t) => {
  const { rest, clock } = await startFixture(t)
  await route(rest)
  const now = clock.now()
  const iso = (ms: number): string => new Date(ms).toISOString()
  const past = `send_at: must be in the future, and the time of the server is ${iso(now)}; give a later time, or leave it out to send now`
  const far = `send_at: must be at most 3 days ahead; the latest possible time now is ${iso(now + 72 * hour)}`
  for (const [send_at, message] of [
    [iso(now), past],
    [iso(now - hour), past],
    ['1969-12-31T23:59:59Z', past],
    [iso(now + 72 * hour + 1), far],
    ['9999-12-31T23:59:59Z', far],
  ] as const)
    t.deepEqual(refusal(await rest.call('POST', '/v1/messages', { ...plain, send_at })), [400, 'validation_failed', message])
  t.deepEqual(await listed(rest), [])
})

test('sendMessage with send_at needs the plan pro or above', async (t) => {
  for (const plan of ['anonymous', 'free', 'basic'] as const) {
    const { rest, clock } = await startFixture(t, { plan })
    const send_at = new Date(clock.now() + hour).toISOString()
    const message = `The plan ${plan} does not include scheduled sends; leave send_at out to send now, or raise the plan to pro or enterprise.`
    t.deepEqual(refusal(await rest.call('POST', '/v1/messages', { ...plain, send_at })), [403, 'feature_disabled', message])
  }
  const { rest, clock } = await startFixture(t, { plan: 'pro' })
  t.is((await schedule(rest, clock.now() + hour))['outcome'], 'captured.no_route')
})

test('sendMessage with send_at also delays captured mail, which is listed and cancelable', async (t) => {
  const { rest, clock } = await startFixture(t)
  const time = clock.now() + hour
  const at = new Date(time).toISOString()
  const sent = await schedule(rest, time)
  t.deepEqual({ ...sent, trace_id: '' }, { trace_id: '', outcome: 'captured.no_route', status: 'queued' })
  const trace = await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`)
  t.like(trace, { status: 'queued', outcome: 'captured.no_route', send_at: at, next_attempt_at: at })
  t.deepEqual((trace['timeline'] as { event: string; message: string }[]).map(({ event, message }) => `${event}: ${message}`).slice(2), [
    "queued: No destination matches, and the project's no-route policy is to capture.",
    `scheduled: It is captured at ${at} and can be canceled until then.`,
  ])
  t.deepEqual(await listed(rest, '?status=queued'), ['Your order'])
  t.like(await rest.must('DELETE', `/v1/messages/scheduled/${String(sent['trace_id'])}`), { status: 'canceled' })
  t.deepEqual(await listed(rest, '?status=canceled'), ['Your order'])
  const sandbox = await schedule(rest, time, { destination_id: await addDestination(rest) })
  t.like(sandbox, { outcome: 'captured.sandbox_destination', status: 'queued' })
})

test('sendMessage with a repeated idempotency key returns the trace, also after send_at', async (t) => {
  const { rest, clock, daemon } = await startFixture(t)
  await daemon.queue.stop(0) // keeps it in the queue after its time
  await route(rest)
  const body = { idempotency_key: 'k', subject: 'once' }
  const time = clock.now() + hour
  const first = await schedule(rest, time, body)
  t.deepEqual(await schedule(rest, time, body), first)
  clock.advance(2 * hour)
  t.deepEqual(await schedule(rest, time, body), first)
  await rest.must('DELETE', `/v1/messages/scheduled/${String(first['trace_id'])}`)
  t.deepEqual(await schedule(rest, time, body), first)
  t.deepEqual(await listed(rest), ['once'])
})

test('listScheduledSends shows waiting and canceled sends, by time, project and page', async (t) => {
  const { rest, clock, addProject, withKey } = await startFixture(t)
  await route(rest)
  await rest.must('POST', '/v1/messages', plain)
  const ids: string[] = []
  for (const hours of [5, 1, 4, 2, 3])
    ids.push(String((await schedule(rest, clock.now() + hours * hour, { subject: `in ${hours}` }))['trace_id']))
  t.deepEqual(await listed(rest), ['in 1', 'in 2', 'in 3', 'in 4', 'in 5'])
  await rest.must('DELETE', `/v1/messages/scheduled/${ids[2] ?? ''}`)
  t.deepEqual(await listed(rest), ['in 1', 'in 2', 'in 3', 'in 4', 'in 5'])
  t.deepEqual(await listed(rest, '?status=queued'), ['in 1', 'in 2', 'in 3', 'in 5'])
  t.deepEqual(await listed(rest, '?status=canceled'), ['in 4'])
  const paged: unknown[] = []
  for await (const { subject } of rest.rows('/v1/messages/scheduled?status=queued', 2)) paged.push(subject)
  t.deepEqual(paged, ['in 1', 'in 2', 'in 3', 'in 5'])
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.deepEqual(await listed(rest, `?project=${String(project_id)}&status=canceled`), ['in 4'])
  const project = await addProject()
  t.deepEqual(await listed(rest, `?project=${project}`), [])
  t.deepEqual(await listed(await withKey(['api:read'], project)), [])
  t.is((await rest.call('GET', '/v1/messages/scheduled?status=sent')).status, 400)
  t.is((await rest.call('GET', '/v1/messages/scheduled?project=prj_none')).status, 404)
})

test('cancelScheduledSend is idempotent; the timeline shows the caller and the time', async (t) => {
  const { rest, clock, withKey } = await startFixture(t)
  await route(rest)
  const sender = await withKey(['api:send'])
  const id = String((await schedule(sender, clock.now() + hour))['trace_id'])
  clock.advance(1000)
  const canceled = await sender.must('DELETE', `/v1/messages/scheduled/${id.toUpperCase()}`)
  const canceled_at = new Date(clock.now()).toISOString()
  t.like(canceled, { trace_id: id, status: 'canceled', canceled_at, next_attempt_at: null })
  clock.advance(2 * hour)
  t.deepEqual(await rest.must('DELETE', `/v1/messages/scheduled/${id}`), canceled)
  const trace = await rest.must('GET', `/v1/traces/${id}`)
  t.like(trace, { status: 'canceled', recipients: [{ address: 'ada@example.ch', status: 'canceled' }] })
  const by = String(canceled['canceled_by'])
  t.regex(by, /^key_/)
  t.deepEqual((trace['timeline'] as object[]).at(-1), {
    at: canceled_at,
    event: 'canceled',
    message: `Canceled by ${by} before it was sent.`,
    detail: { canceled_by: by },
  })
})

test('cancelScheduledSend returns 404 for a foreign, missing or unscheduled send', async (t) => {
  const { rest, clock, addOrganization, addProject, withKey } = await startFixture(t)
  await route(rest)
  const id = String((await schedule(rest, clock.now() + hour))['trace_id'])
  const other = await addOrganization()
  const bound = await withKey(['api:admin'], await addProject())
  const atOnce = String((await rest.must('POST', '/v1/messages', plain))['trace_id'])
  const none = [404, 'not_found', 'No scheduled send has this trace_id.'] as const
  for (const client of [other.rest, bound]) t.deepEqual(refusal(await client.call('DELETE', `/v1/messages/scheduled/${id}`)), none)
  for (const missing of [atOnce, 'x', '0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b'])
    t.deepEqual(refusal(await rest.call('DELETE', `/v1/messages/scheduled/${missing}`)), none)
  t.is(objectOf(await (await withKey(['api:read'])).call('DELETE', `/v1/messages/scheduled/${id}`))['status'], undefined)
  t.deepEqual(await listed(rest, '?status=canceled'), [])
})
