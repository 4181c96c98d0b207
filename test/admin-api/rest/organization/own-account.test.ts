/** The account of a signed-in person: name, passkeys and sessions, for sessions only. */
import test, { type ExecutionContext } from '#test'
import { passkeys } from '#core/people/sign-in/passkey.ts'
import { peoplePartition, users } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { restOperations } from '../../../../admin-api/rest/rest-operations.ts'
import { startOAuth, type OAuthFixture } from '../../oauth/oauth-fixture.ts'
import type { Method } from '../../../../admin-api/operation/operation.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { sessionOf } from '../fixture/sessions.ts'

interface Person {
  readonly id: string
  call(method: Method, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RestAnswer>
}

/** Signs in a person without an organization. */
async function personOf(fixture: OAuthFixture, name: string): Promise<Person> {
  const id = `usr_${Buffer.from(name).toString('hex').padEnd(32, '0')}`
  const user = { id, email: `${name}@example.ch`, name: '', createdAt: 1, signedInAt: 1 }
  await fixture.database.commit(new Change().insert(users, peoplePartition, user))
  return sessionAt(fixture, id)
}

async function sessionAt(fixture: OAuthFixture, id: string): Promise<Person> {
  const cookie = await sessionOf(fixture, id)
  const rest = fixture.client('')
  const own = { authorization: '', cookie, 'sec-fetch-site': 'same-origin' }
  return { id, call: (method, path, body, headers) => rest.call(method, path, body, { ...own, ...headers }) }
}

async function passkeyOf({ database }: OAuthFixture, userId: string, id: string): Promise<void> {
  const facts = { name: 'Firefox on Linux', publicKey: 'x', counter: 0, transports: [], isSynced: true, createdAt: 1, usedAt: null }
  await database.commit(new Change().insert(passkeys, userId, { id, userId, ...facts }))
}

const data = (t: ExecutionContext, { status, body }: RestAnswer): readonly Record<string, unknown>[] => {
  t.is(status, 200, JSON.stringify(body))
  return (body as { data: Record<string, unknown>[] }).data
}

test('account: read and renamed by a person without an organization', async (t) => {
  const fixture = await startOAuth(t)
  const ada = await personOf(fixture, 'ada')
  const { status, body } = await ada.call('GET', '/v1/account')
  t.is(status, 200)
  t.like(body, { id: ada.id, email: 'ada@example.ch', name: '', passkeys_available: true, confirmed_for_seconds: 600 })
  t.like((await ada.call('PATCH', '/v1/account', { name: '  Ada Meier ' })).body, { name: 'Ada Meier' })
  t.like((await ada.call('GET', '/v1/account')).body, { name: 'Ada Meier' })
  t.is((await ada.call('PATCH', '/v1/account', { name: 'Ada\nMeier' })).status, 400)
  t.is((await ada.call('PATCH', '/v1/account', { name: 'x'.repeat(101) })).status, 400)
})

test('account: keys, applications, other sites and ended sessions are refused', async (t) => {
  const fixture = await startOAuth(t)
  const ada = await personOf(fixture, 'ada')
  const key = await fixture.rest.call('GET', '/v1/account')
  t.is(key.status, 401)
  t.like(key.body, { error: { code: 'unauthorized', next_action: 'sign_in' } })
  t.is((await fixture.client('').call('GET', '/v1/account')).status, 401)
  const token = await fixture.signIn()
  t.is((await fixture.callRest(token['access_token'], '/v1/account')).status, 401)
  const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  for (const { method, path } of restOperations.filter(({ scope }) => scope === 'person')) {
    const filled = path.replace('{id}', 'x')
    if (method !== 'GET') t.is((await ada.call(method, filled, {}, elsewhere)).status, 403, `${method} ${path}`)
    t.is((await fixture.rest.call(method, filled, method === 'GET' || method === 'DELETE' ? undefined : {})).status, 401, path)
  }
  const [{ id = '' } = {}] = data(t, await ada.call('GET', '/v1/account/sessions'))
  t.is((await ada.call('DELETE', `/v1/account/sessions/${String(id)}`)).status, 204)
  t.is((await ada.call('GET', '/v1/account')).status, 401)
})

test('sessions: listed and ended by their owner only', async (t) => {
  const fixture = await startOAuth(t)
  const [ada, ben] = [await personOf(fixture, 'ada'), await personOf(fixture, 'ben')]
  const laptop = await sessionAt(fixture, ada.id)
  const listed = data(t, await ada.call('GET', '/v1/account/sessions'))
  t.is(listed.length, 2)
  t.is(listed.filter(({ is_current }) => is_current).length, 1)
  t.like(listed[0], { method: 'link', browser: null, system: null })
  const other = String(listed.find(({ is_current }) => !is_current)?.['id'])
  t.is((await ben.call('DELETE', `/v1/account/sessions/${other}`)).status, 204)
  t.is((await laptop.call('GET', '/v1/account')).status, 200, 'a session of another person is not found')
  t.deepEqual((await ada.call('DELETE', '/v1/account/sessions')).body, { ended: 1 })
  t.is((await laptop.call('GET', '/v1/account')).status, 401)
  t.is((await ada.call('GET', '/v1/account')).status, 200)
  t.is((await ben.call('GET', '/v1/account')).status, 200)
})

test('passkeys: listed and removed by their owner, in a confirmed session only', async (t) => {
  const fixture = await startOAuth(t)
  const [ada, ben] = [await personOf(fixture, 'ada'), await personOf(fixture, 'ben')]
  const long = 'k'.repeat(1364)
  await passkeyOf(fixture, ada.id, long)
  t.like(data(t, await ada.call('GET', '/v1/account/passkeys')), [{ id: long, name: 'Firefox on Linux', synced: true, last_used_at: null }])
  t.deepEqual(data(t, await ben.call('GET', '/v1/account/passkeys')), [])
  t.is((await ben.call('DELETE', `/v1/account/passkeys/${long}`)).status, 204)
  t.is(data(t, await ada.call('GET', '/v1/account/passkeys')).length, 1)
  const options = (await ada.call('POST', '/v1/account/passkeys/options')).body as { options: Record<string, unknown> }
  t.like(options.options, { rp: { name: 'Postern' }, excludeCredentials: [{ id: long }] })
  t.is((await ada.call('POST', '/v1/account/passkeys', { response: { id: 'x', response: { clientDataJSON: 'x' } } })).status, 400)
  fixture.clock.advance(10 * 60_000)
  for (const refused of [
    await ada.call('POST', '/v1/account/passkeys/options'),
    await ada.call('POST', '/v1/account/passkeys', { response: { id: 'x' } }),
    await ada.call('DELETE', `/v1/account/passkeys/${long}`),
  ]) {
    t.is(refused.status, 401)
    t.like(refused.body, { error: { next_action: 'sign_in_again' } })
  }
  t.like((await ada.call('GET', '/v1/account')).body, { confirmed_for_seconds: 0 })
  const again = await sessionAt(fixture, ada.id)
  t.is((await again.call('DELETE', `/v1/account/passkeys/${long}`)).status, 204)
  t.deepEqual(data(t, await again.call('GET', '/v1/account/passkeys')), [])
})
