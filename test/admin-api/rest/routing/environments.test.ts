/** Environment and priority select the destination, if named by a send, an SMTP credential, a routing rule or a project. */
import test from '#test'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { breakDown } from '../fixture/break-down.ts'
import { addDestination, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const letter = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Hi' }
const environment = 'production'

/** Returns the route of a send. */
async function routeOf(rest: RestClient, body: object): Promise<Record<string, unknown>> {
  const { trace_id } = await rest.must('POST', '/v1/messages', { ...letter, ...body })
  const { destination_id, route } = await rest.must('GET', `/v1/traces/${String(trace_id)}`)
  return { destination_id, ...(route as object) }
}

test('environment: a send uses its live, healthy destination of lowest priority number', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const named = { environment, from: 'Prod <prod@example.ch>' }
  const second = await addDestination(rest, { ...named, name: 'Second', priority: 20 }, true)
  const first = await addDestination(rest, { ...named, name: 'First', priority: 10 }, true)
  const sandbox = await addDestination(rest, { ...named, name: 'Sandbox', priority: 1 })
  t.deepEqual(await routeOf(rest, { environment }), {
    ...{ destination_id: first, by: 'request', rule_id: null, environment },
    reason: 'The request selects the environment production, and its destination First (priority 10).',
  })
  const unsigned = await rest.must('POST', '/v1/messages', { to: letter.to, text: 'Hi', environment })
  t.is(
    (await rest.must('GET', `/v1/traces/${String(unsigned['trace_id'])}`))['from'],
    'prod@example.ch',
    'the destination provides its From',
  )

  await breakDown(fixture, first)
  t.like(await routeOf(rest, { environment }), { destination_id: second })
  const simulated = await rest.must('POST', '/v1/routing/simulate', { from: letter.from, to: letter.to, environment })
  t.like(simulated, { destination_id: second, outcome: 'relayed', route: { by: 'request', environment } })
  await breakDown(fixture, second)
  t.like(await routeOf(rest, { environment }), { destination_id: first }, 'if all are down, mail waits at the first')

  for (const id of [first, second]) await rest.must('PATCH', `/v1/destinations/${id}/mode`, { mode: 'sandbox' })
  const captured = await rest.must('POST', '/v1/messages', { ...letter, environment })
  t.is(captured['outcome'], 'captured.sandbox_destination')
  t.like(await rest.must('GET', `/v1/traces/${String(captured['trace_id'])}`), { destination_id: sandbox })
})

test('unknown environment: refused in every field; the error lists the known ones', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const destination_id = await addDestination(rest, { environment }, true)
  await addDestination(rest, { environment: 'secret', project_id: await addProject() })
  const unknown = 'environment: no destination of this project has the environment prod; known environments: production'
  const wrong = { environment: 'prod' }
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.deepEqual(refusal(await rest.call('POST', '/v1/messages', { ...letter, ...wrong })), [400, 'validation_failed', unknown])
  t.deepEqual(refusal(await rest.call('POST', '/v1/routing/rules', { match: '*', ...wrong })), [400, 'validation_failed', unknown])
  t.deepEqual(refusal(await rest.call('POST', '/v1/smtp-credentials', wrong)), [400, 'validation_failed', unknown])
  t.deepEqual(refusal(await rest.call('PATCH', `/v1/projects/${project}`, wrong)), [400, 'validation_failed', unknown])
  const both = 'environment: replaces destination_id; give only one of them'
  t.is(refusal(await rest.call('POST', '/v1/messages', { ...letter, environment, destination_id }))[2], both)
  t.is(refusal(await rest.call('POST', '/v1/routing/rules', { match: '*', environment, destination_id }))[2], both)
  const none = 'destination_id: is required unless environment is given'
  t.is(refusal(await rest.call('POST', '/v1/routing/rules', { match: '*' }))[2], none)
})

test('a rule names a destination or an environment; setting one clears the other', async (t) => {
  const { rest } = await startFixture(t)
  const later = await addDestination(rest, { environment, priority: 20 }, true)
  const first = await addDestination(rest, { environment, priority: 10 }, true)
  const rule = await rest.must('POST', '/v1/routing/rules', { match: '*', environment })
  t.like(rule, { destination_id: null, environment })
  t.like(await routeOf(rest, {}), { destination_id: first, by: 'rule', rule_id: rule['id'], environment })
  await rest.must('DELETE', `/v1/destinations/${first}?discard_queued=true`)
  t.like(await routeOf(rest, {}), { destination_id: later })
  const path = `/v1/routing/rules/${String(rule['id'])}`
  t.like(await rest.must('PATCH', path, { destination_id: later }), { destination_id: later, environment: null })
  t.like(await rest.must('PATCH', path, { environment }), { destination_id: null, environment })
  await rest.must('PATCH', `/v1/destinations/${later}`, { environment: null })
  const simulated = await rest.must('POST', '/v1/routing/simulate', { from: letter.from, to: letter.to })
  t.like((simulated['steps'] as object[])[0], {
    step: 'rule',
    result: 'destination_gone',
    message: 'Rule any (priority 100) matches, but no destination has its environment production.',
  })
  t.is(simulated['outcome'], 'captured.no_route')
})

test('the project environment applies if no rule matches, and can be cleared', async (t) => {
  const { rest } = await startFixture(t)
  const destination = await addDestination(rest, { environment, name: 'Main' }, true)
  const other = await addDestination(rest, {}, true)
  const path = `/v1/projects/${String((await rest.must('GET', '/v1/projects/me'))['project_id'])}`
  t.like(await rest.must('PATCH', path, { environment }), { environment })
  const { reason, ...route } = await routeOf(rest, {})
  t.deepEqual(route, { destination_id: destination, by: 'project', rule_id: null, environment })
  t.regex(
    String(reason),
    /^No routing rule .*\. The project selects the environment production, and its destination Main \(priority 100\)\.$/,
  )
  const simulated = await rest.must('POST', '/v1/routing/simulate', { from: letter.from, to: letter.to })
  t.like((simulated['steps'] as object[])[0], { step: 'project_environment', result: 'matched', destination_id: destination })
  await rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: other })
  t.like(await routeOf(rest, {}), { destination_id: other, by: 'rule' })
  t.like(await rest.must('PATCH', path, { environment: null }), { environment: null })
  t.like(await routeOf(rest, { from: 'a@b.ch' }), { by: 'none' })
})

test('an SMTP credential can name an environment in place of a default destination', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const destination = await addDestination(rest, { environment, name: 'Main' }, true)
  const spare = await addDestination(rest, { environment, name: 'Spare', priority: 200 }, true)
  const made = await rest.must('POST', '/v1/smtp-credentials', { environment })
  t.like(made, { environment, default_destination_id: null })
  const path = `/v1/smtp-credentials/${String(made['id'])}`
  const asked = { from: letter.from, to: letter.to, smtp_credential_id: made['id'] }
  t.like(await rest.must('POST', '/v1/routing/simulate', asked), { destination_id: destination, route: { by: 'credential', environment } })
  await breakDown(fixture, destination)
  t.like(await rest.must('POST', '/v1/routing/simulate', asked), { destination_id: spare })
  const checks = objectOf(await rest.call('POST', `${path}/test-connection`))
  t.regex(JSON.stringify(checks), /Of the environment production, Spare .* receives mail now/)
  t.like(await rest.must('PATCH', path, { default_destination_id: destination }), {
    environment: null,
    default_destination_id: destination,
  })
  t.like(await rest.must('PATCH', path, { environment }), { environment, default_destination_id: null })
  t.like(await rest.must('PATCH', path, { environment: '' }), { environment: null })
  const both = await rest.call('PATCH', path, { environment, default_destination_id: destination })
  t.is(refusal(both)[2], 'environment: replaces default_destination_id; give only one of them')
})
