/** Projects and partitions by REST: creating, listing, changing, budgets and deleting. */
import test from '#test'
import { destinations } from '#core/routing/destination.ts'
import { graphqlCaller } from '../../graphql/graphql-fixture.ts'
import { startMcp } from '../../mcp/mcp-fixture.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { columns } from '../../../support/column.ts'

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
type Row = Readonly<Record<string, unknown>>
const rowsOf = (list: Row): Row[] => list['data'] as Row[]

test('createProject makes a project with its catch-all inbox, and lists show it', async (t) => {
  const { rest, clock } = await startFixture(t)
  clock.advance(1)
  const made = await rest.call('POST', '/v1/projects', { name: 'Newsletter', send_budget: 10 })
  t.is(made.status, 201)
  const { id, created_at, ...shown } = objectOf(made)
  t.regex(String(id), /^prj_[0-9a-f]{32}$/)
  t.is(typeof created_at, 'string')
  t.deepEqual(shown, {
    agent_send_approval: 'never',
    approvals_waiting: 0,
    name: 'Newsletter',
    parent_id: null,
    sub_project_ids: [],
    is_default: false,
    status: 'claimed',
    no_route_policy: 'capture',
    send_budget: 10,
    project_sends_today: 0,
    monthly_capture_cap: null,
    captures_this_month: 0,
    environment: null,
  })
  t.like(rowsOf(await rest.must('GET', `/v1/inboxes?project=${String(id)}`)), [{ address_pattern: '*', project_id: id }])
  await rest.must('POST', '/v1/messages', { ...plain, project_id: id })
  t.like(await rest.must('GET', `/v1/projects/${String(id)}`), { project_sends_today: 1, captures_this_month: 1 })
  const rows = rowsOf(await rest.must('GET', '/v1/projects'))
  t.deepEqual(columns(rows, 'name', 'is_default'), [
    ['Newsletter', false],
    ['Default', true],
  ])
  const { next_cursor } = await rest.must('GET', '/v1/projects?limit=1')
  t.like(await rest.must('GET', `/v1/projects?limit=1&cursor=${String(next_cursor)}`), { data: [{ name: 'Default' }], next_cursor: null })
})

test('a partition has a parent and cannot have partitions', async (t) => {
  const { rest } = await startFixture(t)
  const { id: parent_id } = await rest.must('POST', '/v1/projects', { name: 'Platform' })
  const child = await rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id, send_budget: 5 })
  t.like(child, { parent_id, send_budget: 5 })
  t.like(await rest.must('GET', `/v1/projects/${String(parent_id)}`), { sub_project_ids: [child['id']] })
  t.like(rowsOf(await rest.must('GET', `/v1/projects?parent_id=${String(parent_id)}`)), [{ name: 'Tenant' }])
  const nested = await rest.call('POST', '/v1/projects', { name: 'Nested', parent_id: child['id'] })
  t.deepEqual(refusal(nested), [400, 'validation_failed', 'parent_id: is a partition, and a partition cannot have partitions'])
  t.is((await rest.call('POST', '/v1/projects', { name: 'x', parent_id: 'prj_none' })).status, 404)
})

test('partitions need the plan pro or enterprise; projects work on all plans', async (t) => {
  for (const [plan, status] of [
    ['free', 403],
    ['basic', 403],
    ['pro', 201],
    ['enterprise', 201],
  ] as const) {
    const { rest } = await startFixture(t, { plan })
    const { id } = await rest.must('POST', '/v1/projects', { name: 'Platform' })
    const answer = await rest.call('POST', '/v1/projects', { name: 'Tenant', parent_id: id })
    t.is(answer.status, status, plan)
    if (status === 403) t.like(errorOf(answer), { code: 'feature_disabled', next_action: 'upgrade' })
  }
})

test('updateProject changes the given fields; null clears a limit', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  const { id } = await rest.must('POST', '/v1/projects', { name: 'Shop' })
  const path = `/v1/projects/${String(id)}`
  const changed = { name: 'Boutique', send_budget: 3, no_route_policy: 'reject', monthly_capture_cap: 7 }
  t.like(await rest.must('PATCH', path, changed), changed)
  t.like(await rest.must('PATCH', path, { name: 'Laden' }), { ...changed, name: 'Laden' })
  t.like(await rest.must('PATCH', path, { send_budget: null, monthly_capture_cap: null }), { send_budget: null, monthly_capture_cap: 5000 })
  const above = await rest.call('PATCH', path, { monthly_capture_cap: 5001 })
  t.deepEqual(refusal(above), [
    429,
    'quota_exhausted',
    'The plan free allows 5000 captures per project and month; give at most that, or raise the plan.',
  ])
  t.is((await rest.call('PATCH', path, { send_budget: -1 })).status, 400)
  t.is((await rest.call('PATCH', path, { is_default: true })).status, 400)
  const own = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.like(await rest.must('PATCH', `/v1/projects/${own}`, { name: 'Main' }), { name: 'Main', is_default: true })
})

test('sends today: the count next to the budget has one name and value everywhere', async (t) => {
  const fixture = await startMcp(t)
  const { rest, projectId } = fixture
  const { id: other } = await rest.must('POST', '/v1/projects', { name: 'Other' })
  await rest.must('PATCH', `/v1/projects/${projectId}`, { send_budget: 5 })
  for (const project_id of [other, other, other, projectId]) await rest.must('POST', '/v1/messages', { ...plain, project_id })
  const own = { project_sends_today: 1, send_budget: 5 }
  t.like(await rest.must('GET', `/v1/projects/${projectId}`), own)
  t.like(await rest.must('GET', '/v1/projects/me'), { ...own, sends_today: 4, sends_cap: null })
  t.like(await (await fixture.agent()).must('account_status'), { ...own, sends_today: 4 })
  const { project } = await graphqlCaller(fixture).must<{ project: object }>(
    `query { project(id: "${projectId}") { projectSendsToday sendBudget } }`,
  )
  t.deepEqual(project, { projectSendsToday: 1, sendBudget: 5 })
  const listed = rowsOf(await rest.must('GET', '/v1/projects'))
  t.deepEqual(columns(listed, 'name', 'project_sends_today'), [
    ['Other', 3],
    ['Default', 1],
  ])
  t.false(
    listed.some((row) => 'sends_today' in row),
    'the other name belongs to the cap of the organization',
  )
})

test('a budget counts sends of its project only; partition sends count for the plan too', async (t) => {
  const { rest } = await startFixture(t)
  const { id: parent } = await rest.must('POST', '/v1/projects', { name: 'Platform', send_budget: 2 })
  const { id: child } = await rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: parent, send_budget: 3 })
  const send = (project_id: unknown) => rest.call('POST', '/v1/messages', { ...plain, project_id })
  for (let i = 0; i < 3; i++) t.is((await send(child)).status, 200)
  const refused = await send(child)
  t.is(refused.status, 429)
  t.like(errorOf(refused), { code: 'project_budget_exhausted', next_action: 'raise_send_budget' })
  t.is((await send(parent)).status, 200, 'the parent has its own budget')
  t.like(await rest.must('GET', `/v1/projects/${String(parent)}`), { project_sends_today: 1 })
  t.like(await rest.must('GET', `/v1/projects/${String(child)}`), { project_sends_today: 3 })
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 4, project_sends_today: 0 })
  await rest.must('PATCH', `/v1/projects/${String(child)}`, { send_budget: 4 })
  t.is((await send(child)).status, 200)
})

test('the project budget refuses before the plan limit, and the plan before the budget', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t, { plan: 'basic' })
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/overrides`, { sends_per_day: 2 })
  const { id } = await rest.must('POST', '/v1/projects', { name: 'Shop', send_budget: 1 })
  const send = async (project_id?: unknown) =>
    (await rest.call('POST', '/v1/messages', { ...plain, ...(project_id !== undefined && { project_id }) })).body
  await send(id)
  t.like(await send(id), { error: { code: 'project_budget_exhausted' } })
  await send()
  t.like(await send(), { error: { code: 'quota_exhausted' } })
})

test('a project key manages its partitions, but neither its limits nor other projects', async (t) => {
  const { rest, withKey, addProject } = await startFixture(t)
  const parent_id = await addProject()
  const bound = await withKey(['api:admin'], parent_id)
  const child = await bound.must('POST', '/v1/projects', { name: 'Tenant', parent_id })
  const path = `/v1/projects/${String(child['id'])}`
  t.like(await bound.must('PATCH', path, { send_budget: 9 }), { send_budget: 9 })
  t.is(rowsOf(await bound.must('GET', '/v1/projects')).length, 2)
  t.like(await bound.must('PATCH', `/v1/projects/${parent_id}`, { name: 'Mine', no_route_policy: 'reject' }), { name: 'Mine' })
  const above =
    'A key of a project cannot set its limits or approval, or delete it; use a key of the organization or of the parent project.'
  t.deepEqual(refusal(await bound.call('PATCH', `/v1/projects/${parent_id}`, { send_budget: 9 })), [403, 'insufficient_scope', above])
  t.deepEqual(refusal(await bound.call('DELETE', `/v1/projects/${parent_id}`)), [403, 'insufficient_scope', above])
  t.is((await bound.call('POST', '/v1/projects', { name: 'x' })).status, 403)
  const own = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.is((await bound.call('GET', `/v1/projects/${own}`)).status, 404)
  t.is((await bound.call('POST', '/v1/projects', { name: 'x', parent_id: own })).status, 404)
  const inner = await withKey(['api:admin'], String(child['id']))
  t.is((await inner.call('PATCH', path, { send_budget: null })).status, 403)
  t.is((await inner.call('GET', `/v1/projects/${parent_id}`)).status, 404)
  t.is((await bound.call('DELETE', path)).status, 204)
})

test('deleteProject: refuses Default and, by default, queued mail; hides all at once', async (t) => {
  const { rest, withKey, removals, database, organizationId } = await startFixture(t)
  const own = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const kept = await rest.call('DELETE', `/v1/projects/${own}`)
  t.deepEqual(refusal(kept), [409, 'conflict', 'The project Default of an organization cannot be deleted.'])
  const project_id = String((await rest.must('POST', '/v1/projects', { name: 'Shop' }))['id'])
  const bound = await withKey(['api:admin'], project_id)
  const destination_id = await addDestination(rest, { project_id }, true)
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...plain, project_id, destination_id })
  const waits = await rest.call('DELETE', `/v1/projects/${project_id}`)
  t.like(errorOf(waits), { code: 'conflict', next_action: 'wait_or_discard_queued' })
  t.is((await bound.call('GET', '/v1/projects/me')).status, 200)
  const deleted = await rest.call('DELETE', `/v1/projects/${project_id}?discard_queued=true`)
  t.is(deleted.status, 204)
  for (const path of [
    `/v1/projects/${project_id}`,
    `/v1/destinations/${destination_id}`,
    `/v1/traces/${String(trace_id)}`,
    `/share/traces/${String(trace_id)}`,
  ])
    t.is((await rest.call('GET', path)).status, 404, path)
  for (const list of ['destinations', 'traces', 'inboxes', 'templates', 'api-keys'])
    t.is((await rest.call('GET', `/v1/${list}?project=${project_id}`)).status, 404, list)
  t.is((await bound.call('GET', '/v1/projects/me')).status, 401)
  t.is((await rest.call('DELETE', `/v1/projects/${project_id}`)).status, 404)
  await removals.idle()
  t.is((await database.all(destinations, { organizationId })).length, 0)
  const [act] = rowsOf(await rest.must('GET', '/v1/audit?act=project.deleted'))
  t.like(act, { act: 'project.deleted', target: project_id, actor: { kind: 'api_key', id: 'key_environment' }, details: { name: 'Shop' } })
})

test('deleteProject: refused if an SMTP credential elsewhere names its destination', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const [from, to] = [await addProject(), await addProject()]
  const destination_id = await addDestination(rest, { project_id: from })
  const { id } = await rest.must('POST', '/v1/smtp-credentials', { project_id: from, default_destination_id: destination_id })
  await rest.must('PATCH', `/v1/smtp-credentials/${String(id)}`, { project_id: to })
  const refused = await rest.call('DELETE', `/v1/projects/${from}`)
  t.like(errorOf(refused), { code: 'conflict', next_action: 'remove_references', details: { smtp_credential_ids: [id] } })
  await rest.must('PATCH', `/v1/smtp-credentials/${String(id)}`, { default_destination_id: '' })
  t.is((await rest.call('DELETE', `/v1/projects/${from}`)).status, 204)
})
