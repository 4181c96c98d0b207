/** Claims: valid for half an hour, used once, by the mailed user or with the code, and never by a guess. */
import test from '#test'
import { auditEntries } from '#core/writes/audit.ts'
import { claims as claimRecords } from '#core/claims/claim.ts'
import { scopesOfPermissions } from '#core/claims/permissions.ts'
import { newUserCode, readUserCode } from '#core/claims/user-code.ts'
import { oauthGrants } from '#core/oauth/grants/grant.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { claimFixture, codeOf } from './claim-fixture.ts'
import { browser } from '../people/people-fixture.ts'
import { assertSound } from '../../support/problems.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

test('codes are valid in any case and spacing', (t) => {
  for (let i = 0; i < 200; i++) {
    const code = newUserCode()
    t.is(readUserCode(` ${code.toLowerCase().replace('-', ' ')} `), code)
  }
  for (const typed of ['', 'KITE', 'KITE-42', '4207', 'KITE-42071', 'KITE-4207; x']) t.is(readUserCode(typed), '')
})

test('claim: choices of the person become scopes; a REST scope permits live sending', (t) => {
  t.deepEqual(scopesOfPermissions([]), ['mcp:read', 'api:read'])
  t.deepEqual(scopesOfPermissions(['send_sandbox']), ['mcp:read', 'mcp:send-sandbox', 'api:read'])
  t.deepEqual(scopesOfPermissions(['send_live']), ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'api:read', 'api:send'])
  t.deepEqual(scopesOfPermissions(['admin', 'send_sandbox']).length, 7)
})

test('a claim makes the sandbox an organization of the mailed user', async (t) => {
  const setup = await claimFixture(t)
  const { organizationId, principal, grant } = await setup.sandbox()
  const started = await setup.claims.start(principal, 'Ada@Example.ch')
  const now = setup.clock.now()
  t.like(started.progress, { isClaimed: false, userId: null, email: 'ada@example.ch', linkSentAt: now, isLinkPending: true })
  t.is(started.open?.expiresAt, now + 30 * minute)
  const code = started.open?.userCode ?? ''
  const [mail] = await setup.mails()
  t.is(mail?.trace.recipients[0]?.address, 'ada@example.ch')
  t.true(mail?.raw.includes(code))
  t.regex(mail?.raw ?? '', /anonymous/i)
  const signedIn = await setup.loginLinks.consume(mail?.secret ?? '', browser)
  t.is(signedIn.next, `/claims/${code}`)
  const { user } = (await setup.sessions.read(signedIn.cookie)) ?? {}
  if (!user) return t.fail()
  t.deepEqual(column(await setup.claims.openFor(user), 'userCode'), [code])
  t.like(await setup.claims.look(user, code), { project: { name: 'sandbox' }, organizationCount: 0 })

  await setup.claims.confirm(user, code, ['send_sandbox'])
  const reach = { organizationId }
  t.like((await setup.database.get(organizations, reach, organizationId))?.record, { plan: 'free', name: 'sandbox' })
  t.like((await setup.database.get(projects, reach, principal.projectId))?.record, { status: 'claimed', name: 'sandbox', isDefault: true })
  t.true((await setup.members.scopesOfMember(organizationId, user.id))?.owns)
  t.like((await setup.database.get(oauthGrants, reach, grant.id))?.record, {
    userId: user.id,
    scopes: scopesOfPermissions(['send_sandbox']),
  })
  const acts = (await setup.database.all(auditEntries, reach)).map(({ record }) => [record.actor.id, record.act])
  t.deepEqual(acts, [[user.id, 'organization.claimed']])
  t.is((await setup.mails()).at(-1)?.trace.subject, 'You claimed a sandbox')
  t.deepEqual(await setup.claims.openFor(user), [])
  t.like((await setup.claims.start(principal, 'eve@example.ch')).progress, { isClaimed: true, userId: user.id, email: 'ada@example.ch' })
  t.is((await setup.claims.start(principal, 'eve@example.ch')).open, undefined)
  setup.clock.advance(30 * day)
  t.is(await setup.sandboxes.sweep(), 0)
  t.truthy(await setup.database.get(organizations, reach, organizationId))
  await assertSound(t, setup)
})

test('the link works once, a code once, and both for half an hour', async (t) => {
  const setup = await claimFixture(t)
  const [first, second] = [await setup.sandbox(), await setup.sandbox()]
  const [ada, bea] = [await setup.user('ada@example.ch'), await setup.user('bea@example.ch')]
  const code = (await setup.claims.start(first.principal, ada.email)).open?.userCode ?? ''
  const secret = (await setup.mails())[0]?.secret ?? ''
  await setup.loginLinks.consume(secret, browser)
  t.is(await codeOf(t, setup.loginLinks.consume(secret, browser)), 'not_found')
  const results = await Promise.allSettled([setup.claims.confirm(ada, code, []), setup.claims.confirm(bea, code, ['admin'])])
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 1)
  const [winner, loser] = results[0].status === 'fulfilled' ? [ada, bea] : [bea, ada]
  t.is((await setup.database.get(claimRecords, { organizationId: first.organizationId }, first.organizationId))?.record.userId, winner.id)
  t.is(await setup.members.scopesOfMember(first.organizationId, loser.id), undefined)
  t.is(await codeOf(t, setup.claims.confirm(ada, code, [])), 'not_found')

  const late = (await setup.claims.start(second.principal, ada.email)).open?.userCode ?? ''
  const lateSecret = (await setup.mails()).at(-1)?.secret ?? ''
  setup.clock.advance(30 * minute)
  t.is(await codeOf(t, setup.claims.look(ada, late)), 'not_found')
  t.is(await codeOf(t, setup.claims.confirm(ada, late, [])), 'not_found')
  t.is(await codeOf(t, setup.loginLinks.consume(lateSecret, browser)), 'not_found')
  t.deepEqual(await setup.claims.openFor(ada), [])
  const again = (await setup.claims.start(second.principal, ada.email)).open?.userCode ?? ''
  t.not(again, late)
  t.truthy(await setup.claims.confirm(ada, again, []))
})

test('a new claim of a sandbox ends the previous one', async (t) => {
  const setup = await claimFixture(t)
  const { principal } = await setup.sandbox()
  const [ada, bea] = [await setup.user('ada@example.ch'), await setup.user('bea@example.ch')]
  const old = (await setup.claims.start(principal, ada.email)).open?.userCode ?? ''
  const now = (await setup.claims.start(principal, bea.email)).open?.userCode ?? ''
  t.is(await codeOf(t, setup.claims.look(ada, old)), 'not_found')
  t.deepEqual(await setup.claims.openFor(ada), [])
  t.is((await setup.claims.look(bea, now)).claim.email, bea.email)
})

test('limits: 3 claims an hour per session, 5 a day per address, 15 wrong codes an hour', async (t) => {
  const setup = await claimFixture(t)
  const first = await setup.sandbox()
  for (const email of ['a@example.ch', 'b@example.ch', 'c@example.ch']) await setup.claims.start(first.principal, email)
  t.is(await codeOf(t, setup.claims.start(first.principal, 'd@example.ch')), 'rate_limit_exceeded')
  setup.clock.advance(hour)
  t.truthy((await setup.claims.start(first.principal, 'ada@example.ch')).open)
  for (let i = 0; i < 4; i++) await setup.claims.start((await setup.sandbox()).principal, 'ada@example.ch')
  setup.clock.advance(hour)
  const other = await setup.sandbox()
  t.is(await codeOf(t, setup.claims.start(other.principal, 'ADA@example.ch')), 'rate_limit_exceeded')

  const eve = await setup.user('eve@example.ch')
  const code = (await setup.claims.start(other.principal, 'olga@example.ch')).open?.userCode ?? ''
  for (let i = 0; i < 15; i++) t.is(await codeOf(t, setup.claims.look(eve, 'KITE-00')), 'not_found')
  t.is(await codeOf(t, setup.claims.look(eve, code)), 'rate_limit_exceeded')
  t.is(await codeOf(t, setup.claims.confirm(eve, code, [])), 'rate_limit_exceeded')
  setup.clock.advance(hour)
})

test('known and unknown addresses get the same answer; mail goes only to users', async (t) => {
  const setup = await claimFixture(t, { signUp: 'invited' })
  await setup.user('known@example.ch')
  const answers = []
  for (const email of ['known@example.ch', 'other@example.ch']) {
    const { progress, open, integrationsUrl } = await setup.claims.start((await setup.sandbox()).principal, email)
    answers.push({ progress: { ...progress, email: '' }, expiresAt: open?.expiresAt, integrationsUrl })
  }
  t.deepEqual(answers[0], answers[1])
  t.deepEqual(
    (await setup.mails()).map(({ trace }) => trace.recipients[0]?.address),
    ['known@example.ch'],
  )
})

test('claim: without a system destination for mail, the code is sufficient', async (t) => {
  const setup = await claimFixture(t, { hasMail: false })
  const { principal } = await setup.sandbox()
  const { progress, open } = await setup.claims.start(principal, 'ada@example.ch')
  t.like(progress, { linkSentAt: null, linkExpiresAt: null, isLinkPending: false })
  const bea = await setup.user('bea@example.ch')
  t.is((await setup.claims.confirm(bea, open?.userCode ?? '', [])).userId, bea.id)
  t.deepEqual(await setup.mails(), [])
})

test('the number of free organizations that a user may claim is limited', async (t) => {
  const setup = await claimFixture(t)
  const ada = await setup.user('ada@example.ch')
  const claim = async (): Promise<string> => {
    setup.clock.advance(24 * 60 * minute)
    const { principal } = await setup.sandbox()
    const { open } = await setup.claims.start(principal, 'ada@example.ch')
    await setup.claims.confirm(ada, open?.userCode ?? '', [])
    return principal.organizationId
  }
  const made = [await claim()]
  while (made.length < 10) made.push(await claim())
  t.is(await codeOf(t, claim()), 'conflict')
  const reach = { organizationId: made[0] ?? '' }
  const stored = await setup.database.get(organizations, reach, reach.organizationId)
  if (!stored) return t.fail()
  const raised = { ...stored.record, plan: 'basic' as const }
  await setup.database.commit(new Change().replace(organizations, reach.organizationId, stored, raised))
  await t.notThrowsAsync(claim(), 'an organization that is paid for does not count')
})

test('of a concurrent claim and removal of a sandbox, exactly one succeeds completely', async (t) => {
  const setup = await claimFixture(t)
  const ada = await setup.user('ada@example.ch')
  const { principal, organizationId } = await setup.sandbox()
  setup.clock.advance(8 * day)
  const code = (await setup.claims.start(principal, ada.email)).open?.userCode ?? ''
  await setup.background.idle()
  // The sandbox is removed between the read and the write of the claim.
  let swept = 0
  const { kv } = setup.fixture
  kv.beforeWrite = async () => {
    kv.beforeWrite = undefined
    swept = await setup.sandboxes.sweep()
  }
  t.is(await codeOf(t, setup.claims.confirm(ada, code, [])), 'not_found')
  t.is(swept, 1)
  t.is(await setup.members.scopesOfMember(organizationId, ada.id), undefined)
  t.is(await codeOf(t, setup.claims.start(principal, ada.email)), 'conflict')
})

test('a claim is one write: a crash leaves all of it or nothing', async (t) => {
  const setup = await claimFixture(t)
  const ada = await setup.user('ada@example.ch')
  const { principal, organizationId } = await setup.sandbox()
  const code = (await setup.claims.start(principal, ada.email)).open?.userCode ?? ''
  await setup.background.idle()
  const { kv } = setup.fixture
  let writes = 0
  kv.beforeWrite = () => {
    writes++
    throw new Error('the process ends here')
  }
  await t.throwsAsync(setup.claims.confirm(ada, code, []), { message: 'the process ends here' })
  kv.beforeWrite = undefined
  t.is(writes, 1)
  t.like((await setup.database.get(projects, { organizationId }, principal.projectId))?.record, { status: 'anonymous' })
  t.is(await setup.members.scopesOfMember(organizationId, ada.id), undefined)
  kv.beforeWrite = () => void writes++
  await setup.claims.confirm(ada, code, [])
  kv.beforeWrite = undefined
  await setup.background.idle()
  await assertSound(t, setup)
})

test("undo ends the agent's session, for seven days, for the claiming user", async (t) => {
  const setup = await claimFixture(t)
  const [ada, eve] = [await setup.user('ada@example.ch'), await setup.user('eve@example.ch')]
  const { principal, organizationId, grant } = await setup.sandbox()
  t.is(await codeOf(t, setup.claims.undo(ada, organizationId)), 'not_found')
  await setup.claims.confirm(ada, (await setup.claims.start(principal, ada.email)).open?.userCode ?? '', [])
  t.is(await codeOf(t, setup.claims.undo(eve, organizationId)), 'not_found')
  await setup.claims.undo(ada, organizationId)
  await setup.claims.undo(ada, organizationId)
  t.is((await setup.database.get(oauthGrants, { organizationId }, grant.id))?.record.revokedAt, setup.clock.now())
  const acts = (await setup.database.all(auditEntries, { organizationId })).map(({ record }) => record.act)
  t.deepEqual(acts.toSorted(), ['oauth_grant.revoked', 'organization.claimed'])
  t.true((await setup.members.scopesOfMember(organizationId, ada.id))?.owns, 'the organization stays')
  setup.clock.advance(7 * day)
  t.is(await codeOf(t, setup.claims.undo(ada, organizationId)), 'not_found')
})
