/** Organization-wide destinations, and moves of destinations. Spec "Project rules" 5 and 6. */
import test from '#test'
import { organizations } from '#core/tenancy/organization.ts'
import type { PlanName } from '#config/plans/plans.ts'
import { Change } from '#store/change.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { addDestination, errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const letter = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
const noneOfProject = 'destination_id: no destination of this project has this id'

const pathOf = (id: string): string => `/v1/destinations/${id}`
const mark = (rest: RestClient, id: string, changes: object = { scope: 'org' }) => rest.must('PATCH', pathOf(id), changes)

async function idsOf(rest: RestClient, path: string): Promise<unknown[]> {
  const seen: unknown[] = []
  for await (const { id } of rest.rows(path, 2)) seen.push(id)
  return seen
}

async function putOnPlan({ database, organizationId }: Fixture, plan: PlanName): Promise<void> {
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (!stored) throw new Error('no organization')
  await database.commit(new Change().replace(organizations, organizationId, stored, { ...stored.record, plan }))
}

const routeOf = async (rest: RestClient, sent: Record<string, unknown>) =>
  (await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`))['route'] as Record<string, unknown>

test('an organization-wide destination is usable in every project', async (t) => {
  const { rest, addProject, withKey } = await startFixture(t)
  const project = await addProject()
  const bound = await withKey(['api:admin'], project)
  const id = await addDestination(rest, {}, true)
  const own = await addDestination(rest, { project_id: project })
  const both = [own, id].toSorted() // Lists are in the order of ids, which the stopped clock does not determine.
  const rule = { match: 'example.ch', destination_id: id, project_id: project }
  const credential = { default_destination_id: id, project_id: project }
  const send = { ...letter, destination_id: id, project_id: project }
  t.deepEqual(await idsOf(rest, `/v1/destinations?project=${project}`), [own])
  t.deepEqual(refusal(await bound.call('GET', pathOf(id))), [404, 'not_found', 'No destination has this id.'])
  t.is(errorOf(await rest.call('POST', '/v1/routing/rules', rule)).message, noneOfProject)
  t.is(errorOf(await rest.call('POST', '/v1/messages', send)).message, noneOfProject)

  t.like(await mark(rest, id), { id, scope: 'org', is_org_default: false })
  t.deepEqual((await idsOf(rest, `/v1/destinations?project=${project}`)).map(String).toSorted(), both)
  t.deepEqual((await idsOf(bound, '/v1/destinations')).map(String).toSorted(), both)
  t.deepEqual((await idsOf(rest, '/v1/destinations')).map(String).toSorted(), both)
  t.like(await bound.must('GET', pathOf(id)), { id, scope: 'org' })
  t.is((await rest.must('POST', '/v1/routing/rules', rule))['project_id'], project)
  t.is((await bound.must('POST', '/v1/routing/rules', { match: '*.ch', destination_id: id }))['project_id'], project)
  await bound.must('POST', '/v1/smtp-credentials', credential)
  t.is((await bound.must('POST', '/v1/messages', send))['outcome'], 'relayed')
  const routed = await bound.must('POST', '/v1/messages', letter)
  t.is(routed['outcome'], 'relayed')
  t.like(await routeOf(bound, routed), { by: 'rule' })
})

test("a rule for an organization-wide destination belongs to the key's project by default", async (t) => {
  const { rest, addProject } = await startFixture(t)
  const id = await addDestination(rest, { project_id: await addProject() })
  await mark(rest, id)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.is((await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id }))['project_id'], project_id)
})

test('the default sender applies if no project rule matches, and provides its From', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const project_id = await addProject()
  const own = await addDestination(rest, { project_id }, true)
  await rest.must('POST', '/v1/routing/rules', { match: 'own.ch', destination_id: own })
  const id = await addDestination(rest, { name: 'House', from: 'House <house@example.ch>' }, true)
  t.is((await rest.must('POST', '/v1/messages', { ...letter, project_id }))['outcome'], 'captured.no_route')
  t.like(await mark(rest, id, { scope: 'org', is_org_default: true }), { scope: 'org', is_org_default: true })

  const sent = await rest.must('POST', '/v1/messages', { ...letter, project_id })
  t.is(sent['outcome'], 'relayed')
  t.deepEqual(await routeOf(rest, sent), {
    by: 'org_default',
    rule_id: null,
    environment: null,
    reason: 'No routing rule of the project matches shop@example.ch; it goes to the organization default sender, the destination House.',
  })
  t.like(await routeOf(rest, await rest.must('POST', '/v1/messages', { ...letter, from: 'a@own.ch', project_id })), { by: 'rule' })
  const unsigned = await rest.must('POST', '/v1/messages', { to: 'ada@example.ch', text: 'Hi', project_id })
  t.is((await rest.must('GET', `/v1/traces/${String(unsigned['trace_id'])}`))['from'], 'house@example.ch')

  await rest.must('PATCH', `${pathOf(id)}/mode`, { mode: 'sandbox' })
  t.is((await rest.must('POST', '/v1/messages', { ...letter, project_id }))['outcome'], 'captured.sandbox_destination')
  t.like(await mark(rest, id, { is_org_default: false }), { scope: 'org', is_org_default: false })
  t.is((await rest.must('POST', '/v1/messages', { ...letter, project_id }))['outcome'], 'captured.no_route')
})

test('at most one destination is the default sender: setting the next one replaces it', async (t) => {
  const { rest, clock } = await startFixture(t)
  const first = await addDestination(rest)
  clock.advance(1)
  const second = await addDestination(rest)
  await mark(rest, first, { scope: 'org', is_org_default: true })
  await mark(rest, second, { scope: 'org', is_org_default: true })
  t.like(await rest.must('GET', pathOf(first)), { scope: 'org', is_org_default: false })
  t.like(await rest.must('GET', pathOf(second)), { scope: 'org', is_org_default: true })
  const racing = await Promise.all([first, second, first, second].map((id) => mark(rest, id, { is_org_default: true })))
  t.is(racing.length, 4)
  const flags = await Promise.all([first, second].map(async (id) => (await rest.must('GET', pathOf(id)))['is_org_default']))
  t.is(flags.filter((flag) => flag === true).length, 1)
  t.like(await mark(rest, second, { scope: 'project' }), { scope: 'project', is_org_default: false })
})

test('the default sender cannot be deleted', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  await mark(rest, id, { scope: 'org', is_org_default: true })
  const [status, code, message] = refusal(await rest.call('DELETE', `${pathOf(id)}?discard_queued=true`))
  t.deepEqual([status, code], [409, 'conflict'])
  t.regex(String(message), /^It is the default sender of the organization.* set is_org_default to false first\.$/)
  await mark(rest, id, { is_org_default: false })
  t.is((await rest.call('DELETE', pathOf(id))).status, 204)
})

test('org scope needs Pro or Enterprise; after a downgrade it works and can be removed', async (t) => {
  const fixture = await startFixture(t, { plan: 'pro' })
  const { rest, addProject } = fixture
  const project_id = await addProject()
  const id = await addDestination(rest, {}, true)
  const other = await addDestination(rest)
  await mark(rest, id, { scope: 'org', is_org_default: true })
  await mark(rest, other)
  await putOnPlan(fixture, 'basic')
  const refused = [
    403,
    'feature_disabled',
    'The plan basic marks no destination organization-wide; raise the plan to pro or enterprise.',
  ] as const
  t.deepEqual(refusal(await rest.call('PATCH', pathOf(await addDestination(rest)), { scope: 'org' })), refused)
  t.deepEqual(refusal(await rest.call('PATCH', pathOf(other), { is_org_default: true })), refused)
  t.like(await mark(rest, id, { name: 'Renamed', scope: 'org', is_org_default: true }), { name: 'Renamed', is_org_default: true })
  t.is((await idsOf(rest, `/v1/destinations?project=${project_id}`)).length, 2)
  t.is((await rest.must('POST', '/v1/messages', { ...letter, project_id }))['outcome'], 'relayed')
  t.like(await mark(rest, id, { is_org_default: false }), { scope: 'org', is_org_default: false })
  t.like(await mark(rest, id, { scope: 'project' }), { scope: 'project' })
})

test('project keys neither set organization scope nor change such destinations', async (t) => {
  const { rest, withKey } = await startFixture(t)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const bound = await withKey(['api:admin'], String(project_id))
  const id = await addDestination(rest)
  const refused = [
    403,
    'insufficient_scope',
    'This resource belongs to the organization. Use a key that is not bound to one project.',
  ] as const
  t.deepEqual(refusal(await bound.call('PATCH', pathOf(id), { scope: 'org' })), refused)
  t.is((await bound.must('PATCH', pathOf(id), { name: 'Mine', scope: 'project', is_org_default: false }))['name'], 'Mine')
  await mark(rest, id)
  for (const [method, path, body] of [
    ['PATCH', pathOf(id), { name: 'x' }],
    ['PATCH', pathOf(id), { scope: 'project' }],
    ['PATCH', `${pathOf(id)}/mode`, { mode: 'live' }],
    ['POST', `${pathOf(id)}/promote-to-live`, undefined],
    ['POST', `${pathOf(id)}/evidence`, {}],
    ['DELETE', pathOf(id), undefined],
  ] as const)
    t.deepEqual(refusal(await bound.call(method, path, body)), refused, `${method} ${path}`)
  t.like(await rest.must('GET', pathOf(id)), { name: 'Mine', mode: 'sandbox', scope: 'org' })
  await rest.must('POST', `${pathOf(id)}/evidence`, {})
  t.like(await rest.must('GET', `${pathOf(id)}/evidence`), { evidence: { destination_id: id } })
  t.deepEqual(await bound.must('GET', `${pathOf(id)}/evidence`), { evidence: null }, 'it counts messages of all projects')
})

test('removing organization scope and deletion need no references of other projects', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const project_id = await addProject()
  const id = await addDestination(rest)
  await mark(rest, id)
  const ours = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id })
  const theirs = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id, project_id })
  const login = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id: id, project_id })
  const back = () => rest.call('PATCH', pathOf(id), { scope: 'project', name: 'Changed' })
  t.like(errorOf(await back()), {
    code: 'conflict',
    message:
      'The destination is in use by 1 routing rule and 1 SMTP credential of other projects. Update or delete these references first.',
    next_action: 'remove_references',
    details: { routing_rule_ids: [theirs['id']], smtp_credential_ids: [login['id']] },
  })
  t.like(await rest.must('GET', pathOf(id)), { scope: 'org', name: 'Host' })
  t.like(errorOf(await rest.call('DELETE', pathOf(id))), { details: { routing_rule_ids: [ours['id'], theirs['id']] } })
  await rest.must('DELETE', `/v1/routing/rules/${String(theirs['id'])}`)
  t.is((await back()).status, 409)
  await rest.must('PATCH', `/v1/smtp-credentials/${String(login['id'])}`, { default_destination_id: '' })
  t.is((await back()).status, 200)
  t.deepEqual(await idsOf(rest, `/v1/destinations?project=${project_id}`), [])
})

test('a destination moves only while unreferenced, and never if organization-wide', async (t) => {
  const { rest, addProject, withKey } = await startFixture(t)
  const project_id = await addProject()
  const id = await addDestination(rest, {}, true)
  const move = (changes: object = {}) => rest.call('PATCH', pathOf(id), { project_id, ...changes })
  const rule = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id })
  t.like(errorOf(await move()), { code: 'conflict', details: { routing_rule_ids: [rule['id']], smtp_credential_ids: [] } })
  t.is((await rest.call('PATCH', pathOf(id), { project_id: rule['project_id'] })).status, 200, 'a move to its own project')
  await rest.must('DELETE', `/v1/routing/rules/${String(rule['id'])}`)
  const login = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id: id })
  t.like(errorOf(await move()), { code: 'conflict', details: { smtp_credential_ids: [login['id']] } })
  await rest.must('DELETE', `/v1/smtp-credentials/${String(login['id'])}`)
  await mark(rest, id)
  const never = [400, 'validation_failed', 'project_id: an organization-wide destination cannot move; give scope project too'] as const
  t.deepEqual(refusal(await move()), never)
  t.deepEqual(refusal(await move({ is_org_default: true })), never)
  t.like((await move({ scope: 'project', name: 'Moved' })).body, { project_id, scope: 'project', name: 'Moved' })
  t.deepEqual(await idsOf(rest, `/v1/destinations?project=${project_id}`), [id])
  t.is((await rest.must('POST', '/v1/messages', { ...letter, project_id, destination_id: id }))['outcome'], 'relayed')

  const nowhere = 'project_id: no project has this id; leave it out to use the project of your key.'
  t.is(errorOf(await move({ project_id: 'prj_none' })).message, nowhere)
  const bound = await withKey(['api:admin'], project_id)
  t.is(errorOf(await bound.call('PATCH', pathOf(id), { project_id: rule['project_id'] })).message, nowhere)
})

test('updateDestination refuses an invalid scope or project with the field name', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  const wrong = async (changes: object) => errorOf(await rest.call('PATCH', pathOf(id), changes)).message
  const needs = 'is_org_default: requires an organization-wide destination; give scope org too'
  t.is(await wrong({ is_org_default: true }), needs)
  t.is(await wrong({ is_org_default: true, scope: 'project' }), needs)
  t.is(await wrong({ scope: 'organization' }), 'scope: must be one of project, org')
  t.is(await wrong({ is_org_default: 'yes' }), 'is_org_default: expected true or false, got text')
})
