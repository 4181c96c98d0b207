/** The predicted decision on a message. Spec "Routing rule", "Relay or capture decision". */
import test from '#test'
import { afterFailover } from '#core/delivery/attempt/failover.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { breakDown } from '../fixture/break-down.ts'
import { addDestination, errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const to = 'ada@example.ch'
const path = '/v1/routing/simulate'

interface Told {
  readonly outcome: string | null
  readonly reason: string
  readonly rule_id: string | null
  readonly destination_id: string | null
  readonly route: { readonly by: string; readonly rule_id: string | null; readonly reason: string } | null
  readonly refusal: { readonly code: string; readonly status: number; readonly message: string; readonly next_action: string } | null
  readonly steps: readonly {
    readonly step: string
    readonly result: string
    readonly message: string
    readonly rule_id: string | null
    readonly code: string | null
    readonly used: number | null
    readonly limit: number | null
  }[]
  readonly suppressed: readonly { readonly address: string; readonly source: string }[]
  readonly first_attempt: { readonly destination_id: string; readonly wait_seconds: number } | null
  readonly earlier: { readonly differences: readonly object[]; readonly outcome: string } | null
}

const simulate = async (rest: RestClient, body: object): Promise<Told> => (await rest.must('POST', path, body)) as unknown as Told
const stepsOf = ({ steps }: Told): string[] => steps.map(({ step, result }) => `${step} ${result}`)
const ruleFor = async (rest: RestClient, match: string, destination_id: string, changes: object = {}): Promise<string> =>
  String((await rest.must('POST', '/v1/routing/rules', { match, destination_id, ...changes }))['id'])

/** Returns the comparable parts of a real send: its answer and trace, or its refusal. */
async function sent(rest: RestClient, body: object): Promise<unknown> {
  const answer = await rest.call('POST', '/v1/messages', { to, text: 'Hi', ...body })
  if (answer.status !== 200) return [null, answer.status, errorOf(answer).code, errorOf(answer).message]
  const { outcome, trace_id } = answer.body as { outcome: string; trace_id: string }
  const { outcome_reason, destination_id, route } = await rest.must('GET', `/v1/traces/${trace_id}`)
  return [outcome, outcome_reason, destination_id, route]
}

/** Returns the same parts of a simulation. */
function foretold({ outcome, reason, destination_id, route, refusal: no }: Told): unknown {
  return no ? [null, no.status, no.code, no.message] : [outcome, reason, destination_id, route]
}

/** The numbers of a step without a limit. */
const noNumbers = { code: null, used: null, limit: null, address: null, wait_seconds: null }

test('simulateRouting shows every rule it checked and the deciding one', async (t) => {
  const { rest } = await startFixture(t)
  const live = await addDestination(rest, { name: 'Live' }, true)
  const box = await addDestination(rest, { name: 'Box' })
  const first = await ruleFor(rest, 'other.ch', box, { priority: 1 })
  const second = await ruleFor(rest, '*.example.ch', live, { priority: 2 })
  await ruleFor(rest, '*', box, { priority: 3 })
  const told = await rest.must('POST', path, { from: 'Shop <shop@a.example.ch>', to })
  const { project_id, ...rest_ } = told
  t.regex(String(project_id), /^prj_/)
  t.deepEqual(rest_, {
    outcome: 'relayed',
    reason: 'The destination Live is live.',
    rule_id: second,
    destination_id: live,
    destination: { id: live, name: 'Live', mode: 'live', scope: 'project', is_org_default: false },
    route: {
      by: 'rule',
      rule_id: second,
      environment: null,
      reason: 'Rule domain *.example.ch (priority 2) selects the destination Live.',
    },
    refusal: null,
    suppressed: [],
    first_attempt: { destination_id: live, wait_seconds: 0 },
    steps: [
      {
        step: 'rule',
        result: 'not_matched',
        message: 'Rule domain other.ch (priority 1) does not match.',
        rule_id: first,
        destination_id: box,
      },
      {
        step: 'rule',
        result: 'matched',
        message: 'Rule domain *.example.ch (priority 2) selects the destination Live.',
        rule_id: second,
        destination_id: live,
      },
      { step: 'project_status', result: 'passed', message: 'The project is claimed.', rule_id: null, destination_id: null },
      {
        step: 'destination_mode',
        result: 'decided',
        message: 'The destination Live is live.',
        rule_id: null,
        destination_id: live,
      },
      { step: 'limits', result: 'passed', message: 'No limit is reached.', rule_id: null, destination_id: null },
      {
        step: 'suppressions',
        result: 'passed',
        message: 'The recipient is not suppressed.',
        rule_id: null,
        destination_id: null,
      },
      {
        step: 'failover',
        result: 'passed',
        message: 'The destination Live receives mail now.',
        rule_id: null,
        destination_id: live,
      },
    ].map((step) => ({ ...step, ...noNumbers })),
    earlier: null,
  } as never)
})

test('simulateRouting predicts the exact result of a send', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const project_id = await addProject()
  const live = await addDestination(rest, {}, true)
  const box = await addDestination(rest, { project_id, from: 'box@example.ch' })
  await ruleFor(rest, 'example.ch', live)
  const compare = async (body: object) =>
    t.deepEqual(foretold(await simulate(rest, { to, ...body })), await sent(rest, body), JSON.stringify(body))
  const bodies = [
    { from: 'a@example.ch' },
    { from: 'a@elsewhere.ch' },
    { from: 'a@example.ch', project_id },
    { from: 'a@example.ch', destination_id: live },
    { from: 'a@example.ch', destination_id: live, project_id },
    { from: 'a@example.ch', destination_id: 'dst_none' },
    { from: 'a@example.ch', project_id, destination_id: box },
    { project_id, destination_id: box },
    { destination_id: live },
    {},
  ]
  for (const body of bodies) await compare(body)
  for (const value of ['reject', 'relay_default']) {
    await rest.must('PATCH', '/v1/projects/me/no-route-policy', { value })
    await compare({ from: 'a@elsewhere.ch' })
  }
  await rest.must('PATCH', `/v1/destinations/${live}`, { scope: 'org', is_org_default: true })
  for (const body of bodies) await compare(body)
})

test('simulateRouting reports refusals and the usage of each limit', async (t) => {
  const { rest, addProject } = await startFixture(t, { plan: 'basic' })
  const project_id = await addProject({ monthlyCaptureCap: 2 })
  const ask = (body: object = {}) => simulate(rest, { from: 'a@example.ch', to, project_id, ...body })
  t.deepEqual(
    column(
      (await ask()).steps.filter(({ step }) => step === 'limits'),
      'message',
    ),
    ['0 of 2 captures that the project has in this month are used.', '0 of 5000 sends that the plan has in this day are used.'],
  )
  const counted = (await ask()).steps.flatMap(({ step, code, used, limit }) => (step === 'limits' ? [[code, used, limit]] : []))
  t.deepEqual(counted, [
    ['quota_exhausted_captures', 0, 2],
    ['quota_exhausted', 0, 5000],
  ])
  for (let n = 0; n < 2; n++) await rest.must('POST', '/v1/messages', { from: 'a@example.ch', to, text: 'Hi', project_id })
  const full = await ask()
  t.like(full, { outcome: null, rule_id: null, refusal: { code: 'quota_exhausted_captures', status: 402, next_action: 'upgrade' } })
  t.deepEqual(stepsOf(full), ['org_default not_matched', 'project_status passed', 'no_route_policy decided', 'limits refused'])
  t.like(full.steps.at(-1), { code: 'quota_exhausted_captures', used: 2, limit: 2 })
  t.is((await rest.call('POST', '/v1/messages', { from: 'a@example.ch', to, text: 'Hi', project_id })).status, 402)
  t.like((await ask({ attachments: 1 })).refusal, { code: 'feature_disabled', status: 403, next_action: 'upgrade' })
  const large = await ask({ size: 2 * 1024 * 1024 })
  t.like(large.refusal, { code: 'request_too_large', status: 413 })
  t.like(large.steps.at(-1), { code: 'request_too_large', used: 2 * 1024 * 1024, limit: 1024 * 1024 })
  await rest.must('PATCH', '/v1/projects/me/no-route-policy', { value: 'reject' })
  const lost = await simulate(rest, { from: 'a@example.ch', to })
  t.like(lost.refusal, { code: 'no_route', status: 422, next_action: 'create_routing_rule' })
  t.deepEqual(stepsOf(lost), ['org_default not_matched', 'no_route_policy refused'])
})

test('simulateRouting writes nothing, on repeated runs either', async (t) => {
  const { rest, database } = await startFixture(t)
  await addDestination(rest, {}, true)
  const before = [database.commits, await rest.must('GET', '/v1/projects/me')]
  for (let n = 0; n < 5; n++) await simulate(rest, { from: 'a@example.ch', to })
  t.deepEqual([database.commits, await rest.must('GET', '/v1/projects/me')], before)
  t.deepEqual(await rest.must('GET', '/v1/traces'), { data: [], next_cursor: null })
})

test('simulateRouting can simulate an SMTP credential', async (t) => {
  const { rest, clock } = await startFixture(t)
  const live = await addDestination(rest, { name: 'Live' }, true)
  const expires_at = new Date(clock.now() + 60_000).toISOString()
  const login = { allowed_from_domains: ['example.ch'], max_message_bytes: 2048, max_rate_per_min: 5, expires_at }
  const { id, username } = await rest.must('POST', '/v1/smtp-credentials', login)
  const ask = (body: object = {}) => simulate(rest, { from: 'a@example.ch', to, smtp_credential_id: id, ...body })
  t.like(await ask(), { refusal: null, outcome: 'captured.no_route' })
  await rest.must('PATCH', `/v1/smtp-credentials/${String(id)}`, { default_destination_id: live })
  const told = await ask()
  t.like(told, { outcome: 'relayed', destination_id: live, route: { by: 'credential' } })
  t.deepEqual(column(told.steps, 'message'), [
    `The SMTP credential ${String(username)} can send this message.`,
    'The SMTP credential selects the destination Live.',
    'The project is claimed.',
    'The destination Live is live.',
    '0 of 5 messages that this SMTP credential may still send in this minute are used.',
    'The recipient is not suppressed.',
    'The destination Live receives mail now.',
  ])
  t.like((await ask({ from: 'a@other.ch' })).refusal, { code: 'sender_not_allowed' })
  t.like((await ask({ size: 4096 })).refusal, { code: 'request_too_large' })
  clock.advance(60_000)
  t.like((await ask()).refusal, { code: 'unauthorized' })
})

test('simulateRouting lists suppressed recipients like a send', async (t) => {
  const { rest } = await startFixture(t)
  const live = await addDestination(rest, { name: 'Live' }, true)
  await rest.must('POST', '/v1/suppressions', { email: to, reason: 'asked us to stop' })
  const some = { from: 'a@example.ch', to: [to, 'ben@example.ch'], destination_id: live }
  const told = await simulate(rest, some)
  t.like(told, { outcome: 'relayed', suppressed: [{ address: to, source: 'manual' }], first_attempt: { destination_id: live } })
  t.is(
    told.steps.find(({ step }) => step === 'suppressions')?.message,
    'ada@example.ch is suppressed (manual: asked us to stop) and is skipped.',
  )
  const all = await simulate(rest, { ...some, to: 'ADA@example.ch' })
  t.like(all, { outcome: 'relayed', suppressed: [{ address: 'ADA@example.ch' }], first_attempt: null })
  t.is((await rest.must('POST', '/v1/messages', { ...some, to, text: 'Hi' }))['status'], 'suppressed')
  await rest.must('PATCH', `/v1/destinations/${live}/mode`, { mode: 'sandbox' })
  t.deepEqual((await simulate(rest, some)).suppressed, [], 'captured mail has no recipient')
})

test('simulateRouting shows the failover destination of the first attempt', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const [main, spare] = [await addDestination(rest, { name: 'Main' }, true), await addDestination(rest, { name: 'Spare' }, true)]
  const ask = () => simulate(rest, { from: 'a@example.ch', to, destination_id: main })
  await rest.must('POST', '/v1/failover/policy', { primary_id: main, fallback_ids: [spare], conditions: { on: ['breaker_open'] } })
  t.deepEqual((await ask()).first_attempt, { destination_id: main, wait_seconds: 0 })
  await breakDown(fixture, main)
  const moved = await ask()
  t.like(moved, { destination_id: main, first_attempt: { destination_id: spare, wait_seconds: 0 } })
  t.is(moved.steps.at(-1)?.message, 'The circuit breaker of the destination is open: the message goes on to the fallback Spare.')
  await rest.must('PATCH', `/v1/destinations/${spare}/mode`, { mode: 'sandbox' })
  const waiting = await ask()
  t.is(waiting.first_attempt?.destination_id, main)
  t.true(Number(waiting.first_attempt?.wait_seconds) > 0)
  t.like(waiting.steps.at(-1), { step: 'failover', result: 'passed_over' })
})

async function traceOf(fixture: Fixture): Promise<string> {
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to, text: 'Hi' })
  return String(trace_id)
}

test('simulateRouting compares an earlier message with its present decision', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const trace_id = await traceOf(fixture)
  const same = await simulate(rest, { trace_id })
  t.like(same, { outcome: 'captured.no_route', earlier: { trace_id, outcome: 'captured.no_route', differences: [] } })
  const destination = await addDestination(rest, {}, true)
  const rule = await ruleFor(rest, 'example.ch', destination)
  t.deepEqual((await simulate(rest, { trace_id })).earlier?.differences, [
    { field: 'outcome', earlier: 'captured.no_route', now: 'relayed' },
    { field: 'route_by', earlier: 'none', now: 'rule' },
    { field: 'rule_id', earlier: null, now: rule },
    { field: 'destination_id', earlier: null, now: destination },
  ])
  await rest.must('DELETE', `/v1/routing/rules/${rule}`)
  await rest.must('PATCH', '/v1/projects/me/no-route-policy', { value: 'reject' })
  const lost = await simulate(rest, { trace_id })
  t.like(lost, { outcome: null, refusal: { code: 'no_route' } })
  t.deepEqual(lost.earlier?.differences, [{ field: 'outcome', earlier: 'captured.no_route', now: null }])

  const named = await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to, text: 'Hi', destination_id: destination })
  await rest.must('PATCH', `/v1/destinations/${destination}/mode`, { mode: 'sandbox' })
  t.like(await simulate(rest, { trace_id: named['trace_id'] }), {
    outcome: 'captured.sandbox_destination',
    route: { by: 'request' },
    earlier: { differences: [{ field: 'outcome', earlier: 'relayed', now: 'captured.sandbox_destination' }] },
  })
  await rest.must('DELETE', `/v1/destinations/${destination}?discard_queued=true`)
  t.like((await simulate(rest, { trace_id: named['trace_id'] })).refusal, { code: 'validation_failed' })
})

test('simulateRouting uses the original destination of a message, not its fallback', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const [main, spare] = [await addDestination(rest, {}, true), await addDestination(rest, {}, true)]
  const { trace_id } = await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to, text: 'Hi', destination_id: main })
  const stored = await database.get(traces, { organizationId }, String(trace_id))
  if (!stored) throw new Error('no trace')
  const note = { to: spare, cause: 'transient', message: 'The attempt failed temporarily.' }
  const moved = afterFailover(stored.record, { to: spare, isAtOnce: true, note })
  await database.commit(new Change().rewrite(traces, organizationId, stored, moved))
  const told = await simulate(rest, { trace_id })
  t.like(told, { destination_id: main, route: { by: 'request' } })
  t.deepEqual(told.earlier?.differences, [])
})

test('simulateRouting has the reach of its key and needs no api:send', async (t) => {
  const fixture = await startFixture(t)
  const { rest, addProject, addOrganization, withKey } = fixture
  const trace_id = await traceOf(fixture)
  const { id } = await rest.must('POST', '/v1/smtp-credentials', {})
  const bound = await withKey(['api:read'], await addProject())
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.is((await bound.call('POST', path, { from: 'a@example.ch', to })).status, 200)
  const body = { from: 'a@example.ch', to }
  for (const other of [bound, (await addOrganization()).rest]) {
    t.deepEqual(refusal(await other.call('POST', path, { trace_id })), [404, 'not_found', 'No trace has this id.'])
    t.is((await other.call('POST', path, { ...body, project_id })).status, 404)
    t.is((await other.call('POST', path, { ...body, smtp_credential_id: id })).status, 404)
  }
})

test('simulateRouting names the invalid field', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const wrong = async (body: object) => errorOf(await rest.call('POST', path, body)).message
  t.is(await wrong({}), 'to: is required; give from and to, or only trace_id')
  t.is(await wrong({ from: 'a@example.ch', to: [] }), 'to: is required; give from and to, or only trace_id')
  t.is(await wrong({ from: 'x', to }), 'from: must be one address such as ada@example.ch or Ada <ada@example.ch>')
  const trace_id = '0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b'
  t.is(await wrong({ trace_id, to }), 'trace_id: describes the whole message; omit all other fields')
  const { id } = await rest.must('POST', '/v1/smtp-credentials', {})
  const login = { smtp_credential_id: id, to, from: 'a@example.ch' }
  t.is(await wrong({ ...login, from: undefined }), 'from: is required with smtp_credential_id')
  t.is(
    await wrong({ ...login, destination_id: 'dst_1' }),
    'destination_id: has no effect on SMTP, where the credential names the destination; omit it',
  )
  t.is(await wrong({ ...login, project_id: await addProject() }), 'project_id: is not that of the SMTP credential; leave it out')
})
