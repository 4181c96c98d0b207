/** Release of captured messages to a live destination: sent once, by the rules of a send. */
import test from '#test'
import type { AgentAccess, Principal } from '#core/access/principal/principal.ts'
import { projects } from '#core/tenancy/organization.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { addDestination, errorOf, objectOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', bcc: 'eva@example.ch', subject: 'Your order', text: 'Thank you.' }

async function captured({ rest }: Fixture, more: object = {}): Promise<{ readonly path: string; readonly trace: string }> {
  const { trace_id, project_id } = {
    ...(await rest.must('GET', '/v1/projects/me')),
    ...(await rest.must('POST', '/v1/messages', { ...plain, ...more })),
  }
  const [inbox] = (await rest.must('GET', `/v1/inboxes?project=${String(project_id)}`))['data'] as { id: string }[]
  const list = `/v1/inboxes/${inbox?.id ?? ''}/messages`
  const [message] = (await rest.must('GET', list))['data'] as { id: string }[]
  return { path: `${list}/${message?.id ?? ''}`, trace: String(trace_id) }
}

test('a release sends the captured message once, with a separate trace that names it', async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, organizationId } = fixture
  const live = await addDestination(rest, { name: 'Webhoster' }, true)
  const { path, trace } = await captured(fixture)
  const body = { destination_id: live }
  const [first, second] = await Promise.all([rest.must('POST', `${path}/release`, body), rest.must('POST', `${path}/release`, body)])
  t.is(first['outcome'], 'relayed')
  t.is(second['trace_id'], first['trace_id'], 'concurrent requests')
  t.is((await rest.must('POST', `${path}/release`, body))['trace_id'], first['trace_id'], 'a repeated request')
  const released = await rest.must('GET', `/v1/traces/${String(first['trace_id'])}`)
  t.like(released, {
    status: 'queued',
    outcome: 'relayed',
    destination_id: live,
    to: ['ada@example.ch', 'eva@example.ch'],
    subject: 'Your order',
  })
  t.deepEqual(
    (released['recipients'] as { bcc: boolean }[]).map(({ bcc }) => bcc),
    [false, true],
    'blind copies stay hidden',
  )
  const [accepted] = released['timeline'] as { message: string; detail: object }[]
  t.regex(accepted?.message ?? '', /released from captured mail\.$/)
  t.like(accepted?.detail, { released_from: trace, capture_id: path.split('/').at(-1) })
  const { timeline } = await rest.must('GET', `/v1/traces/${trace}`)
  t.like((timeline as object[]).at(-1), { event: 'released', detail: { trace_id: first['trace_id'], destination_id: live } })
  t.like((await rest.must('GET', path))['released'], { trace_id: first['trace_id'], destination_id: live })
  const raw = (id: string) => rest.call('GET', `/v1/traces/${id}/message/raw`).then(({ bytes }) => bytes.toString('latin1'))
  t.is(await raw(String(first['trace_id'])), await raw(trace), 'octet by octet')
  t.is((await database.all(traces, { organizationId })).length, 2)
  const { sends_today: sends } = await rest.must('GET', '/v1/projects/me')
  t.is(sends, 2)
  const { data } = await rest.must('GET', '/v1/audit?act=capture.released')
  t.is((data as object[]).length, 1)
})

test('a release that cannot be delivered is refused with the reason', async (t) => {
  const fixture = await startFixture(t)
  const { rest, addProject } = fixture
  const live = await addDestination(rest, { name: 'Webhoster' }, true)
  const sandbox = await addDestination(rest, { name: 'Sandbox' })
  const foreign = await addDestination(rest, { project_id: await addProject() }, true)
  const { path, trace } = await captured(fixture)
  const refused = async (body: object) => errorOf(await rest.call('POST', `${path}/release`, body))
  t.like(await refused({ destination_id: sandbox }), {
    code: 'conflict',
    message: 'The message was not released. The destination Sandbox is in sandbox mode; promote it to live to relay.',
    next_action: 'fix_destination',
  })
  for (const id of [foreign, 'dst_none'])
    t.regex((await refused({ destination_id: id })).message, /^destination_id: no destination of this project/)
  t.like(await refused({}), { code: 'validation_failed' })
  t.is((await rest.must('GET', path))['released'], undefined)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  await rest.must('PATCH', `/v1/projects/${String(project_id)}`, { send_budget: 1 })
  t.is((await refused({ destination_id: live })).code, 'project_budget_exhausted')
  await rest.must('PATCH', `/v1/projects/${String(project_id)}`, { send_budget: null })
  await rest.must('POST', '/v1/suppressions', { email: 'ada@example.ch' })
  const { trace_id } = await rest.must('POST', `${path}/release`, { destination_id: live })
  const { recipients } = await rest.must('GET', `/v1/traces/${String(trace_id)}`)
  t.deepEqual(
    (recipients as { status: string }[]).map(({ status }) => status),
    ['suppressed', 'queued'],
  )
  const other = await addDestination(rest, { name: 'Other' }, true)
  t.like(await refused({ destination_id: other }), { code: 'conflict', next_action: 'read_trace', details: { trace_id } })
  t.is(objectOf(await rest.call('GET', `/v1/traces/${trace}`))['status'], 'captured')
})

test('a captured message that expired from its inbox is not released', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock } = fixture
  const live = await addDestination(rest, {}, true)
  const { path } = await captured(fixture)
  await rest.must('PATCH', path.split('/messages')[0] ?? '', { retention_days: 1 })
  clock.advance(86_400_000 + 1000)
  t.like(errorOf(await rest.call('POST', `${path}/release`, { destination_id: live })), { code: 'not_found' })
})

test('release: refused in an unclaimed project, with any destination', async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, organizationId } = fixture
  const live = await addDestination(rest, {}, true)
  const { path } = await captured(fixture)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const stored = await database.get(projects, { organizationId }, String(project_id))
  if (!stored) return t.fail()
  await database.commit(new Change().replace(projects, organizationId, stored, { ...stored.record, status: 'anonymous' as const }))
  const refused = errorOf(await rest.call('POST', `${path}/release`, { destination_id: live }))
  t.like(refused, { code: 'conflict', next_action: 'fix_destination' })
  t.regex(refused.message, /^The message was not released\. .*claim/i)
  t.is((await rest.must('GET', path))['released'], undefined)
  t.deepEqual(fixture.transport.attempted, [])
})

/** Releases as an agent with this token access does. */
async function releaseAs(fixture: Fixture, agent: AgentAccess, path: string, destinationId: string) {
  const { project_id: projectId } = await fixture.rest.must('GET', '/v1/projects/me')
  const [, , , inboxId = '', , captureId = ''] = path.split('/')
  const principal: Principal = {
    ...{ organizationId: fixture.organizationId, projectId: String(projectId), bound: true, scopes: ['api:send'], credentialId: 'grt_1' },
    ...{ holder: { kind: 'anonymous' }, agent },
  }
  return fixture.daemon.part('rest').releases.release(principal, inboxId, captureId, destinationId)
}

test('release: refused for a token limited to the sandbox', async (t) => {
  const fixture = await startFixture(t)
  const live = await addDestination(fixture.rest, {}, true)
  const { path } = await captured(fixture)
  const refused = await t.throwsAsync(releaseAs(fixture, { level: 1, mostLevel: 2, sandboxOnly: true }, path, live), { code: 'conflict' })
  t.regex(refused?.message ?? '', /^The message was not released\. /)
  t.is((await fixture.rest.must('GET', path))['released'], undefined)
  t.deepEqual(fixture.transport.attempted, [])
})

test('release: permitted to agents unless their sends need approval', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const live = await addDestination(rest, {}, true)
  const { path } = await captured(fixture)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const agent = { level: 2, mostLevel: 2, sandboxOnly: false }
  await rest.must('PATCH', `/v1/projects/${String(project_id)}`, { agent_send_approval: 'always' })
  await t.throwsAsync(releaseAs(fixture, agent, path, live), { code: 'approval_required' })
  t.is((await rest.must('GET', path))['released'], undefined)
  await rest.must('PATCH', `/v1/projects/${String(project_id)}`, { agent_send_approval: 'never' })
  t.like(await releaseAs(fixture, agent, path, live), { outcome: 'relayed' })
})
