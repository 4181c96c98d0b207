/** Organizations by REST: the own one, team organizations, deletion, grace period and restoring. */
import test from '#test'
import { within } from '#store/tuple.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const dayMs = 86_400_000
const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
type Row = Readonly<Record<string, unknown>>
const rowsOf = (list: Row): Row[] => list['data'] as Row[]

async function makeTeam({ rest, client }: Fixture, name = 'Team') {
  const { api_key, ...team } = await rest.must('POST', '/v1/organizations', { name })
  const key = String(api_key)
  return { id: String(team['id']), project: String(team['default_project_id']), key, rest: client(key), team }
}

/** Returns keys of the store that name an organization, except the log of the organization that created it. */
async function rowsNaming({ database, organizationId }: Fixture, id: string): Promise<string[]> {
  const rows: string[] = []
  for await (const { key, value } of database.kv.range({ start: within([]).start, end: Buffer.of(0xff) })) {
    const text = Buffer.from(key).toString('latin1')
    if (`${text} ${Buffer.from(value).toString('latin1')}`.includes(id) && !text.includes(`${organizationId}\0\u0002audit`)) rows.push(text)
  }
  return rows.filter((key) => !key.includes('expire'))
}

test('createOrganization makes an organization with a first key, limited to it', async (t) => {
  const fixture = await startFixture(t, { plan: 'pro' })
  const { rest, organizationId } = fixture
  const made = await rest.call('POST', '/v1/organizations', { name: 'Bakery' })
  t.is(made.status, 201)
  const team = objectOf(made)
  t.regex(String(team['api_key']), /^svckey_[A-Za-z0-9_-]{43}$/)
  t.like(team, { name: 'Bakery', owner_id: organizationId, plan_tier: 'free', payment_state: 'none', limits: { sends_per_day: 100 } })
  const inner = fixture.client(String(team['api_key']))
  t.like(await inner.must('GET', '/v1/projects/me'), { name: 'Default', project_id: team['default_project_id'], plan_tier: 'free' })
  t.like(rowsOf(await inner.must('GET', '/v1/organizations')), [{ id: team['id'], owner_id: organizationId }])
  t.is((await inner.call('GET', `/v1/organizations/${organizationId}`)).status, 404)
  t.is((await inner.call('POST', '/v1/messages', plain)).status, 200)
  t.deepEqual(column(rowsOf(await rest.must('GET', '/v1/organizations')), 'name'), ['Default', 'Bakery'])
  const shown = await rest.must('GET', `/v1/organizations/${String(team['id'])}`)
  t.false('api_key' in shown)
  t.like(await rest.must('GET', `/v1/organizations/${organizationId}`), {
    plan_tier: 'pro',
    owner_id: null,
    limits: { sub_projects: true },
  })
  t.is(
    (await rest.call('GET', `/v1/traces?project=${String(team['default_project_id'])}`)).status,
    404,
    "the owner's key does not reach it",
  )
  const nested = await inner.call('POST', '/v1/organizations', { name: 'x' })
  t.deepEqual(refusal(nested), [409, 'conflict', 'A team organization cannot have team organizations.'])
  const usage = await rest.must('GET', '/v1/usage')
  t.like(
    (usage['axes'] as Row[]).find(({ axis }) => axis === 'team_orgs'),
    { quantity: 1 },
  )
})

test('the limit of team organizations counts active ones, also for concurrent requests', async (t) => {
  const fixture = await startFixture(t, { plan: 'basic' })
  const { rest } = fixture
  const answers = await Promise.all([1, 2, 3].map(() => rest.call('POST', '/v1/organizations', { name: 'Team' })))
  t.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['201', '429', '429'])
  const refused = answers.find(({ status }) => status === 429)
  t.like(refused && errorOf(refused), { code: 'quota_exhausted', next_action: 'upgrade' })
  const [, team] = rowsOf(await rest.must('GET', '/v1/organizations'))
  t.is((await rest.call('DELETE', `/v1/organizations/${String(team?.['id'])}`)).status, 204)
  t.is((await rest.call('POST', '/v1/organizations', { name: 'Another' })).status, 201)
  const free = await startFixture(t, { plan: 'free' })
  t.is((await free.rest.call('POST', '/v1/organizations', { name: 'x' })).status, 429)
})

test('updateOrganization applies to the own organization and its teams', async (t) => {
  const fixture = await startFixture(t)
  const { rest, organizationId } = fixture
  const { id } = await makeTeam(fixture)
  const outsider = await fixture.addOrganization()
  t.like(await rest.must('PATCH', `/v1/organizations/${id}`, { name: 'Crew' }), { name: 'Crew' })
  fixture.clock.advance(1)
  t.like(await rest.must('PATCH', `/v1/organizations/${organizationId}`, { name: 'Acme' }), { name: 'Acme' })
  t.is((await rest.call('PATCH', `/v1/organizations/${outsider.organizationId}`, { name: 'x' })).status, 404)
  t.is((await rest.call('PATCH', `/v1/organizations/${id}`, { name: '' })).status, 400)
  const acts = rowsOf(await rest.must('GET', `/v1/audit?act=organization.updated`))
  t.deepEqual(column(acts, 'target'), [organizationId, id])
})

test('a deleted team stops immediately, can be restored, and is removed after 30 days', async (t) => {
  const fixture = await startFixture(t)
  const { rest, operator, clock, removals } = fixture
  const { id, project, rest: inner } = await makeTeam(fixture)
  await operator.must('PUT', `/operator/v1/organizations/${id}/plan`, { plan: 'enterprise' })
  const destination_id = await addDestination(inner, {}, true)
  await inner.must('POST', '/v1/smtp-credentials', { default_destination_id: destination_id })
  await inner.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  await inner.must('POST', '/v1/domains', { domain: 'team.example.ch' })
  await inner.must('POST', '/v1/replays', { filter: {} })
  const { trace_id } = await inner.must('POST', '/v1/messages', { ...plain, destination_id })
  await inner.must('POST', '/v1/messages', { ...plain, idempotency_key: 'once' })
  const path = `/v1/organizations/${id}`
  t.like(errorOf(await rest.call('DELETE', path)), { code: 'conflict', next_action: 'wait_or_discard_queued' })
  t.deepEqual(refusal(await inner.call('DELETE', `${path}?discard_queued=true`)), [
    409,
    'conflict',
    'Only a signed-in owner, or the organization that created it, can delete this organization.',
  ])
  t.is((await rest.call('DELETE', `${path}?discard_queued=true`)).status, 204)
  t.is((await inner.call('GET', '/v1/projects/me')).status, 401)
  t.is((await rest.call('GET', path)).status, 404)
  t.is((await rest.call('GET', `/share/traces/${String(trace_id)}`)).status, 404)
  t.is(rowsOf(await rest.must('GET', '/v1/organizations')).length, 1)
  t.is(typeof (await operator.must('GET', `/operator/v1/organizations/${id}`))['deleted_at'], 'string')

  clock.advance(30 * dayMs - 1)
  removals.wake()
  await removals.idle()
  t.like(await operator.must('POST', `/operator/v1/organizations/${id}/restore`), { id, deleted_at: null })
  t.like(await operator.must('POST', `/operator/v1/organizations/${id}/restore`), { id, deleted_at: null }, 'repeating it changes nothing')
  t.is((await inner.call('GET', `/v1/traces/${String(trace_id)}`)).status, 200)
  t.is(rowsOf(await inner.must('GET', '/v1/destinations')).length, 1)
  t.like(rowsOf(await inner.must('GET', '/v1/audit?act=organization'))[0], { act: 'organization.restored', actor: { kind: 'operator' } })

  await rest.must('DELETE', `${path}?discard_queued=true`)
  clock.advance(30 * dayMs)
  t.is((await operator.call('POST', `/operator/v1/organizations/${id}/restore`)).status, 409)
  removals.wake()
  await removals.idle()
  const invoices = /^\W*(invoices|invoice\.closed)\W/ // these rows stay
  const left = [...(await rowsNaming(fixture, id)), ...(await rowsNaming(fixture, project))]
  t.deepEqual(
    left.filter((row) => !invoices.test(row)),
    [],
  )
  t.is((await operator.call('GET', `/operator/v1/organizations/${id}`)).status, 404)
  t.is((await rest.call('GET', '/v1/projects/me')).status, 200)
})

test('an organization key cannot delete its organization; project keys change none', async (t) => {
  const fixture = await startFixture(t)
  const { rest, organizationId } = fixture
  t.is((await rest.call('DELETE', `/v1/organizations/${organizationId}`)).status, 409)
  const { id } = await makeTeam(fixture)
  const bound = await fixture.withKey(['api:admin'], await fixture.addProject())
  for (const [method, path, body] of [
    ['POST', '/v1/organizations', { name: 'x' }],
    ['PATCH', `/v1/organizations/${organizationId}`, { name: 'x' }],
    ['DELETE', `/v1/organizations/${id}`, undefined],
  ] as const)
    t.is((await bound.call(method, path, body)).status, 403, path)
  t.is(rowsOf(await bound.must('GET', '/v1/organizations')).length, 1)
  t.is((await bound.call('GET', `/v1/organizations/${id}`)).status, 404)
})
