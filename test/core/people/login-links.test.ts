/** Sign-in links: single use, short-lived, the same for known and unknown addresses, and readable only in their mail. */
import test, { type ExecutionContext } from '#test'
import { loginLinks as linkRecords, safePath } from '#core/people/sign-in/login-link.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { Refusal } from '#core/refusals.ts'
import { destinations } from '#core/routing/destination.ts'
import { traces } from '#core/trace/trace.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { browser, peopleFixture, systemDestinationId, type PeopleFixture } from './people-fixture.ts'

const code = async (t: ExecutionContext, work: Promise<unknown>): Promise<string> =>
  (await t.throwsAsync(work, { instanceOf: Refusal })).code

async function linkFor({ loginLinks, mails }: PeopleFixture, email: string): Promise<string> {
  await loginLinks.request(email, '/account', '192.0.2.1')
  return (await mails()).at(-1)?.secret ?? ''
}

test('a link signs in once, within 15 minutes; viewing its page does not use it up', async (t) => {
  const people = await peopleFixture(t)
  const first = await people.fixture.keys('login_link')
  const ada = await people.member('ada@example.ch', 'owner')
  const secret = await linkFor(people, ' ADA@example.ch ')
  for (let i = 0; i < 3; i++) t.deepEqual(await people.loginLinks.look(secret), { email: 'ada@example.ch', asksName: false })
  const { cookie, next } = await people.loginLinks.consume(secret, browser)
  t.is(next, '/account')
  t.is((await people.sessions.read(cookie))?.user.id, ada.id)
  t.is(await code(t, people.loginLinks.consume(secret, browser)), 'not_found')
  t.is(await code(t, people.loginLinks.look(secret)), 'not_found')

  const late = await linkFor(people, 'ada@example.ch')
  people.fixture.clock.advance(15 * 60_000)
  t.is(await code(t, people.loginLinks.consume(late, browser)), 'not_found')
  for (const wrong of ['', 'x', 'A'.repeat(43)]) t.is(await code(t, people.loginLinks.look(wrong)), 'not_found')
  await people.fixture.database.sweep(people.fixture.clock.now() + 1)
  t.deepEqual(await people.fixture.keys('login_link'), first)
})

test('of two concurrent sign-ins with one link, one succeeds', async (t) => {
  const people = await peopleFixture(t)
  await people.member('ada@example.ch', 'owner')
  const secret = await linkFor(people, 'ada@example.ch')
  const pressed = await Promise.allSettled([1, 2, 3].map(() => people.loginLinks.consume(secret, browser)))
  t.deepEqual(pressed.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected', 'rejected'])
})

test('the store holds no secret of an unused link, except in its mail', async (t) => {
  const people = await peopleFixture(t)
  await people.member('ada@example.ch', 'owner')
  const secret = await linkFor(people, 'ada@example.ch')
  const rows = await people.fixture.database.all(linkRecords, { organizationId: 'people' })
  t.is(rows.length, 2, 'the link of the first start, and this one')
  t.false(JSON.stringify(rows.map(({ record }) => record)).includes(secret))
})

test('an unknown address gets no link, unless sign-up is open or it is invited', async (t) => {
  for (const [signUp, expected] of [
    ['closed', []],
    ['invited', ['invited@example.ch']],
    ['open', ['invited@example.ch', 'stranger@example.ch']],
  ] as const) {
    const people = await peopleFixture(t, { signUp })
    await people.invitations.create(principal, { email: 'invited@example.ch', role: 'viewer' })
    for (const email of ['invited@example.ch', 'stranger@example.ch']) await people.loginLinks.request(email, '/', '192.0.2.1')
    const sent = (await people.mails()).filter(({ trace }) => trace.subject === 'Your sign-in link')
    t.deepEqual(sent.map(({ trace }) => String(trace.recipients[0]?.address)).toSorted(), [...expected], signUp)
  }
})

test('requests have the same answer and limits for known and unknown addresses', async (t) => {
  const people = await peopleFixture(t)
  await people.member('ada@example.ch', 'owner')
  const { loginLinks, fixture } = people
  for (const email of ['ada@example.ch', 'nobody@example.ch']) {
    for (let i = 0; i < 5; i++) await t.notThrowsAsync(loginLinks.request(email, undefined, `192.0.2.${i}`))
    const error = await t.throwsAsync(() => loginLinks.request(email, undefined, '192.0.2.9'), { instanceOf: Refusal })
    t.deepEqual([error.code, error.retryAfterSeconds], ['rate_limit_exceeded', 3600], email)
  }
  fixture.clock.advance(3_600_000)
  for (let i = 0; i < 20; i++) await loginLinks.request(`a${i}@example.ch`, undefined, '2001:db8::1')
  // The whole /64 counts as one.
  await t.throwsAsync(() => loginLinks.request('b@example.ch', undefined, '2001:db8::2'), { instanceOf: Refusal })
  await t.notThrowsAsync(() => loginLinks.request('b@example.ch', undefined, '2001:db8:0:1::2'))
  await t.throwsAsync(() => loginLinks.request('nonsense', undefined, '192.0.2.7'), {
    instanceOf: Refusal,
    message: /^email: must be an email address/,
  })
  t.is((await people.mails()).length, 5)
})

test('no key of the organization that owns the destination can see the mail or its content', async (t) => {
  const people = await peopleFixture(t)
  await people.member('ada@example.ch', 'owner')
  await linkFor(people, 'ada@example.ch')
  const [mail] = await people.mails()
  const id = mail?.trace.id ?? ''
  const { database, traces: reader } = people.fixture
  t.deepEqual((await reader.list(principal, { limit: 50 })).rows, [])
  t.is(await code(t, reader.get(principal, id)), 'not_found')
  t.is((await database.all(traces, { organizationId })).length, 0)
  t.deepEqual(await people.fixture.keys(`${organizationId}\0\x02content`), [])
  t.is(await code(t, reader.shared(id)), 'not_found', 'it has no share link either')
  t.is(mail?.trace.outcome, 'relayed')
  t.is(mail?.trace.destinationId, systemDestinationId)
})

test('a missing or sandbox destination sends no link, and captures none', async (t) => {
  const people = await peopleFixture(t)
  await people.member('ada@example.ch', 'owner')
  t.true(await people.mail.isReady())
  await people.fixture.destination({ id: systemDestinationId, mode: 'sandbox' })
  t.false(await people.mail.isReady())
  t.is(await linkFor(people, 'ada@example.ch'), '')
  await people.fixture.remove(destinations, systemDestinationId)
  t.false(await people.mail.isReady())
  t.false(await (await peopleFixture(t, { hasMail: false })).mail.isReady())
})

test('the operator’s link creates the account and the first owner', async (t) => {
  const people = await peopleFixture(t, { hasMail: false, signUp: 'closed' })
  const { database, clock } = people.fixture
  const secretOf = async (email: string) => (await operatorLink(database, clock, email)).split('/').at(-1) ?? ''
  const [first, second] = [await secretOf('olga@example.ch'), await secretOf('ben@example.ch')]
  await people.loginLinks.consume(first, browser)
  await people.loginLinks.consume(second, browser)
  const [olga, ben] = [await userByEmail(database, 'olga@example.ch'), await userByEmail(database, 'ben@example.ch')]
  t.true((await people.members.scopesOfMember(organizationId, olga?.record.id ?? ''))?.owns)
  t.is(await people.members.scopesOfMember(organizationId, ben?.record.id ?? ''), undefined)
  t.deepEqual(await people.acts(), ['operator member.added'])
  t.is(await code(t, secretOf('nonsense')), 'validation_failed')
})

test('after sign-in only pages of this service are opened', (t) => {
  for (const path of ['/account', '/organizations/org_1/members?done=role', '/oauth/authorize?a=b&c=%20']) t.is(safePath(path), path)
  // browsers do not decode these, so they name a page of this service
  for (const path of ['/%2f%2fevil.example', '/%5cevil.example', '/%0d%0a', '/@evil.example', '/a//b']) t.is(safePath(path), path)
  t.is(safePath('/a\\b#c'), '/a/b')
  for (const path of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '',
    null,
    undefined,
    '/a\nb',
    `/${'a'.repeat(4000)}`,
    '/..//evil.example',
    '/.//evil.example',
    '/%2e/%2e%2e//evil.example',
    '/\\/evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\r\nlocation: //evil.example',
    '/\u0000',
    '/\u2215evil.example',
    ' //evil.example',
    'evil.example',
  ])
    t.is(safePath(path), '/', String(path))
})
