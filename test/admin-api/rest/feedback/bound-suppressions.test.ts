/** Access of keys and tokens of one project to the suppression list, at every entry point. */
import test, { type ExecutionContext } from '#test'
import { startMcp, type McpFixture } from '../../mcp/mcp-fixture.ts'
import { graphqlCaller } from '../../graphql/graphql-fixture.ts'
import { column } from '../../../support/column.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { addDestination, errorOf } from '../fixture/rest-fixture.ts'

type Row = Readonly<Record<string, unknown>>
const path = '/v1/suppressions'
const none = 'use_key_of_organization'

interface Scene extends McpFixture {
  /** The project of the caller. */
  readonly own: string
  readonly key: string
  readonly bound: RestClient
  /** A key of the other project. */
  readonly other: RestClient
  /** Ids of an entry of the organization, of the other project and of the own one. */
  readonly ids: { readonly organization: string; readonly other: string; readonly own: string }
}

async function scene(t: ExecutionContext): Promise<Scene> {
  const fixture = await startMcp(t)
  const { rest, client, addProject, withKey, projectId } = fixture
  const own = await addProject()
  const key = String((await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'], project_id: own }))['key'])
  const add = async (email: string, project_id?: string): Promise<string> =>
    String((await rest.must('POST', path, { email, reason: `Complaint of ${email}`, project_id }))['id'])
  const ids = {
    organization: await add('organization@example.net'),
    other: await add('other@example.net', projectId),
    own: await add('own@example.net', own),
  }
  return { ...fixture, own, key, bound: client(key), other: await withKey(['api:admin'], projectId), ids }
}

const emailsOf = async (client: RestClient): Promise<unknown[]> =>
  column((await client.must('GET', path))['data'] as Row[], 'email')
    .map(String)
    .toSorted()
const all = ['organization@example.net', 'other@example.net', 'own@example.net']

test('REST: a project key reads, changes and deletes only entries of its project', async (t) => {
  const { bound, rest, ids, own, projectId } = await scene(t)
  t.deepEqual(await emailsOf(bound), ['own@example.net'])
  t.is((await bound.call('GET', `${path}?project_id=${projectId}`)).status, 404)
  const { bytes } = await bound.call('GET', `${path}/export`)
  t.regex(bytes.toString(), /own@example\.net/)
  t.notRegex(bytes.toString(), /other@|organization@/)
  for (const id of [ids.organization, ids.other]) {
    t.is((await bound.call('GET', `${path}/${id}`)).status, 404)
    t.is((await bound.call('PATCH', `${path}/${id}`, { reason: 'Mine', expires_at: null })).status, 404)
    t.is((await bound.call('DELETE', `${path}/${id}`)).status, 204, 'like an entry that does not exist')
  }
  t.deepEqual(await emailsOf(rest), all)
  t.like(await rest.must('GET', `${path}/${ids.other}`), { reason: 'Complaint of other@example.net' })
  t.like(await bound.must('PATCH', `${path}/${ids.own}`, { reason: 'Mine' }), { reason: 'Mine' })
  t.is((await bound.call('DELETE', `${path}/${ids.own}`)).status, 204)
  t.like(await bound.must('POST', path, { email: 'new@example.net' }), { project_id: own })
  t.is((await bound.call('POST', path, { email: 'x@example.net', project_id: projectId })).status, 404)
  t.deepEqual(await emailsOf(rest), ['new@example.net', 'organization@example.net', 'other@example.net'])
})

test('REST: a project key sees only that an address is suppressed elsewhere', async (t) => {
  const { bound, rest, ids, clock } = await scene(t)
  for (const email of ['organization@example.net', 'other@example.net']) {
    t.deepEqual(await bound.must('GET', `${path}/match?address=${email.toUpperCase()}`), { address: email, match: true, entry: null })
    const answer = await bound.call('POST', path, { email, reason: 'Ours' })
    t.is(answer.status, 200)
    t.like(answer.body, { id: 'outside_project', email, reason: null, project_id: null, source: 'manual', expires_at: null })
    t.false(Object.values(ids).some((id) => answer.bytes.includes(id)))
  }
  t.like(await bound.must('GET', `${path}/match?address=own@example.net`), { match: true, entry: { id: ids.own } })
  t.like(await bound.must('GET', `${path}/match?address=nobody@example.net`), { match: false, entry: null })
  t.like(await rest.must('GET', `${path}/match?address=other@example.net`), { match: true, entry: { id: ids.other } })
  t.like(errorOf(await bound.call('GET', `${path}/match?address=nonsense`)), { code: 'validation_failed' })
  const expires_at = new Date(clock.now() + 3_600_000).toISOString()
  await rest.must('PATCH', `${path}/${ids.other}`, { expires_at })
  await bound.call('POST', path, { email: 'other@example.net' })
  t.like(
    await rest.must('GET', `${path}/${ids.other}`),
    { reason: 'Complaint of other@example.net', expires_at: null },
    'the entry is never shortened',
  )
})

test('REST: imports for the organization refuse a project key', async (t) => {
  const { bound, rest } = await scene(t)
  const rows = [{ email: 'bea@example.net' }]
  for (const [where, body] of [
    [`${path}/bulk-import`, { rows }],
    [`${path}/bulk-import?dry_run=true`, { rows }],
    [`${path}/service-import`, [{ email: 'bea@example.net', created: 1 }]],
  ] as const)
    t.like(errorOf(await bound.call('POST', where, body)), { code: 'insufficient_scope', next_action: none }, where)
  t.deepEqual(await emailsOf(rest), all)
})

test('project key: sees that another project suppressed an address, without the reason', async (t) => {
  const fixture = await scene(t)
  const { bound, rest, key, own, ids } = fixture
  await addDestination(rest, { project_id: own, name: 'Host' }, true)
  const [{ id: destination_id }] = (await bound.must('GET', '/v1/destinations'))['data'] as [{ id: string }]
  const mail = { from: 'shop@example.ch', to: all, text: 'x', destination_id }
  const trace = String((await bound.must('POST', '/v1/messages', mail))['trace_id'])
  const shown = {
    own: { id: ids.own, source: 'manual', reason: 'Complaint of own@example.net' },
    outside: { id: 'outside_project', source: 'outside_project', reason: null },
  }
  const seen = async (client: RestClient) => {
    const { recipients } = (await client.must('GET', `/v1/traces/${trace}`)) as { recipients: { address: string; suppression: unknown }[] }
    return Object.fromEntries(recipients.map(({ address, suppression }) => [address.split('@')[0], suppression]))
  }
  t.deepEqual(await seen(bound), { organization: shown.outside, other: shown.outside, own: shown.own })
  t.like(await seen(rest), { organization: { id: ids.organization, reason: 'Complaint of organization@example.net' } })
  const texts = await Promise.all(
    [
      bound.call('GET', `/v1/traces/${trace}`),
      bound.call('GET', '/v1/traces'),
      bound.call('POST', '/v1/routing/simulate', { ...mail, text: undefined }),
      bound.call('POST', '/v1/routing/simulate', { trace_id: trace }),
      bound.call('POST', '/v1/routing/what-if', {}),
      ...all.map((email) => bound.call('GET', `/v1/diagnose/missing?recipient=${email}`)),
      bound.call('GET', '/v1/diagnose/missing?recipient=organization@example.net&time_window=1h'),
      bound.call('GET', `/v1/diagnose/bounce?message_id=${trace}&recipient=other@example.net`),
    ].map(async (asking) => (await asking).bytes.toString()),
  )
  const graphql = `query { trace(traceId: "${trace}") { recipients { address suppression { id source reason } } timeline { message detail } } }`
  texts.push(JSON.stringify(await graphqlCaller(fixture, key).must(graphql)))
  for (const text of texts) {
    t.notRegex(text, /Complaint of (?:other|organization)/)
    for (const id of [ids.organization, ids.other]) t.false(text.includes(id), text)
  }
  t.regex(texts.join(), /ask an administrator of the organization to remove the suppression/)
})

test('GraphQL: a project key reaches only entries of its project', async (t) => {
  const fixture = await scene(t)
  const { rest, ids } = fixture
  const { must, refused } = graphqlCaller(fixture, fixture.key)
  t.like(await must('query { suppressions { nodes { email } } }'), { suppressions: { nodes: [{ email: 'own@example.net' }] } })
  t.deepEqual(await must('query { suppressionMatch(address: "other@example.net") { match entry { id } } }'), {
    suppressionMatch: { match: true, entry: null },
  })
  for (const id of [ids.organization, ids.other]) {
    t.is((await refused(`query { suppression(id: "${id}") { id } }`)).extensions.code, 'not_found')
    t.is((await refused(`mutation { updateSuppression(id: "${id}", input: { reason: "x" }) { id } }`)).extensions.code, 'not_found')
    await must(`mutation { deleteSuppression(id: "${id}") }`)
  }
  t.deepEqual(await emailsOf(rest), all)
})

test('MCP: a token has other projects if its user allowed organization settings', async (t) => {
  const fixture = await scene(t)
  const { rest, ids } = fixture
  const agent = await fixture.agent() // of the project of the entry "other"
  const listed = async (from = agent): Promise<unknown[]> =>
    column((await from.must('email_suppression_list'))['data'] as Row[], 'untrusted_email')
      .map(String)
      .toSorted()
  t.deepEqual(await listed(), ['other@example.net'])
  for (const id of [ids.organization, ids.own]) {
    t.is((await agent.refused('email_suppression_get', { id })).code, 'not_found')
    t.deepEqual(await agent.must('email_suppression_remove', { id }), { done: true }, 'like an entry that does not exist')
  }
  t.like(await agent.must('email_suppression_add', { email: 'own@example.net' }), { id: 'outside_project', untrusted_reason: null })
  const refused = [
    ['email_suppression_bulk_import', { rows: [{ email: 'bea@example.net' }] }],
    ['bounce_source_create', { provider: 'arf' }],
    ['mailenable_postoffice_map_delete', { id: 'pom_1' }],
  ] as const
  for (const [name, given] of refused) t.like(await agent.refused(name, given), { code: 'insufficient_scope', next_action: none }, name)
  t.deepEqual(await emailsOf(rest), all)
  t.like(await agent.must('email_suppression_add', { email: 'new@example.net' }), { project_id: fixture.projectId })
  t.deepEqual(await agent.must('email_suppression_remove', { id: ids.other }), { done: true })

  const allowed = await fixture.agent({ reachesOrganization: true })
  t.deepEqual(await listed(allowed), ['new@example.net', 'organization@example.net', 'own@example.net'])
  t.deepEqual(await allowed.must('email_suppression_remove', { id: ids.organization }), { done: true })
  t.like(await allowed.must('email_suppression_bulk_import', { rows: [{ email: 'bea@example.net' }] }), { added: 1 })
  t.truthy((await allowed.must('bounce_source_create', { provider: 'arf' }))['id'])
  await fixture.setRole('developer')
  t.like(await allowed.refused('bounce_source_create', { provider: 'arf' }), { code: 'insufficient_scope' }, 'the role limits every call')
})
