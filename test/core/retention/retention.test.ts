import test, { type ExecutionContext } from '#test'
import { inboxes } from '#core/capture/capture.ts'
import { optOuts } from '#core/feedback/suppression/opt-out.ts'
import { routingRules } from '#core/routing/rule.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { storedTracesCounter, storedTracesKey } from '#core/tenancy/counters.ts'
import { organizations, type Organization } from '#core/tenancy/organization.ts'
import { engagements, nothingSeen, type Engagement } from '#core/trace/timeline/engagement.ts'
import { recipientOfVerp } from '#core/trace/return-paths.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { traceList } from '#core/trace/trace-walk.ts'
import { decode } from '#store/change.ts'
import { pack, unpack } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, principal, secrets, type CoreFixture } from '../core-fixture.ts'

const dayMs = 86_400_000

async function fixtureWith(t: ExecutionContext, changes: Partial<Organization>): Promise<CoreFixture> {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan: 'basic', ...changes })
  await fixture.inbox()
  return fixture
}

async function submitted(fixture: CoreFixture, count: number, changes: Parameters<CoreFixture['submit']>[0] = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push((await fixture.submit(changes)).traceId)
    fixture.clock.advance(1000)
  }
  await fixture.settled()
  return ids
}

const kept = async ({ database }: CoreFixture): Promise<string[]> =>
  (await traceList(database, principal, { limit: 1000, ascending: true })).rows.map(({ record }) => record.id)
const counted = ({ kv }: CoreFixture): Promise<number> => kv.counter(pack(storedTracesCounter(organizationId)))
test("retention: deletes settled traces with all their records at the plan's age", async (t) => {
  const fixture = await fixtureWith(t, {})
  const large = await submitted(fixture, 1, { content: `Subject: large\r\n\r\n${'x'.repeat(600_000)}\r\n` })
  const old = await submitted(fixture, 250)
  fixture.clock.advance(30 * dayMs - 251_000)
  t.is(await fixture.part('retention').round(), 0, 'no trace is thirty days old')
  fixture.clock.advance(1)
  t.is(await fixture.part('retention').round(), 1)
  t.deepEqual(await kept(fixture), old)
  fixture.clock.advance(dayMs)
  const young = await submitted(fixture, 3)
  t.is(await fixture.part('retention').round(), 250)
  t.deepEqual(await kept(fixture), young)
  t.is(await counted(fixture), 3)
  t.is((await fixture.database.all(traces, principal)).filter(({ record }) => record.capture).length, 3)
  for (const id of [...large, ...old]) t.deepEqual(await fixture.keys(id), [])
  await fixture.assertSound(t)
})

test('retention: keeps queued traces of any age until they are settled', async (t) => {
  const fixture = await fixtureWith(t, {})
  await fixture.destination()
  await fixture.rule({ any: true })
  const [queued = ''] = await submitted(fixture, 1)
  t.is((await fixture.trace(queued)).status, 'queued')
  await fixture.remove(routingRules, 'rul_1')
  await submitted(fixture, 120)
  fixture.clock.advance(40 * dayMs)
  t.is(await fixture.part('retention').round(), 120)
  t.deepEqual(await kept(fixture), [queued])
  await fixture.edit(traces, queued, { status: 'failed' })
  t.true(await removeTrace(fixture.database, organizationId, queued, fixture.clock.now()))
  t.is(await counted(fixture), 0)
})

test('retention: deletes return paths, opens and clicks with their trace', async (t) => {
  const fixture = await fixtureWith(t, {})
  await fixture.destination()
  await fixture.rule({ any: true })
  const [id = ''] = await submitted(fixture, 1, { verp: { bounceDomain: null } })
  const { record } = (await fixture.database.get(traces, principal, id))!
  const returnPath = record.recipients[0]?.verp ?? ''
  t.is((await recipientOfVerp(fixture.database, secrets, returnPath))?.traceId, id)
  await fixture.put<Engagement>(engagements, { id, projectId, ...nothingSeen, opens: 1 })
  await fixture.edit(traces, id, { status: 'failed' })
  t.true(await removeTrace(fixture.database, organizationId, id, fixture.clock.now()))
  t.is(await recipientOfVerp(fixture.database, secrets, returnPath), undefined)
  t.is(await fixture.database.get(engagements, principal, id), undefined)
})

test("retention: deletes the oldest settled traces above the plan's number", async (t) => {
  const fixture = await fixtureWith(t, { overrides: { tracesStored: 40 } })
  const ids = await submitted(fixture, 150)
  t.is(await fixture.part('retention').round(), 110)
  t.deepEqual(await kept(fixture), ids.slice(110))
  t.is(await counted(fixture), 40)
  t.is(await fixture.part('retention').round(), 0)
})

test('retention: with billed overage, keeps more traces while the bill is paid', async (t) => {
  const fixture = await fixtureWith(t, { plan: 'free', overrides: { tracesStored: 5 }, paymentState: 'manual_ok' })
  await submitted(fixture, 8)
  t.is(await fixture.part('retention').round(), 0)
  await fixture.organization({ paymentState: 'past_due' })
  t.is(await fixture.part('retention').round(), 3)
})

test('retention: a plan without limits deletes nothing', async (t) => {
  const fixture = await fixtureWith(t, { plan: 'enterprise' })
  await submitted(fixture, 3)
  fixture.clock.advance(4000 * dayMs)
  t.is(await fixture.part('retention').round(), 0)
})

test('retention: a crash leaves each trace complete or deleted', async (t) => {
  let fixture = await fixtureWith(t, {})
  const ids = await submitted(fixture, 230)
  fixture.clock.advance(31 * dayMs)
  let writes = 0
  const reached = Promise.withResolvers<void>()
  fixture.kv.beforeWrite = () => {
    if (++writes === 130) reached.resolve()
    return writes >= 130 ? new Promise<void>(() => {}) : undefined
  }
  void fixture.part('retention').round()
  await reached.promise
  fixture = await fixture.crash()
  const left = await kept(fixture)
  t.is(left.length, 230 - 129)
  t.is(await counted(fixture), left.length)
  await fixture.assertSound(t)
  for (const id of ids.filter((one) => !left.includes(one))) t.deepEqual(await fixture.keys(id), [])
  t.is(await fixture.part('retention').round(), left.length)
  t.deepEqual(await kept(fixture), [])
})

test('retention: keeps a trace that is queued again during the check', async (t) => {
  const fixture = await fixtureWith(t, {})
  const [id = ''] = await submitted(fixture, 1)
  const stored = await fixture.database.get(traces, principal, id)
  let isFirst = true
  fixture.kv.beforeWrite = async () => {
    if (!isFirst) return
    isFirst = false
    await fixture.put<Trace>(traces, { ...stored!.record, status: 'queued' })
  }
  t.false(await removeTrace(fixture.database, organizationId, id, fixture.clock.now()))
  t.is((await fixture.trace(id)).status, 'queued')
  t.is(await counted(fixture), 1)
})

test('retention: an organization deleted during the count gets no row', async (t) => {
  const fixture = await fixtureWith(t, {})
  await submitted(fixture, 1)
  let isGone = false
  fixture.kv.beforeWrite = async ({ sets }) => {
    if (isGone || !sets.some(({ key }) => unpack(key).includes('usage.stored'))) return
    isGone = true
    await fixture.remove(organizations, organizationId)
  }
  await fixture.part('retention').round()
  t.true(isGone, 'the row was about to be written')
  t.deepEqual(await fixture.keys('usage.stored'), [])
})

test('retention: inboxes lose captures and remain', async (t) => {
  const fixture = await fixtureWith(t, {})
  await submitted(fixture, 2)
  fixture.clock.advance(31 * dayMs)
  await fixture.part('retention').round()
  t.deepEqual((await fixture.inboxes.messages(principal, 'inb_1', { limit: 10 })).rows, [])
  t.is((await fixture.database.all(inboxes, principal)).length, 1)
})

test('retention: an unsubscribe link works for a year after its message', async (t) => {
  const fixture = await fixtureWith(t, {})
  await fixture.destination()
  await fixture.rule({ any: true })
  const [id = '', other = ''] = [...(await submitted(fixture, 1, { unsubscribeLink: 'public' })), ...(await submitted(fixture, 1))]
  for (const one of [id, other]) {
    await fixture.edit(traces, one, { status: 'sent' })
  }
  const { database, clock, core } = fixture
  const { unsubscribes } = core
  const tokenOf = (one: string): string => unsubscribes.fieldsFor(one)[0]?.value.slice(1, -1).split('/').at(-1) ?? ''
  fixture.clock.advance(31 * dayMs)
  t.is(await fixture.part('retention').round(), 2)
  t.like(await unsubscribes.look(tokenOf(id)), { recipient: 'anna@example.net', sender: 'shop@example.com', isUnsubscribed: false })
  await t.throwsAsync(unsubscribes.look(tokenOf(other)), { code: 'not_found' }, 'its message had no link')
  await unsubscribes.unsubscribe(tokenOf(id))
  t.deepEqual(
    (await database.all(optOuts, principal)).map(({ record }) => [record.email, record.name]),
    [['anna@example.net', 'shop@example.com']],
  )
  fixture.clock.advance(334 * dayMs)
  await database.sweep(clock.now())
  await t.throwsAsync(unsubscribes.look(tokenOf(id)), { code: 'not_found' })
})

test('retention: rounds on start and about hourly; an idle service writes nothing', async (t) => {
  const fixture = await fixtureWith(t, { plan: 'enterprise' })
  await submitted(fixture, 2)
  const retention = fixture.part('retention')
  retention.start()
  await fixture.settled()
  const snapshot = await fixture.kv.get(pack(storedTracesKey(organizationId, '2030-01-15')))
  t.deepEqual(snapshot && decode(snapshot.value), [2, [[projectId, 2]]])
  let writes = 0
  fixture.kv.beforeWrite = () => void writes++
  for (let hour = 0; hour < 72; hour++) {
    fixture.clock.advance(3_600_000)
    await fixture.settled()
  }
  t.is(writes, 0)
  t.is(fixture.clock.pending, 1)
  fixture.kv.beforeWrite = undefined
  await submitted(fixture, 1)
  fixture.clock.advance(dayMs)
  await fixture.settled()
  const later = await fixture.kv.get(pack(storedTracesKey(organizationId, '2030-01-19')))
  t.deepEqual(later && decode(later.value), [3, [[projectId, 3]]])
  await retention.stop()
  t.is(fixture.clock.pending, 0)
})
