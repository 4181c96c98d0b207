/** Stored traces under hypothetical settings: nothing is written, and the decision equals that of a send. */
import test from '#test'
import { dayOf, organizationSendCounter } from '#core/tenancy/counters.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { addDestination, errorOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

interface Simulated {
  readonly trace_id: string
  readonly earlier: { readonly outcome: string; readonly destination_id: string | null }
  readonly now: {
    readonly outcome: string | null
    readonly destination_id: string | null
    readonly first_destination_id: string | null
    readonly refusal: { readonly code: string } | null
    readonly suppressed: number
  }
  readonly differs: boolean
}

const send = async ({ rest, clock }: Fixture, body: object = {}): Promise<string> => {
  clock.advance(1000)
  const { trace_id: id } = await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.ch', text: 'x', ...body })
  return String(id)
}

async function whatIf({ rest }: Fixture, body: object, limit = 50): Promise<Simulated[]> {
  const rows: Simulated[] = []
  let cursor: unknown
  do {
    const page = await rest.must('POST', '/v1/routing/what-if', { ...body, limit, ...(cursor !== undefined && { cursor }) })
    rows.push(...(page['data'] as Simulated[]))
    cursor = page['next_cursor'] ?? undefined
  } while (cursor !== undefined)
  return rows
}

test('added and left-out rules show the changed route of each message', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const live = await addDestination(rest, { name: 'Live' }, true)
  const other = await addDestination(rest, { name: 'Other' }, true)
  const captured = await send(fixture)
  const rule = String((await rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: live }))['id'])
  const relayed = await send(fixture)
  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  const suppressed = await send(fixture, { from: 'a@b.ch', to: 'gone@example.ch' })
  await rest.call('POST', '/v1/messages', { from: 'a@b.ch', to: 'ada@example.ch', text: 'x', destination_id: 'dst_none' })
  const now = await whatIf(fixture, {})
  t.deepEqual(
    now.map(({ trace_id: id, now: { outcome }, differs }) => [id, outcome, differs]),
    [
      [captured, 'relayed', true],
      [relayed, 'relayed', false],
      [suppressed, 'captured.no_route', false],
    ],
    'oldest first, without refused messages',
  )
  const rules = [
    { match: 'shop@example.ch', destination_id: other, priority: 1 },
    { match: 'b.ch', destination_id: other },
  ]
  const changed = await whatIf(fixture, { rules })
  t.deepEqual(
    changed.map(({ now: { destination_id } }) => destination_id),
    [other, other, other],
  )
  t.is(changed[2]?.now.suppressed, 1)
  const without = await whatIf(fixture, { without_rule_ids: [rule] }, 1)
  t.deepEqual(
    without.map(({ now: { outcome } }) => outcome),
    ['captured.no_route', 'captured.no_route', 'captured.no_route'],
  )
  const rejected = await whatIf(fixture, { without_rule_ids: [rule], no_route_policy: 'reject' })
  t.deepEqual(
    rejected.map(({ now: { refusal } }) => refusal?.code),
    ['no_route', 'no_route', 'no_route'],
  )
  t.is(((await rest.must('GET', '/v1/routing/rules'))['data'] as object[]).length, 1)
})

test('a budget is used in order of time, across pages, and resets each day', async (t) => {
  const fixture = await startFixture(t)
  const ids = [await send(fixture), await send(fixture), await send(fixture)]
  fixture.clock.advance(86_400_000)
  ids.push(await send(fixture))
  for (const limit of [1, 2, 50]) {
    const rows = await whatIf(fixture, { send_budget: 2 }, limit)
    t.deepEqual(
      rows.map(({ trace_id: id }) => id),
      ids,
    )
    const codes = rows.map(({ now: { refusal } }) => refusal?.code)
    t.deepEqual(codes, [undefined, undefined, 'project_budget_exhausted', undefined], `in pages of ${String(limit)}`)
  }
})

test('capture cap, plan sends and login rate refuse as in real sends, across pages', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, addProject } = fixture
  const live = await addDestination(rest, {}, true)
  const login = await rest.must('POST', '/v1/smtp-credentials', { label: 'Shop' })
  const other = await addProject()
  for (let i = 0; i < 3; i++) await send(fixture)
  for (let i = 0; i < 2; i++) await send(fixture, { destination_id: live })
  await send(fixture, { project_id: other })
  const codesOf = async (body: object, limit: number) => (await whatIf(fixture, body, limit)).map(({ now }) => now.refusal?.code)
  const none = undefined
  for (const limit of [1, 2, 50]) {
    t.deepEqual(await codesOf({ monthly_capture_cap: 2 }, limit), [none, none, 'quota_exhausted_captures', none, none])
    t.deepEqual(await codesOf({ monthly_capture_cap: null }, limit), [none, none, none, none, none])
  }
  const { organizationId, database } = fixture
  // With the send of the other project, 4,997 of the 5,000 of the day.
  await database.commit(new Change().add(organizationSendCounter(organizationId, dayOf(clock.now())), 4996))
  t.deepEqual(await codesOf({ plan: 'basic' }, 2), [none, none, none, 'quota_exhausted', 'quota_exhausted'])
  t.deepEqual(await codesOf({ plan: 'enterprise' }, 2), [none, none, none, none, none])
  const { id } = login as { id: string }
  for (const { record } of await database.all(traces, { organizationId })) {
    const stored = await database.get(traces, { organizationId }, record.id)
    if (stored && record.projectId !== other)
      await database.commit(
        new Change().replace(traces, organizationId, stored, { ...stored.record, door: 'smtp' as const, submittedBy: id }),
      )
  }
  await rest.must('PATCH', `/v1/smtp-credentials/${id}`, { max_rate_per_min: 3 })
  for (const limit of [1, 50]) t.deepEqual(await codesOf({}, limit), [none, none, none, 'rate_limit_exceeded', 'rate_limit_exceeded'])
})

test('a failover chain replaces a destination that is down', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const primary = await addDestination(rest, { name: 'Primary' }, true)
  const fallback = await addDestination(rest, { name: 'Fallback' }, true)
  await send(fixture, { destination_id: primary })
  const failover = { primary_id: primary, fallback_ids: [fallback], conditions: { on: ['breaker_open'] } }
  const [healthy] = await whatIf(fixture, { failover })
  t.is(healthy?.now.first_destination_id, primary)
  t.false(healthy?.differs)
  const [down] = await whatIf(fixture, { failover, down_ids: [primary] })
  t.like(down, { differs: true, now: { destination_id: primary, first_destination_id: fallback } })
})

test('invalid hypothetical settings are refused like real ones', async (t) => {
  const fixture = await startFixture(t)
  const { rest, addProject } = fixture
  const foreign = await addDestination(rest, { project_id: await addProject() }, true)
  const own = await addDestination(rest, {}, true)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const refused = async (body: object) => errorOf(await rest.call('POST', '/v1/routing/what-if', { project_id, ...body })).message
  t.regex(await refused({ rules: [{ match: '*', destination_id: foreign }] }), /no destination of this project has this id/)
  t.regex(await refused({ rules: [{ match: 'a@@b', destination_id: own }] }), /match/)
  t.regex(await refused({ without_rule_ids: ['rul_none'] }), /^without_rule_ids\.0: no rule of this project/)
  t.regex(await refused({ down_ids: ['dst_none'] }), /^down_ids\.0/)
  t.regex(await refused({ failover: { primary_id: own, fallback_ids: [own], conditions: { on: ['transient'] } } }), /fallback_ids\.0/)
  for (const cursor of ['x', Buffer.from('[1,2,3]').toString('base64url'), Buffer.from('["x","",0]').toString('base64url')])
    t.regex(await refused({ cursor }), /cursor/)
})
