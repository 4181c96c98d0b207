/** Going live with a route: `default_route` of promote-to-live, its warnings, and the warning for a send without a matching rule. */
import test from '#test'
import { auditEntries } from '#core/writes/audit.ts'
import { addDestination, errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const letter = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
const promotionOf = (id: string): string => `/v1/destinations/${id}/promote-to-live`
const rulesOf = async ({ rest }: Fixture) => (await rest.must('GET', '/v1/routing/rules'))['data'] as Record<string, unknown>[]
const orgDefault = { scope: 'org', is_org_default: true }

const notRouted = {
  code: 'not_routed',
  step: 'routing',
  message:
    'No routing rule leads to Host. Messages without destination_id are captured (captured.no_route). ' +
    'Repeat the request with default_route true, or create a rule.',
}

test('promote-to-live warns while no route leads to the destination', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const id = await addDestination(rest)
  const nowhere = { route: { leads_here: false, by: 'none', rule_id: null }, warnings: [notRouted] }
  t.like(await rest.must('POST', promotionOf(id)), { mode: 'live', already_live: false, ...nowhere })
  t.like(await rest.must('POST', promotionOf(id), { default_route: false }), { mode: 'live', already_live: true, ...nowhere })
  t.deepEqual(await rulesOf(fixture), [])
  await rest.must('PATCH', `/v1/destinations/${id}/mode`, { mode: 'sandbox' })
  const message = notRouted.message.replace('Repeat the request', 'Promote it')
  t.deepEqual((await rest.must('PATCH', `/v1/destinations/${id}/mode`, { mode: 'live' }))['warnings'], [{ ...notRouted, message }])
  t.deepEqual((await rest.must('PATCH', `/v1/destinations/${id}/mode`, { mode: 'sandbox' }))['warnings'], [])

  await rest.must('PATCH', '/v1/projects/me/no-route-policy', { value: 'reject' })
  const { warnings } = await rest.must('POST', promotionOf(id))
  t.regex(
    (warnings as { message: string }[])[0]?.message ?? '',
    /^No routing rule leads to Host\. Messages without destination_id are refused \(no_route\)\. /,
  )
})

test('default_route routes all mail of the project to the destination in the same write', async (t) => {
  const fixture = await startFixture(t)
  const { rest, kv, database, organizationId } = fixture
  const id = await addDestination(rest)
  const cut = kv.beforeWrite
  let writes = 0
  kv.beforeWrite = () => (writes++, undefined)
  const promoted = await rest.must('POST', promotionOf(id), { default_route: true })
  kv.beforeWrite = cut
  t.is(writes, 1)
  const rules = await rulesOf(fixture)
  t.is(rules.length, 1)
  t.like(rules[0], { match: { any: true }, priority: 1000, destination_id: id })
  t.like(promoted, { mode: 'live', already_live: false, route: { leads_here: true, by: 'rule', rule_id: rules[0]?.['id'] }, warnings: [] })
  t.is((await rest.must('POST', '/v1/messages', letter))['outcome'], 'relayed')
  const acts = (await database.all(auditEntries, { organizationId })).map(({ record: { act } }) => act)
  t.true(acts.includes('destination.set_live') && acts.includes('routing_rule.created'))

  t.like(await rest.must('POST', promotionOf(id), { default_route: true }), { already_live: true, route: promoted['route'], warnings: [] })
  t.deepEqual(await rulesOf(fixture), rules, 'repeating it changes nothing')
})

test('default_route of a live destination creates the missing rule', async (t) => {
  const fixture = await startFixture(t)
  const id = await addDestination(fixture.rest, {}, true)
  t.like(await fixture.rest.must('POST', promotionOf(id), { default_route: true }), {
    already_live: true,
    route: { leads_here: true, by: 'rule' },
  })
  t.is((await rulesOf(fixture)).length, 1)
})

test('default_route is refused, without promotion, if another default for all mail exists', async (t) => {
  const { rest } = await startFixture(t)
  const [other, id] = [await addDestination(rest, { name: 'Other' }, true), await addDestination(rest, { environment: 'live' })]
  const promote = () => rest.call('POST', promotionOf(id), { default_route: true })
  const rule = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: other })
  const refused = await promote()
  t.is(refused.status, 409)
  t.like(errorOf(refused), {
    code: 'conflict',
    message: `All mail of the project goes through Other by routing rule ${String(rule['id'])}. Update or delete the rule first.`,
    details: { rule_id: rule['id'] },
  })
  t.like(await rest.must('GET', `/v1/destinations/${id}`), { mode: 'sandbox' })
  await rest.must('DELETE', `/v1/routing/rules/${String(rule['id'])}`)

  await rest.must('PATCH', `/v1/destinations/${other}`, { environment: 'staging' })
  const { project_id: project } = await rest.must('GET', '/v1/projects/me')
  await rest.must('PATCH', `/v1/projects/${String(project)}`, { environment: 'staging' })
  t.like(errorOf(await promote()), { code: 'conflict', details: { by: 'project' } })
  await rest.must('PATCH', `/v1/projects/${String(project)}`, { environment: null })

  await rest.must('PATCH', `/v1/destinations/${other}`, orgDefault)
  t.like(errorOf(await promote()), { code: 'conflict', details: { by: 'org_default' } })
  t.like(await rest.must('GET', `/v1/destinations/${id}`), { mode: 'sandbox' })
})

test('a rule for one domain, the project environment and the default sender are routes', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest, { environment: 'production' })
  const promote = (body?: object) => rest.must('POST', promotionOf(id), body)
  const rule = await rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: id })
  t.like(await promote(), { route: { leads_here: true, by: 'rule', rule_id: rule['id'] }, warnings: [] })
  await rest.must('DELETE', `/v1/routing/rules/${String(rule['id'])}`)

  const { project_id: project } = await rest.must('GET', '/v1/projects/me')
  await rest.must('PATCH', `/v1/projects/${String(project)}`, { environment: 'production' })
  t.like(await promote(), { route: { leads_here: true, by: 'project', rule_id: null }, warnings: [] })
  t.like(await promote({ default_route: true }), { route: { leads_here: true, by: 'project', rule_id: null }, warnings: [] })
  await rest.must('PATCH', `/v1/projects/${String(project)}`, { environment: null })

  await rest.must('PATCH', `/v1/destinations/${id}`, orgDefault)
  t.like(await promote(), { route: { leads_here: true, by: 'org_default', rule_id: null }, warnings: [] })
})

test('a rule that follows a rule for all mail is not a route', async (t) => {
  const { rest } = await startFixture(t)
  const [other, id] = [await addDestination(rest, {}, true), await addDestination(rest)]
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: other, priority: 1 })
  await rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: id, priority: 2 })
  t.like(await rest.must('POST', promotionOf(id)), { route: { leads_here: false, by: 'none' }, warnings: [{ code: 'not_routed' }] })
})

test('default_route takes project_id only for an organization-wide destination', async (t) => {
  const { rest, addProject, withKey } = await startFixture(t)
  const [project, foreign] = [await addProject(), await addProject()]
  const bound = await withKey(['api:admin'], project)
  const [wide, own] = [await addDestination(rest), await addDestination(rest, { project_id: project })]
  await rest.must('PATCH', `/v1/destinations/${wide}`, { scope: 'org' })
  const made = await rest.must('POST', promotionOf(wide), { default_route: true, project_id: foreign })
  t.like(made, { route: { leads_here: true, by: 'rule' }, warnings: [] })
  t.like(await rest.must('GET', `/v1/routing/rules/${String((made['route'] as { rule_id: unknown }).rule_id)}`), { project_id: foreign })
  t.like(await rest.must('POST', promotionOf(wide)), { route: { leads_here: true }, warnings: [] }, 'a rule of any project is a route')
  t.like(await rest.must('POST', promotionOf(wide), { project_id: project }), { route: { leads_here: false } })

  const unknown = [404, 'not_found', 'project_id: no project has this id; leave it out to use the project of your key.'] as const
  t.deepEqual(refusal(await rest.call('POST', promotionOf(wide), { default_route: true, project_id: 'prj_none' })), unknown)
  t.deepEqual(refusal(await bound.call('POST', promotionOf(own), { default_route: true, project_id: foreign })), unknown)
  const [, code, message] = refusal(await rest.call('POST', promotionOf(own), { default_route: true, project_id: foreign }))
  t.deepEqual([code, message], ['validation_failed', 'project_id: is not the project of this destination; leave it out'])
  t.like(await bound.must('POST', promotionOf(own), { default_route: true, project_id: project }), { route: { leads_here: true } })
})

test('two concurrent requests with default_route create one rule', async (t) => {
  const fixture = await startFixture(t)
  const id = await addDestination(fixture.rest)
  const both = await Promise.all([1, 2].map(() => fixture.rest.must('POST', promotionOf(id), { default_route: true })))
  t.deepEqual(both[0]?.['route'], both[1]?.['route'])
  t.is((await rulesOf(fixture)).length, 1)
})

test('a send without a rule to a live destination is captured with a warning', async (t) => {
  const { rest, withKey, addProject } = await startFixture(t)
  const message =
    'No routing rule, project environment or default sender selects a destination for this message, so it was captured. ' +
    'The project has a live destination: create a routing rule for it, or give destination_id.'
  t.deepEqual(Object.keys(await rest.must('POST', '/v1/messages', letter)), ['trace_id', 'outcome'], 'no destination is live')
  await addDestination(rest, {}, true)
  const keyed = { ...letter, idempotency_key: 'order-1' }
  const first = await rest.must('POST', '/v1/messages', keyed)
  t.like(first, { outcome: 'captured.no_route', warnings: [{ path: 'destination_id', message }] })
  t.deepEqual(await rest.must('POST', '/v1/messages', keyed), first)
  t.like(await rest.must('POST', '/v1/messages/batch', { messages: [letter] }), { results: [{ warnings: [{ message }] }] })
  const elsewhere = await withKey(['api:send'], await addProject())
  t.false('warnings' in (await elsewhere.must('POST', '/v1/messages', letter)))
})
