/** Figures over time: counters, aggregation of minutes, and retention. */
import test from '#test'
import { projectNames, recipientNames } from '#core/insights/count.ts'
import type { Counted } from '#core/insights/insights.ts'
import { percentilesOf, timingName } from '#core/insights/latency.ts'
import { levels } from '#core/insights/levels.ts'
import { pack, unpack } from '#store/tuple.ts'
import { coreFixture, organizationId, principal, projectId, relaying, type CoreFixture } from '../core-fixture.ts'
import { take } from '../scripted-transport.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

const named = ({ total }: Pick<Counted, 'total'>, name: string): number => total.get(name) ?? 0

/** Returns the number of rows by level. */
async function rows(fixture: CoreFixture): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { name } of levels) found[name] = 0
  for await (const { key } of fixture.kv.range({ start: pack([organizationId]), end: pack([`${organizationId}!`]) })) {
    const name = String(unpack(key)[1])
    if (name in found) found[name] = (found[name] ?? 0) + 1
  }
  return found
}

const isBad = (address: string): boolean => address.startsWith('gone')

/** A service that relays; recipients that begin with `gone` are refused. */
const relay = (t: Parameters<typeof relaying>[0]): Promise<CoreFixture> =>
  relaying(t, (call) => take(call, Object.fromEntries(call.job.rcptTo.map((to) => [to, isBad(to) ? 'permanent' : 'accepted']))))

test('Insights count messages by outcome and recipients by destination in the same write', async (t) => {
  const fixture = await relay(t)
  const insights = fixture.part('insights')
  await fixture.submit({ rcptTo: ['anna@peer.test', 'gone@peer.test', 'ben@Other.test'] })
  await fixture.submit({ rcptTo: ['gone@peer.test'] })
  await fixture.settled()
  const sends = await insights.ofProject(principal, { projectId })
  t.is(named(sends, projectNames.relayed), 2)
  t.is(named(sends, projectNames.failed), 2, 'a message has failed if a recipient has')
  const delivery = await insights.ofDestinations(principal, {})
  t.is(named(delivery, recipientNames.taken), 2)
  t.is(named(delivery, recipientNames.failed), 2)
  t.is(named(delivery, recipientNames.bounced), 2)
  t.is(percentilesOf('attempt', delivery.total).count, 1)
  t.is(percentilesOf('first_attempt', delivery.total).count, 2)
  const { subjects } = await insights.byThing('destination', principal, { limit: 5 })
  t.deepEqual(
    subjects.map(({ subject }) => subject),
    ['dst_1'],
  )
  const domains = await insights.byDomain(principal, { limit: 5 })
  t.deepEqual(
    domains.subjects.map(({ subject, total }) => [subject, total.get(recipientNames.taken) ?? 0, total.get(recipientNames.bounced) ?? 0]),
    [
      ['peer.test', 1, 2],
      ['other.test', 1, 0],
    ],
  )
})

test('Insights count captures by reason, and refused sends by code a second later', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.submit()
  await fixture.project({ noRoutePolicy: 'reject' })
  await t.throwsAsync(fixture.submit(), { message: /no route|destination/i })
  await t.throwsAsync(fixture.submit())
  fixture.clock.advance(1000)
  await fixture.settled()
  const sends = await fixture.part('insights').ofProject(principal, {})
  t.is(named(sends, projectNames['captured.no_route']), 1)
  t.is(named(sends, 'xno_route'), 2)
})

test('Insights are equal before and after aggregation; old minutes are deleted', async (t) => {
  const fixture = await relay(t)
  const { clock } = fixture
  const [insights, rollUp] = [fixture.part('insights'), fixture.part('rollUp')]
  await rollUp.rollUp()
  const began = clock.now()
  const send = async (): Promise<void> => {
    await fixture.submit({ rcptTo: ['anna@peer.test'] })
    await fixture.settled()
  }
  await send()
  clock.advance(20 * minuteMs)
  await send()
  await send()
  clock.advance(50 * minuteMs)
  await send()
  const ask = { from: began, to: began + 2 * 3_600_000, stepSeconds: 1800 }
  const seen = async () =>
    Promise.all([
      insights.ofProject(principal, { ...ask, projectId }),
      insights.ofProject(principal, ask),
      insights.ofDestinations(principal, ask),
      insights.byDomain(principal, { ...ask, limit: 9 }),
    ])
  const before = await seen()
  t.deepEqual(
    before[0].points.map(({ counts }) => counts.get(projectNames.relayed) ?? 0),
    [3, 0, 1, 0],
  )
  t.is((await rows(fixture))['insight.quarter'], 0)
  await rollUp.rollUp()
  t.deepEqual(await seen(), before, 'while some minutes are aggregated')
  clock.advance(26 * 3_600_000)
  await rollUp.rollUp()
  t.deepEqual(await seen(), before)
  const days = await insights.ofProject(principal, { from: began, to: began + 2 * dayMs, stepSeconds: 86_400 })
  t.is(named(days, projectNames.relayed), 4)
  const kept = await rows(fixture)
  t.true((kept['insight.minute'] ?? 0) > 0 && (kept['insight.quarter'] ?? 0) > 0 && (kept['insight.hour'] ?? 0) > 0)
  t.true((kept['insight.day'] ?? 0) > 0)
  clock.advance(3 * dayMs)
  await rollUp.rollUp()
  t.is((await rows(fixture))['insight.minute'], 0)
  t.deepEqual(await seen(), before, 'quarters have longer retention')
  clock.advance(100 * dayMs)
  await rollUp.rollUp()
  const left = await rows(fixture)
  t.deepEqual([left['insight.quarter'], left['insight.hour']], [0, 0])
  t.true((left['insight.day'] ?? 0) > 0)
  await fixture.assertSound(t)
})

test('Insights: count sends after the clock is set back by minutes, hours or a year', async (t) => {
  const fixture = await relay(t)
  const { clock } = fixture
  const rollUp = fixture.part('rollUp')
  const send = async (of: CoreFixture): Promise<void> => {
    await of.submit({ rcptTo: ['anna@peer.test'] })
    await of.settled()
  }
  const sends = async (of: CoreFixture) => named(await of.part('insights').ofProject(principal, { projectId }), projectNames.relayed)
  const passes = async (minutes: number): Promise<void> => {
    clock.advance(minutes * minuteMs)
    await fixture.settled()
  }
  rollUp.start() // Aggregates by its timer, a minute into each quarter of an hour.
  await fixture.settled()
  await send(fixture)
  await passes(20)
  await send(fixture)
  clock.step(-10 * minuteMs)
  await send(fixture)
  await passes(20)
  await send(fixture)
  await passes(20)
  t.is(await sends(fixture), 4, 'set back by minutes')
  for (let quarters = 0; quarters < 8; quarters++) {
    await send(fixture)
    await passes(15)
  }
  clock.step(-90 * minuteMs)
  await send(fixture)
  for (let quarters = 0; quarters < 20; quarters++) await passes(15)
  t.is(await sends(fixture), 13, 'by more than an hour')
  await rollUp.stop()
  clock.step(365 * dayMs)
  const future = await fixture.crash()
  await future.part('rollUp').rollUp()
  clock.step(-365 * dayMs)
  const next = await future.crash()
  await next.part('rollUp').rollUp()
  await send(next)
  clock.advance(60 * minuteMs)
  await next.part('rollUp').rollUp()
  t.true((await sends(next)) >= 1, 'after a year in the future')
  await next.assertSound(t)
})

test('Insights refuse a time before retention and too many steps', async (t) => {
  const fixture = await coreFixture(t)
  const insights = fixture.part('insights')
  const now = fixture.clock.now()
  const refused = (query: object) => t.throwsAsync(insights.ofProject(principal, query), { code: 'validation_failed' })
  await refused({ from: now - 3 * dayMs, stepSeconds: 300, to: now - 2.9 * dayMs })
  await refused({ from: now - dayMs, stepSeconds: 60 })
  await refused({ from: now, to: now })
  await refused({ stepSeconds: 90 })
  await t.throwsAsync(insights.ofProject(principal, { projectId: 'prj_9' }), { code: 'not_found' })
  const whole = await insights.ofProject(principal, {})
  t.is(whole.points.length, 96)
  t.is(whole.to - whole.from, dayMs)
  t.true(whole.to >= now && whole.points.every(({ counts }) => counts.size === 0))
})

test('percentilesOf() is at most half too high', (t) => {
  const counts = new Map<string, number>()
  const add = (ms: number, times: number): void =>
    void counts.set(timingName('delivery', ms), (counts.get(timingName('delivery', ms)) ?? 0) + times)
  add(3, 50)
  add(200, 45)
  add(40_000, 4)
  add(1e12, 1)
  const { count, p50Ms, p95Ms, p99Ms } = percentilesOf('delivery', counts)
  t.is(count, 100)
  const pairs = [
    [p50Ms, 4],
    [p95Ms, 200],
    [p99Ms, 40_000],
  ] as const
  for (const [found, real] of pairs) t.true((found ?? 0) >= real * 0.98 && (found ?? 0) <= real * 1.52, `${found}`)
  t.is(percentilesOf('attempt', counts).p50Ms, null)
})
