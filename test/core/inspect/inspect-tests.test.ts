/** Deliverability tests in the core: creation, the first mail, scoring across restarts, removal, and integrity. */
import test, { type ExecutionContext } from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import { inspectStatus, inspectTests, type InspectTest } from '#core/inspect/inspect-test.ts'
import type { InspectTests } from '#core/inspect/inspect-tests.ts'
import type { InspectSession } from '#core/inspect/report.ts'
import type { InspectScoring } from '#core/inspect/scoring.ts'
import { sweepInspectTests } from '#core/inspect/sweep-tests.ts'
import { removeProject } from '#core/administration/remove-project.ts'
import { usageCounter } from '#core/tenancy/counters.ts'
import { pack } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture } from '../core-fixture.ts'
import { ScriptedScorer, someReport } from './scripted-scorer.ts'
import { column } from '../../support/column.ts'

const domain = 'in.postern.test'
const hour = 3_600_000

interface Bench {
  readonly fixture: CoreFixture
  readonly tests: InspectTests
  readonly scorer: ScriptedScorer
  readonly scoring: InspectScoring
}

function benchOf(fixture: CoreFixture, scorer: ScriptedScorer): Bench {
  const { inspectTests: tests, inspectScoring: scoring } = fixture.part('mailDoors').inspect
  return { fixture, tests, scorer, scoring }
}

async function bench(t: ExecutionContext): Promise<Bench> {
  const scorer = new ScriptedScorer()
  const fixture = await coreFixture(t, { bounceDomain: domain, scorer })
  await fixture.project({ id: 'prj_2', isDefault: false })
  return benchOf(fixture, scorer)
}

/** Ends the process and opens the same store in a new one. */
async function crashed({ fixture }: Bench): Promise<Bench> {
  const scorer = new ScriptedScorer()
  return benchOf(await fixture.crash({ scorer }), scorer)
}

const session = (clientIp = '203.0.113.25'): InspectSession => ({
  ...{ clientIp, helo: 'mail.example.com', mailFrom: 'shop@example.com', rcptTo: `x@${domain}`, tls: null, tlsOffered: true },
  ...{ serverName: 'mx.postern.test', smtpUtf8: false, receivedAt: 1 },
})

async function deliver({ tests }: Bench, { token }: InspectTest, text = 'Subject: hi\r\n\r\nhello\r\n'): Promise<string> {
  const recipient = await tests.recipientOf(`${token}@${domain}`)
  if (!recipient) throw new Error('no test accepts the mail')
  const draft = tests.openMail(recipient, '192.0.2.1')
  await draft.write(Buffer.from(text))
  return tests.receive(recipient, session(), draft)
}

const read = async ({ tests }: Bench, { id }: InspectTest): Promise<InspectTest> => (await tests.get(principal, id)).test
const settled = (b: Bench, made: InspectTest): Promise<InspectTest> => b.fixture.settled().then(() => read(b, made))

/** Returns the first request to the scorer. */
async function asked({ fixture, scorer }: Bench) {
  await fixture.settled()
  const [first] = scorer.open
  if (!first) throw new Error('the scorer got no request')
  return first
}

async function intact(t: ExecutionContext, { fixture }: Bench): Promise<void> {
  await fixture.assertSound(t)
}

test('test address: counts once as usage, accepts mail for a day, matches in any case', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  t.regex(made.token, /^[a-z2-7]{26}$/)
  t.is(made.expiresAt - made.createdAt, 24 * hour)
  const month = new Date(b.fixture.clock.now()).toISOString().slice(0, 7)
  t.is(await b.fixture.kv.counter(pack(usageCounter(organizationId, 'inspect_tests', month))), 1)
  t.is(await b.fixture.kv.counter(pack(usageCounter(organizationId, 'inspect_tests', month, projectId))), 1)
  t.deepEqual(await b.tests.recipientOf(`${made.token.toUpperCase()}@IN.postern.test`), { organizationId, id: made.id })
  for (const address of [
    `${made.token}@other.test`,
    `${made.token}x@${domain}`,
    `${'a'.repeat(26)}@${domain}`,
    made.token,
    `${made.shareToken}@${domain}`,
  ])
    t.is(await b.tests.recipientOf(address), undefined, address)
  b.fixture.clock.advance(24 * hour)
  t.is(await b.tests.recipientOf(`${made.token}@${domain}`), undefined)
  t.is(inspectStatus(await read(b, made), b.fixture.clock.now()), 'expired')
  t.is(await b.fixture.kv.counter(pack(usageCounter(organizationId, 'inspect_tests', month))), 1)
  await intact(t, b)
})

test('the first mail gets a score, later ones count; test and link show the report', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  const now = (): number => b.fixture.clock.now()
  t.is(inspectStatus(await read(b, made), now()), 'waiting')
  t.is(await deliver(b, made, 'Subject: first\r\n\r\nx\r\n'), 'first')
  t.is(inspectStatus(await read(b, made), now()), 'scoring')
  t.is(await deliver(b, made, 'Subject: second\r\n\r\nx\r\n'), 'later')
  const task = await asked(b)
  t.is(task.text, 'Subject: first\r\n\r\nx\r\n')
  t.deepEqual(task.session, session())
  task.end({ ok: true, report: someReport })
  const done = await settled(b, made)
  t.deepEqual([done.result, done.laterMails, inspectStatus(done, now())], [{ score: 83, grade: 'B' }, 1, 'ready'])
  t.deepEqual((await b.tests.get(principal, made.id)).report, someReport)
  t.deepEqual((await b.tests.shared(made.shareToken)).report, someReport)
  t.is(b.scorer.scored, 1)
  await intact(t, b)
})

test('of concurrent mails one is the first, and the others leave nothing behind', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  const large = `Subject: large\r\n\r\n${'x'.repeat(600_000)}\r\n`
  const small = Array.from({ length: 200 }, () => deliver(b, made))
  const outcomes = await Promise.all([deliver(b, made, large), deliver(b, made, large), ...small])
  t.deepEqual(Map.groupBy(outcomes, (outcome) => outcome).get('first')?.length, 1)
  t.is((await read(b, made)).laterMails, 201)
  await intact(t, b)
})

test('a mail whose scoring was interrupted by a crash is scored by the next process', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  await deliver(b, made)
  await asked(b)
  const next = await crashed(b)
  next.scorer.answer = { ok: true, report: someReport }
  next.scoring.wake()
  t.is((await settled(next, made)).result?.score, 83)
  await intact(t, next)
})

test('stopping aborts scoring without a verdict, and the next start gives one', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  await deliver(b, made)
  await asked(b)
  await b.scoring.stop()
  t.is(inspectStatus(await read(b, made), b.fixture.clock.now()), 'scoring')
  const next = await crashed(b)
  next.scorer.answer = { ok: true, report: someReport }
  next.scoring.wake()
  t.is((await settled(next, made)).result?.grade, 'B')
})

test('a mail that is unreadable or repeatedly ends the process fails with a reason', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  const error = new Error('out of memory')
  b.scorer.answer = { ok: false, problem: 'The mail took too long to be checked.', error }
  await deliver(b, made)
  t.is((await settled(b, made)).problem, 'The mail took too long to be checked.')
  t.regex(JSON.stringify(b.fixture.daemon.errors.splice(0)), /out of memory/)
  let life = b
  const poison = await b.tests.create(principal, undefined)
  b.scorer.answer = undefined
  await deliver(b, poison)
  for (let crash = 0; crash < 3; crash += 1) {
    await asked(life)
    life = await crashed(life)
    life.scoring.wake()
  }
  t.regex((await settled(life, poison)).problem ?? '', /could not be checked/)
  t.is(life.scorer.scored, 0)
  t.regex(JSON.stringify(life.fixture.daemon.errors.splice(0)), /ended the process 3 times/)
  await intact(t, life)
})

test('another project, another organization and a wrong link find nothing', async (t) => {
  const b = await bench(t)
  const made = await b.tests.create(principal, undefined)
  const other: Principal = { ...principal, projectId: 'prj_2', bound: true }
  await t.throwsAsync(b.tests.get(other, made.id), { message: /No inspect test/ })
  await t.throwsAsync(b.tests.get({ ...principal, organizationId: 'org_2' }, made.id), { message: /No inspect test/ })
  for (const link of [made.token, 'a'.repeat(26), '', made.id]) await t.throwsAsync(b.tests.shared(link), { message: /Report not found/ })
  t.deepEqual((await b.tests.list(other, { limit: 10 })).rows, [])
  t.deepEqual(column((await b.tests.list(principal, { limit: 10 })).rows, 'id'), [made.id])
  await t.throwsAsync(b.tests.create(other, projectId), { message: /project/i })
  await t.throwsAsync(b.tests.create({ ...principal, scopes: ['api:read'] }, undefined), { message: /api:send/ })
})

test('without a domain no test can be created', async (t) => {
  const fixture = await coreFixture(t, { bounceDomain: null })
  await t.throwsAsync(fixture.core.inspectTests.create(principal, undefined), { message: /operator/ })
})

test('old tests are deleted with mail and report, also of deleted projects', async (t) => {
  const b = await bench(t)
  b.scorer.answer = { ok: true, report: someReport }
  const [old, kept] = [await b.tests.create(principal, undefined), await b.tests.create(principal, 'prj_2')]
  await deliver(b, old, `Subject: x\r\n\r\n${'x'.repeat(300_000)}`)
  await settled(b, old)
  const { database, clock } = b.fixture
  t.is(await sweepInspectTests({ database, stopping: () => false }, organizationId, { nowMs: clock.now() + 30 * 24 * hour }), 0)
  await b.fixture.put(inspectTests, { ...(await read(b, kept)), createdAt: clock.now() + 60 * 24 * hour })
  t.is(await sweepInspectTests({ database, stopping: () => false }, organizationId, { nowMs: clock.now() + 91 * 24 * hour }), 1)
  t.deepEqual(await b.fixture.keys(old.id), [])
  t.deepEqual(await b.fixture.keys('inm_'), [])
  await deliver(b, kept)
  await settled(b, kept)
  const work = { database, nowMs: clock.now(), keepsLinks: false, stopping: () => false }
  await removeProject(work, organizationId, 'prj_2')
  t.deepEqual(await b.fixture.keys(kept.id), [])
  t.deepEqual(await b.fixture.keys('inm_'), [])
  await intact(t, b)
})
