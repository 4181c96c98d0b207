/** If a project requires approval, an agent cannot create credentials that send without it, and cannot change the setting. */
import test from '#test'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { Change } from '#store/change.ts'
import { addUser } from '#core/people/users/user.ts'
import { assertSound } from '../../../support/problems.ts'
import { mcpResource, restResource } from '../../oauth/oauth-fixture.ts'
import { mail, startApproval, type ApprovalFixture } from './approval-fixture.ts'

const key = { name: 'Page', allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.org'], locked_from: 'shop@example.ch' }

/** Creates an SMTP login and a key of the project as a user. */
async function makeBoth({ rest, projectId }: ApprovalFixture, project = projectId) {
  const login = await rest.must('POST', '/v1/smtp-credentials', { label: 'Shop', project_id: project })
  const made = await rest.must('POST', '/v1/publishable-keys', { ...key, project_id: project })
  return { login: String(login['id']), page: String(made['id']) }
}

test('approval: an agent with all scopes cannot create or change sending credentials', async (t) => {
  const fixture = await startApproval(t)
  const { rest, projectId } = fixture
  const { login, page } = await makeBoth(fixture)
  const before = await rest.must('GET', `/v1/smtp-credentials/${login}`)
  const agent = await fixture.agent()
  const calls = [
    ['smtp_credential_create', { label: 'Mine' }],
    ['smtp_credential_rotate', { id: login }],
    ['smtp_credential_update', { id: login, default_destination_id: fixture.destinationId }],
    ['publishable_key_create', key],
    ['publishable_key_rotate', { id: page }],
  ] as const
  for (const [name, given] of calls) {
    const refused = await agent.refused(name, given)
    t.like(refused, { code: 'approval_required', next_action: 'ask_member' }, name)
    t.regex(refused.message, /Ask a member to do it in the dashboard/)
  }
  t.deepEqual(await rest.must('GET', `/v1/smtp-credentials/${login}`), before)
  t.is(((await rest.must('GET', '/v1/publishable-keys'))['data'] as readonly unknown[]).length, 1)
  t.like(await agent.must('smtp_credential_list'), { data: [{ id: login }] } as never)
  await agent.must('smtp_credential_test_connection', { id: login })
  await agent.must('smtp_credential_revoke', { id: login })
  await agent.must('publishable_key_revoke', { id: page })
  await rest.must('PATCH', `/v1/projects/${projectId}`, { agent_send_approval: 'never' })
  await agent.must('smtp_credential_create', { label: 'Mine' })
  await assertSound(t, fixture)
})

test('approval: an agent of a partition cannot create sending credentials either', async (t) => {
  const fixture = await startApproval(t)
  const { id } = await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: fixture.projectId })
  const agent = await fixture.agent({ token: await fixture.tokenOf(undefined, { project: String(id) }) })
  t.like(await agent.refused('smtp_credential_create', { label: 'Mine' }), { code: 'approval_required' })
  t.like(await agent.refused('publishable_key_create', key), { code: 'approval_required' })
})

test('approval: no tool changes the setting, and the core refuses it to agents', async (t) => {
  const fixture = await startApproval(t)
  const { tools } = await (await fixture.agent()).client.listTools()
  t.true(tools.length > 70)
  t.deepEqual(
    tools.filter((tool) => JSON.stringify(tool.inputSchema).includes('agent_send_approval')).map(({ name }) => name),
    [],
  )
  const { organizationId, projectId } = fixture
  const agent: Principal = {
    ...{ organizationId, projectId, bound: false, scopes: ['api:admin'], credentialId: 'grt_1' },
    agent: { level: 3, mostLevel: 3, sandboxOnly: false },
  }
  const { projects } = fixture.daemon.part('rest')
  for (const work of [
    projects.update(agent, projectId, { agentSendApproval: 'never' }),
    projects.create(agent, { name: 'Free', agentSendApproval: 'never' }),
  ])
    t.is((await t.throwsAsync(work, { instanceOf: Refusal })).code, 'approval_required')
  t.like(await fixture.rest.must('GET', `/v1/projects/${projectId}`), { agent_send_approval: 'always' })
})

/** Requests over REST that send, or that create sending credentials. */
const senders = [
  ['/v1/messages', mail],
  ['/v1/smtp-credentials', { label: 'Mine' }],
  ['/v1/publishable-keys', key],
  ['/v1/api-keys', { name: 'Mine', scopes: ['api:send'] }],
] as const

test('approval: the agent of a claimed sandbox gets no REST token that can send', async (t) => {
  const fixture = await startApproval(t)
  const { bootstrap, token, callRest, claims, database, clock } = fixture
  const { body: first } = await bootstrap({ resource: mcpResource })
  const agent = await fixture.agent({ token: String(first['access_token']) })
  const { user_code: code } = await agent.must('account_claim', { email: 'ada@example.ch' })
  const change = new Change()
  const ada = addUser(database, change, 'ada@example.ch', clock.now())
  await database.commit(change)
  await claims.confirm(ada, String(code), ['send_live', 'admin'])
  const refresh = async (secret: unknown, resource: string) => {
    const given = { grant_type: 'refresh_token', client_id: 'anonymous-bootstrap', refresh_token: String(secret), resource }
    return (await token(given)).body
  }
  const mcp = await refresh(first['refresh_token'], mcpResource)
  const taken = await fixture.agent({ token: String(mcp['access_token']) })
  const { project_id: projectId } = await taken.must('account_status')
  const rest = (await refresh(mcp['refresh_token'], restResource))['access_token']
  t.is((await callRest(rest, '/v1/messages', 'POST', mail)).status, 200, 'the project requires no approval')
  const { organizationId } = await fixture.server.tokenCheck.bearer(String(rest), 'rest')
  const owner: Principal = { organizationId, projectId: String(projectId), bound: false, scopes: ['api:admin'], credentialId: ada.id }
  const { projects } = fixture.daemon.part('rest')
  await projects.update(owner, String(projectId), { agentSendApproval: 'always' })
  for (const [path, given] of senders) t.is((await callRest(rest, path, 'POST', given)).status, 403, path)
  t.is((await callRest(rest)).status, 200, 'it reads')
  await projects.update(owner, String(projectId), { agentSendApproval: 'never' })
  t.is((await callRest(rest, '/v1/messages', 'POST', mail)).status, 200)
  await assertSound(t, fixture)
})

test('approval: applies to an application with MCP and REST, not to one with only REST', async (t) => {
  const fixture = await startApproval(t)
  const { approve, request, signIn, token, callRest, destinationId, transport } = fixture
  const given = { ...mail, destination_id: destinationId }
  const { query, verifier } = request({ resource: [mcpResource, restResource], scope: 'mcp:send api:send' })
  const code = (await approve(query)).searchParams.get('code') ?? ''
  const { client_id: clientId, redirect_uri: redirectUri } = query
  const about = { client_id: clientId, redirect_uri: redirectUri, resource: restResource }
  const both = (await token({ grant_type: 'authorization_code', code, code_verifier: verifier, ...about })).body
  t.is(both['scope'], 'api:send')
  t.is((await callRest(both['access_token'], '/v1/messages', 'POST', given)).status, 403)
  await fixture.daemon.settled()
  t.deepEqual(transport.attempted, [])
  const alone = await signIn({ resource: restResource, scope: 'api:send' })
  t.like(await callRest(alone['access_token'], '/v1/messages', 'POST', given), { status: 200, body: { outcome: 'relayed' } })
})
