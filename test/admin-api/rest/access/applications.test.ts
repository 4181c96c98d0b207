/** Applications with access over REST: visibility by role, last use, and revocation. */
import test from '#test'
import { useStepMs } from '#core/access/keys/key-uses.ts'
import { peoplePartition, users } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { BrowserSessions } from '../../../../admin-api/pages/session/browser-session.ts'
import { addApplication } from '../fixture/stored-rows.ts'
import { startOAuth, userId, type OAuthFixture } from '../../oauth/oauth-fixture.ts'

type Row = Readonly<Record<string, unknown>>

const rowsOf = async (ask: (path: string) => Promise<Row>): Promise<readonly Row[]> =>
  (await ask('/v1/applications'))['data'] as readonly Row[]

/** Sends requests as a script of the dashboard does. */
async function browserOf({ people, database, client }: OAuthFixture, id: string) {
  const change = new Change()
  const { cookie: secret } = await people.sessions.begin(change, id, 'link', { userAgent: 'x', cookie: undefined })
  await database.commit(change)
  const headers = {
    authorization: '',
    cookie: `${new BrowserSessions(people).cookieName}=${secret}`,
    'sec-fetch-site': 'same-origin',
  }
  const rest = client('')
  return {
    call: (method: 'DELETE', path: string) => rest.call(method, path, undefined, headers),
    get: async (path: string): Promise<Row> => (await rest.call('GET', path, undefined, headers)).body as Row,
  }
}

/** Makes the user who authorizes applications a developer. */
async function beDeveloper({ setRole, database, clock }: OAuthFixture): Promise<void> {
  const user = { id: userId, email: 'pia@example.ch', name: 'Pia', createdAt: clock.now(), signedInAt: null }
  await database.commit(new Change().insert(users, peoplePartition, user))
  await setRole('developer')
}

test('applications: administrators list all of the organization, and revoke them', async (t) => {
  const fixture = await startOAuth(t)
  const { rest, clock, daemon, callRest, signIn } = fixture
  await beDeveloper(fixture)
  const tokens = await signIn()
  const all = () => rowsOf((path) => rest.must('GET', path))
  const [made] = await all()
  t.like(made, { user: { id: userId }, last_used_at: null })
  t.is((await callRest(tokens['access_token'], '/v1/traces')).status, 200)
  const [used] = await all()
  t.is(Date.parse(String(used?.['last_used_at'])), clock.now())
  const before = clock.now()
  clock.advance(useStepMs - 1)
  await callRest(tokens['access_token'], '/v1/traces')
  await daemon.settled()
  t.is(Date.parse(String((await all())[0]?.['last_used_at'])), before, 'a use is stored at most once in five minutes')
  const id = String(used?.['id'])
  const answer = await rest.call('DELETE', `/v1/applications/${id}`)
  t.deepEqual([answer.status, answer.body], [200, { ended_keys: [], kept_keys: [] }])
  t.deepEqual(await all(), [])
  t.is((await callRest(tokens['access_token'], '/v1/traces')).status, 401)
  t.is((await rest.call('DELETE', `/v1/applications/${id}`)).status, 404)
})

test('applications: members see only their own; project keys and applications see an empty list', async (t) => {
  const fixture = await startOAuth(t)
  const { callRest, signIn, addMember, addProject, withKey, database, organizationId, projectId } = fixture
  const pia = await addMember('pia@example.ch', 'developer')
  const id = await addApplication(database, organizationId, projectId, pia)
  const [ben, mine] = [await browserOf(fixture, await addMember('ben@example.ch', 'developer')), await browserOf(fixture, pia)]
  t.like((await rowsOf(mine.get))[0], { id, name: 'Nightly report', verified_host: 'client.example.net' })
  t.deepEqual(await rowsOf(ben.get), [])
  t.is((await ben.call('DELETE', `/v1/applications/${id}`)).status, 404)
  const { access_token: token } = await signIn({ scope: 'api:admin' })
  t.deepEqual((await callRest(token, '/v1/applications')).body['data'], [])
  t.is((await callRest(token, `/v1/applications/${id}`, 'DELETE')).status, 404)
  const bound = await withKey(['api:admin'], await addProject())
  t.deepEqual(await rowsOf((path) => bound.must('GET', path)), [])
  t.is((await mine.call('DELETE', `/v1/applications/${id}`)).status, 200)
  t.deepEqual(await rowsOf(mine.get), [])
})

test('claims: a pending sandbox is listed only for the signed-in owner of its address', async (t) => {
  const fixture = await startOAuth(t)
  const { rest, addMember, bootstrap, callRest } = fixture
  const ada = await browserOf(fixture, await addMember('ada@example.ch', 'viewer'))
  const ben = await browserOf(fixture, await addMember('ben@example.ch', 'owner'))
  const { body } = await bootstrap({ resource: 'https://post.example.ch/v1' })
  const claimed = await callRest(body['access_token'], '/v1/account/claim', 'POST', { email: 'ada@example.ch' })
  const waiting = (await ada.get('/v1/claims'))['data'] as readonly Row[]
  t.is(waiting.length, 1)
  t.like(waiting[0], { user_code: claimed.body['user_code'], path: `/claims/${String(claimed.body['user_code'])}` })
  t.deepEqual((await ben.get('/v1/claims'))['data'], [])
  t.deepEqual((await rest.must('GET', '/v1/claims'))['data'], [])
  t.deepEqual((await callRest(body['access_token'], '/v1/claims')).body['data'], [])
})
