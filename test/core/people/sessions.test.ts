/** Sessions: extension, end, confirmation, and secrets. */
import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { sessions as sessionRecords } from '#core/people/sign-in/session.ts'
import { Change } from '#store/change.ts'
import { browser, peopleFixture, type PeopleFixture } from './people-fixture.ts'
import { column } from '../../support/column.ts'

const day = 24 * 3_600_000

async function begin({ sessions, fixture }: PeopleFixture, userId: string, cookie?: string) {
  const change = new Change()
  const begun = await sessions.begin(change, userId, 'link', { ...browser, cookie })
  await fixture.database.commit(change)
  return begun
}

test('a session lasts 14 days from the last request, which is stored once an hour', async (t) => {
  const people = await peopleFixture(t)
  const { sessions, fixture, member } = people
  const { id } = await member('ada@example.ch', 'owner')
  const { cookie } = await begin(people, id)
  t.regex(cookie, /^usr_[0-9a-f]{32}\.[\w-]{43}$/)
  const commits = fixture.database.commits
  fixture.clock.advance(3_599_000)
  t.like(await sessions.read(cookie), { wasProlonged: false, user: { email: 'ada@example.ch' } })
  t.is(fixture.database.commits, commits)
  fixture.clock.advance(1000)
  t.is((await sessions.read(cookie))?.wasProlonged, true)
  t.is((await sessions.read(cookie))?.wasProlonged, false)
  t.is(fixture.database.commits, commits + 1)
  fixture.clock.advance(14 * day - 1)
  t.truthy(await sessions.read(cookie))
  fixture.clock.advance(14 * day)
  t.is(await sessions.read(cookie), undefined)
  t.deepEqual(await sessions.list(id), [])
  await fixture.database.sweep(fixture.clock.now() + 1)
  t.is(await fixture.database.get(sessionRecords, { organizationId: id }, (await sessions.list(id))[0]?.id ?? ''), undefined)
  t.deepEqual(await fixture.keys('session'), [])
})

test('an extended session survives the sweep at its first end', async (t) => {
  const people = await peopleFixture(t)
  const { id } = await people.member('ada@example.ch', 'owner')
  const { cookie } = await begin(people, id)
  people.fixture.clock.advance(10 * day)
  await people.sessions.read(cookie)
  people.fixture.clock.advance(5 * day)
  await people.fixture.database.sweep(people.fixture.clock.now())
  t.truthy(await people.sessions.read(cookie))
})

test('the store holds no session secret, and a truncated or altered cookie is refused', async (t) => {
  const people = await peopleFixture(t)
  const { id } = await people.member('ada@example.ch', 'owner')
  const { cookie } = await begin(people, id)
  const [, secret = ''] = cookie.split('.')
  const rows = await people.fixture.database.all(sessionRecords, { organizationId: id })
  t.is(rows.length, 1)
  t.false(JSON.stringify(rows.map(({ record }) => record)).includes(secret))
  const other = secret.startsWith('A') ? `B${secret.slice(1)}` : `A${secret.slice(1)}`
  for (const wrong of [cookie.slice(0, -1), `${id}.${other}`, `usr_${'0'.repeat(32)}.${secret}`, '', 'x'.repeat(500), `${id}.`])
    t.is(await people.sessions.read(wrong), undefined, wrong)
})

test('a sign-in ends the previous session of the browser, and issues a new secret', async (t) => {
  const people = await peopleFixture(t)
  const { id } = await people.member('ada@example.ch', 'owner')
  const first = await begin(people, id)
  const second = await begin(people, id, first.cookie)
  t.not(first.cookie, second.cookie)
  t.is(await people.sessions.read(first.cookie), undefined)
  t.is((await people.sessions.list(id)).length, 1)
  const planted = `${id}.${'A'.repeat(43)}`
  t.not((await begin(people, id, planted)).cookie, planted)
  t.is(await people.sessions.read(planted), undefined)
})

test('sessions are listed and ended, one or all others', async (t) => {
  const people = await peopleFixture(t)
  const user = await people.member('ada@example.ch', 'owner')
  const other = await people.member('ben@example.ch', 'admin')
  const [a, b, c] = [await begin(people, user.id), await begin(people, user.id), await begin(people, user.id)]
  const foreign = await begin(people, other.id)
  t.is((await people.sessions.list(user.id)).length, 3)
  await people.accounts.endSession(user, foreign.session.id)
  t.truthy(await people.sessions.read(foreign.cookie))
  t.deepEqual(await people.mails(), [])
  await people.accounts.endSession(user, a.session.id)
  t.is(await people.sessions.read(a.cookie), undefined)
  await people.accounts.endOtherSessions(user, b.session)
  t.deepEqual([await people.sessions.read(c.cookie), (await people.sessions.read(b.cookie))?.user.id], [undefined, user.id])
  t.deepEqual(column(await people.mails(), 'trace', 'subject'), [
    'You were signed out on other devices',
    'You were signed out on other devices',
  ])
})

test('sensitive operations need a sign-in within ten minutes', async (t) => {
  const people = await peopleFixture(t)
  const { id } = await people.member('ada@example.ch', 'owner')
  const { session } = await begin(people, id)
  people.fixture.clock.advance(10 * 60_000 - 1)
  t.notThrows(() => people.sessions.requireFresh(session))
  people.fixture.clock.advance(1)
  const error = t.throws(() => people.sessions.requireFresh(session), { instanceOf: Refusal })
  t.is(error.nextAction, 'sign_in_again')
})

test('the form token depends on the session', async (t) => {
  const people = await peopleFixture(t)
  const { id } = await people.member('ada@example.ch', 'owner')
  const [{ session: one }, { session: two }] = [await begin(people, id), await begin(people, id)]
  t.notThrows(() => people.sessions.requireCsrfToken(one, people.sessions.csrfToken(one)))
  for (const wrong of ['', 'x', people.sessions.csrfToken(two)])
    t.throws(() => people.sessions.requireCsrfToken(one, wrong), { instanceOf: Refusal })
})
