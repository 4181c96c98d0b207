/** The claim of a sandbox from the view of its agent over REST: progress, tokens before and after, and undo. */
import test from '#test'
import { addUser, type User } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { lookupPrefix } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import { outcomeOf } from './outcome.ts'
import { mcpResource, restResource, startOAuth, type OAuthFixture, type Reply } from './oauth-fixture.ts'
import { assertSound } from '../../support/problems.ts'
import { column } from '../../support/column.ts'

const progressOf = ({ body }: Reply): unknown => body['claim_progress']
const message = { from: 'a@example.ch', to: 'b@example.ch', subject: 'x', text: 'y' }

async function userOf({ database, clock }: OAuthFixture, email: string): Promise<User> {
  const change = new Change()
  const user = addUser(database, change, email, clock.now())
  await database.commit(change)
  return user
}

const refresh = (fixture: OAuthFixture, token: unknown, resource: string) =>
  fixture.token({ grant_type: 'refresh_token', client_id: 'anonymous-bootstrap', refresh_token: String(token), resource })

test('claim: the agent sees its progress, and its next token has the chosen scopes', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource })
  const token = body['access_token']
  const none = { claimed: false, user_id: null, claim_email: null }
  const noLink = { magic_link_sent_at: null, magic_link_expires_at: null, magic_link_pending: false }
  t.deepEqual(progressOf(await fixture.callRest(token)), { ...none, ...noLink })

  const started = await fixture.callRest(token, '/v1/account/claim', 'POST', { email: 'Ada@example.ch' })
  t.is(started.status, 200)
  t.deepEqual(Object.keys(started.body), ['claim_progress', 'user_code', 'integrations_url', 'expires_at', 'message'])
  t.deepEqual(progressOf(started), { ...none, ...noLink, claim_email: 'ada@example.ch' })
  t.is(started.body['integrations_url'], 'https://post.example.ch/integrations')
  t.is(started.body['expires_at'], new Date(fixture.clock.now() + 30 * 60_000).toISOString())
  t.regex(String(started.body['message']), /not configured to send system mail/)
  const code = String(started.body['user_code'])
  t.regex(code, /^[A-Z]{3,8}-\d{4}$/)

  const ada = await userOf(fixture, 'ada@example.ch')
  await fixture.claims.confirm(ada, code, ['send_live'])
  const state = await fixture.callRest(token)
  t.like(state.body, { status: 'claimed', plan_tier: 'free', project_id: body['project_id'], name: 'sandbox' })
  t.deepEqual(progressOf(state), { claimed: true, user_id: ada.id, claim_email: 'ada@example.ch', ...noLink })
  t.like((await fixture.callRest(token, '/v1/messages', 'POST', message)).body, { outcome: 'captured.no_route' })
  const again = await fixture.callRest(token, '/v1/account/claim', 'POST', { email: 'eve@example.ch' })
  t.like(again.body, { user_code: null, expires_at: null })

  const before = await fixture.server.tokenCheck.bearer(String(token), 'rest')
  t.deepEqual(before.scopes, ['api:read', 'api:send'], 'only the scopes of the token')
  const next = await refresh(fixture, body['refresh_token'], mcpResource)
  t.is(next.body['scope'], 'mcp:read mcp:send-sandbox mcp:send')
  const bearer = await fixture.server.tokenCheck.bearer(String(next.body['access_token']), 'mcp')
  t.like(bearer.holder, { kind: 'user', userId: ada.id })
  await fixture.claims.undo(ada, bearer.organizationId)
  t.is((await fixture.callRest(token)).status, 401)
  t.is(outcomeOf(await refresh(fixture, next.body['refresh_token'], mcpResource)), '400 invalid_grant')
})

test('claim: running tokens lose scopes that the user did not choose', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource })
  const token = body['access_token']
  const { body: claim } = await fixture.callRest(token, '/v1/account/claim', 'POST', { email: 'ada@example.ch' })
  await fixture.claims.confirm(await userOf(fixture, 'ada@example.ch'), String(claim['user_code']), ['send_sandbox'])
  t.is((await fixture.callRest(token)).status, 200)
  t.is((await fixture.callRest(token, '/v1/messages', 'POST', message)).status, 403)
  t.is((await refresh(fixture, body['refresh_token'], restResource)).body['scope'], 'api:read')
})

test('claim: known and unknown addresses get the same response', async (t) => {
  const fixture = await startOAuth(t)
  await userOf(fixture, 'known@example.ch')
  const told = []
  for (const email of ['known@example.ch', 'other@example.ch']) {
    const token = (await fixture.bootstrap({ resource: restResource })).body['access_token']
    const replies = []
    for (let i = 0; i < 4; i++) replies.push(await fixture.callRest(token, '/v1/account/claim', 'POST', { email }))
    const text = JSON.stringify(replies.map(({ status, body }) => [status, body]))
    told.push(text.replaceAll(email, 'ADDRESS').replaceAll(/[A-Z]{3,8}-\d{4}|req_\w+/g, 'SECRET'))
    t.is(replies.at(-1)?.status, 429)
  }
  t.is(told[0], told[1])
  const token = (await fixture.bootstrap({ resource: restResource })).body['access_token']
  t.is((await fixture.callRest(token, '/v1/account/claim', 'POST', { email: 'nonsense' })).status, 400)
  t.is((await fixture.callRest('nonsense', '/v1/account/claim', 'POST', { email: 'a@example.ch' })).status, 401)
})

test('claim: an open claim is deleted with its sandbox', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource })
  await fixture.callRest(body['access_token'], '/v1/account/claim', 'POST', { email: 'ada@example.ch' })
  const ada = await userOf(fixture, 'ada@example.ch')
  t.is((await fixture.claims.openFor(ada)).length, 1)
  fixture.clock.advance(8 * 24 * 3_600_000)
  t.is(await fixture.server.sandboxes.sweep(), 1)
  await fixture.removals.idle()
  for (const index of ['code', 'email']) {
    for await (const { key } of fixture.database.kv.range(within(lookupPrefix('claim', index)))) t.fail(String(unpack(key)))
  }
  await assertSound(t, fixture)
})

test('claim: ending an agent revokes its keys, except keys that the user keeps', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource })
  const { body: claim } = await fixture.callRest(body['access_token'], '/v1/account/claim', 'POST', { email: 'ada@example.ch' })
  const ada = await userOf(fixture, 'ada@example.ch')
  await fixture.claims.confirm(ada, String(claim['user_code']), ['admin'])
  const admin = (await refresh(fixture, body['refresh_token'], restResource)).body['access_token']
  const mint = async (name: string) => (await fixture.callRest(admin, '/v1/api-keys', 'POST', { name, scopes: ['api:send'] })).body
  const [doomed, kept] = [await mint('doomed'), await mint('kept')]
  t.is((await fixture.callRest(doomed['key'])).status, 200)
  const { organizationId } = await fixture.server.tokenCheck.bearer(String(admin), 'rest')
  const shown = await fixture.claims.keysOf(await fixture.claims.undoable(ada, organizationId))
  t.deepEqual(column(shown, 'name'), ['kept', 'doomed'])
  await fixture.claims.undo(ada, organizationId, [String(kept['id'])])
  t.is((await fixture.callRest(doomed['key'])).status, 401)
  t.is((await fixture.callRest(kept['key'])).status, 200)
})
