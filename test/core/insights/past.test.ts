/** Reports count in the time in which their messages were accepted, also after roll-ups. */
import test from '#test'
import { recipientNames } from '#core/insights/count.ts'
import { countTimeOf } from '#core/insights/past.ts'
import { begunOf, rolledTo } from '#core/insights/rows.ts'
import { levels, rolledKey } from '#core/insights/levels.ts'
import { Changes, type ListChange } from '#core/live/changes.ts'
import { Change, encode } from '#store/change.ts'
import { event, intakeOf, sendingFixture, signed, tokenOf } from '../feedback/reports.ts'
import { organizationId, principal, projectId, type CoreFixture } from '../core-fixture.ts'
import { Watched } from '../watch/watched.ts'

const hour = 3_600_000
const quarter = hour / 4
const hours = (count: number): number => count * hour

/** Sends messages to one recipient each, and returns a function that bounces all of them. */
async function sent(fixture: CoreFixture, many: number): Promise<() => Promise<void>> {
  const ids: string[] = []
  for (let n = 0; n < many; n++) ids.push((await fixture.submit({ destinationId: 'dst_1' })).traceId)
  await fixture.settled()
  return async () => {
    const events = []
    for (const id of ids) events.push(event({ clues: tokenOf(await fixture.trace(id)) }))
    await intakeOf(fixture).feedback.take(signed, events)
  }
}

/** Accepted and bounced recipients of a period, of the project and of the whole organization. */
async function shares(fixture: CoreFixture, from: number, to: number, stepSeconds: number): Promise<readonly (readonly number[])[]> {
  const insights = fixture.part('insights')
  const found = []
  for (const query of [
    { from, to, stepSeconds, projectId },
    { from, to, stepSeconds },
  ]) {
    const { total } = await insights.ofDestinations(principal, query)
    const { subjects } = await insights.byDomain(principal, { ...query, limit: 5 })
    found.push([total.get(recipientNames.taken) ?? 0, total.get(recipientNames.bounced) ?? 0, subjects[0]?.total.get('b') ?? 0])
  }
  return found
}

test('insights: a log shipper that catches up changes yesterday, and not today', async (t) => {
  const fixture = await sendingFixture(t)
  const here = await Watched.of(fixture)
  const { clock } = fixture
  const rollUp = fixture.part('rollUp')
  await rollUp.rollUp()
  const began = clock.now()
  const bounce = await sent(fixture, 10)
  await here.pass(hours(30))
  await rollUp.rollUp()
  const noon = clock.now()
  await sent(fixture, 5)
  await bounce()
  await here.round()
  t.deepEqual(await here.open(), ['domain.unknown notice'], 'no finding about the mail of today')
  for (const step of [60, 900, 3600])
    t.deepEqual(await shares(fixture, noon - (noon % quarter), noon + 60_000, step), [
      [5, 0, 0],
      [5, 0, 0],
    ])
  const yesterday = [
    [10, 10, 10],
    [10, 10, 10],
  ]
  for (const step of [900, 3600]) t.deepEqual(await shares(fixture, began, began + hours(1), step), yesterday)
  const day = began - (began % hours(24))
  t.deepEqual(await shares(fixture, day, day + hours(24), 86_400), yesterday)
  clock.advance(hours(20))
  await rollUp.rollUp()
  t.deepEqual(await shares(fixture, began, began + hours(1), 3600), yesterday, 'the next roll-up changes nothing')
  await fixture.assertSound(t)
})

test('insights: a bounce of a recent message counts in its minute, before and after the roll-up', async (t) => {
  const fixture = await sendingFixture(t)
  const { clock } = fixture
  const rollUp = fixture.part('rollUp')
  await rollUp.rollUp()
  const began = clock.now()
  const bounce = await sent(fixture, 3)
  clock.advance(40 * 60_000)
  await bounce()
  const once = [
    [3, 3, 3],
    [3, 3, 3],
  ]
  t.deepEqual(await shares(fixture, began, began + 60_000, 60), once)
  await rollUp.rollUp()
  t.deepEqual(await shares(fixture, began, began + quarter, 900), once)
})

test('countTimeOf(): the write fails if a roll-up begins first, and counts after a running one', async (t) => {
  const fixture = await sendingFixture(t)
  const { clock, database } = fixture
  const rollUp = fixture.part('rollUp')
  await rollUp.rollUp()
  await sent(fixture, 1)
  const at = clock.now()
  clock.advance(hours(1))
  const change = new Change().set(['org_1', 'x'])
  t.deepEqual(await countTimeOf(database, change, at, clock.now()), { at, levels: [levels[0]] })
  await rollUp.rollUp()
  t.like(await database.commit(change), { ok: false, reason: 'conflict' })
  const end = at - (at % hour) + hours(2)
  const rolled = new Map([...(await rolledTo(database)), [levels[2].name, at - (at % hour)], [begunOf(levels[2].name), end]])
  await database.commit(new Change().set(rolledKey, encode([...rolled])))
  t.is((await countTimeOf(database, new Change(), at, clock.now() + hours(3))).at, end)
})

test('insights: a report about mail older than the minutes changes the live list of traces', async (t) => {
  const fixture = await sendingFixture(t)
  const rollUp = fixture.part('rollUp')
  const bounce = await sent(fixture, 1)
  await fixture.pass(hours(72))
  await rollUp.rollUp()
  const seen: ListChange[] = []
  const stop = new Changes(fixture.database).watch({ organizationId, projectId: undefined }, (change) => seen.push(change))
  await bounce()
  stop()
  t.true(seen.length > 0)
  for (const change of seen) t.deepEqual(change, { list: 'traces', projectId, added: 0 })
})
