/** Acts on the queue over the core: held mail stays, dropped mail ends, and no message is lost or sent twice. */
import test, { type ExecutionContext } from '#test'
import type { ActRequest } from '#core/delivery/acts/queue-acts.ts'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { projects } from '#core/tenancy/organization.ts'
import { auditEntries } from '#core/writes/audit.ts'
import { organizationId, principal, projectId, relaying, type CoreFixture, type CoreFixtureOptions } from '../../core-fixture.ts'
import { report, take, type Call } from '../../scripted-transport.ts'
import { Seeded } from '../../../support/seeded.ts'
import { act, ended, states, steered } from './acting.ts'

const minute = 60_000
const hour = 60 * minute
/** Longer than the retries of a message. */
const maxHours = 7 * 24
const all = { destinationId: 'dst_1' }

/** Messages with one deferred attempt each. */
async function putOff(t: ExecutionContext, n: number, options: CoreFixtureOptions = {}): Promise<{ fixture: CoreFixture; ids: string[] }> {
  const fixture = await relaying(t, (call) => report(call, 'transient'), options)
  const ids: string[] = []
  for (let i = 0; i < n; i++) ids.push((await fixture.submit({ rcptTo: [`r${i}@example.net`] })).traceId)
  await fixture.settled()
  t.is(fixture.attempted.length, n, 'all were tried')
  return { fixture, ids }
}

test('hold: prevents attempts, also after a crash; release sends each message once', async (t) => {
  const { fixture: first, ids } = await putOff(t, 5)
  first.transport.script = (call) => take(call)
  t.like(await act(first, { act: 'hold', filter: all, reason: 'provider incident' }), {
    status: 'finished',
    counters: { acted: 5, inFlight: 0, skipped: 0 },
  })
  first.clock.advance(6 * 24 * hour) // longer than the retries
  await first.settled()
  t.deepEqual(await states(first), Array(5).fill('held'))
  await first.assertSound(t)
  const fixture = await first.crash()
  await fixture.queue.start()
  await fixture.settled()
  t.is(fixture.transport.calls.length, 5)
  t.is(await fixture.queue.oldestMs(), 0)
  await t.throwsAsync(fixture.core.retries.retry(principal, ids[0] ?? '', { includeUnknown: false }), { message: /held in the queue/ })

  fixture.transport.script = (call) => report(call, 'transient') // the retry schedule restarts
  t.like(await act(fixture, { act: 'release', filter: all }), { counters: { acted: 5, inFlight: 0, skipped: 0 } })
  await fixture.settled()
  t.is(fixture.attempted.length, 5, 'all were tried again')
  t.deepEqual(await states(fixture), Array(5).fill('retry'))
  fixture.transport.script = (call) => take(call)
  fixture.clock.advance(hour)
  await fixture.settled()
  t.is(fixture.attempted.length, 10, 'all were sent')
  for (const id of ids) t.is((await fixture.trace(id)).status, 'sent')
  const details = (await fixture.details(ids[0] ?? '')).join('\n')
  t.regex(details, /held: Held in the queue by key_1: provider incident\.\nhold_released: Released from its hold by key_1\./)
  const { rows } = await fixture.database.list(auditEntries, { organizationId }, { limit: 10 })
  t.deepEqual(
    rows.map(({ record }) => record.act),
    ['queue.released', 'queue.held'],
  )
  t.like(rows[1]?.record.details, { matched: 5, reason: 'provider incident', filter: { destination_id: 'dst_1' } })
  t.is(await fixture.queueLength(), 0)
  await fixture.assertSound(t)
})

test('expedite: makes retries due, except scheduled or possibly delivered mail', async (t) => {
  const { fixture, ids } = await putOff(t, 2, { retry: { delaysMs: [hour, hour], maxAgeMs: 24 * hour } })
  await fixture.submit({ sendAt: fixture.clock.now() + 2 * hour })
  fixture.transport.script = (call) => take(call, 'unknown')
  const { traceId: unknown } = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(unknown)).attempts, 1, 'its outcome is unknown')
  fixture.transport.script = (call) => take(call)
  t.like(await act(fixture, { act: 'expedite', filter: { ...all, minAttempts: 0 } }), { counters: { acted: 2, inFlight: 0, skipped: 2 } })
  await fixture.settled()
  t.is(fixture.attempted.length, 5, 'both were sent')
  for (const id of ids) t.is((await fixture.trace(id)).status, 'sent')
  t.deepEqual((await states(fixture)).toSorted(), ['retry', 'scheduled'])
  await fixture.assertSound(t)
})

test('hold: delays a scheduled send until its release', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { traceId } = await fixture.submit({ sendAt: fixture.clock.now() + hour })
  await act(fixture, { act: 'hold', filter: { ...all, traceIds: [traceId] } })
  fixture.clock.advance(2 * hour)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 0)
  await t.throwsAsync(fixture.core.scheduledSends.sendNow(principal, traceId), { message: /held in the queue/ })
  await act(fixture, { act: 'release', filter: {} })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'it was sent')
  t.is((await fixture.trace(traceId)).status, 'sent')
  await fixture.assertSound(t)
})

test('waiting time: counts from the first due time, and excludes held mail', async (t) => {
  const { fixture, ids } = await putOff(t, 1, { retry: { delaysMs: [hour, hour], maxAgeMs: 24 * hour } })
  const since = async (): Promise<number | null> => (await fixture.core.queueActs.counts(principal, {})).waitingSince
  const first = fixture.clock.now()
  t.is(await since(), first)
  fixture.clock.advance(hour)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'it was put off again')
  const later = fixture.clock.now() + 2 * hour
  const { traceId: scheduled } = await fixture.submit({ sendAt: later })
  t.is(await since(), first)
  await act(fixture, { act: 'hold', filter: { traceIds: ids } })
  t.is(await since(), later, 'a scheduled send is not late before its time')
  await act(fixture, { act: 'drop', filter: { traceIds: [scheduled] } })
  t.is(await since(), null)
  await act(fixture, { act: 'release', filter: { traceIds: ids } })
  t.is(await since(), first)
})

test('drop: cancels the remaining recipients, notifies webhooks, and empties the queue', async (t) => {
  const { fixture, ids } = await putOff(t, 3)
  const endpoint = { id: 'whk_1', projectId, name: 'hooks', targetUrl: 'https://hooks.example.net/', eventTypes: [], sealedSecret: '' }
  await fixture.put(webhookEndpoints, { ...endpoint, createdAt: 1, updatedAt: 1 })
  const one = { act: 'drop', filter: { toDomain: 'example.net', traceIds: ids.slice(0, 2) }, reason: 'a mistake' } as const
  t.like(await act(fixture, one), { counters: { acted: 2, inFlight: 0, skipped: 0 } })
  const trace = await fixture.trace(ids[0] ?? '')
  t.like(trace, { status: 'canceled', nextAttemptAt: null, recipients: [{ status: 'canceled' }] })
  t.regex((await fixture.details(trace.id)).at(-1) ?? '', /^dropped: Dropped from the queue by key_1: a mistake\. Recipients/)
  const { rows } = await fixture.database.list(webhookDeliveries, { organizationId }, { limit: 10 })
  t.deepEqual(
    rows.map(({ record: { eventType, traceId } }) => `${eventType} ${traceId}`).toSorted(),
    ids
      .slice(0, 2)
      .map((id) => `failed ${id}`)
      .toSorted(),
  )
  t.is(await fixture.queueLength(), 1)
  await fixture.assertSound(t)
})

test('hold and drop: abort an attempt up to its final dot, or apply at its end', async (t) => {
  for (const name of ['hold', 'drop'] as const) {
    const early = steered()
    const fixture = await relaying(t, early.script)
    const { traceId } = await fixture.submit()
    await early.began.promise
    t.like(await act(fixture, { act: name, filter: all }), { counters: { acted: 1, inFlight: 0 } }, name)
    early.mayDot.resolve()
    await fixture.settled()
    t.is(fixture.queue.active, 0, 'the attempt is over')
    t.deepEqual(early.steps, [], name)
    t.is(fixture.attempted.length, 0, name)
    t.is((await fixture.trace(traceId)).status, name === 'hold' ? 'queued' : 'canceled')
    t.deepEqual(await states(fixture), name === 'hold' ? ['held'] : [])

    const late = steered()
    fixture.transport.script = late.script
    const { traceId: second } = await fixture.submit()
    late.mayDot.resolve()
    await late.dotted.promise
    t.like(await act(fixture, { act: name, filter: { traceIds: [second] } }), { counters: { acted: 1, inFlight: 1 } }, name)
    late.mayEnd.resolve()
    await fixture.settled()
    t.is(fixture.attempted.length, 1, 'it has ended')
    fixture.clock.advance(2 * hour)
    await fixture.settled()
    t.like(await fixture.trace(second), { attempts: 1, status: name === 'hold' ? 'queued' : 'canceled' }, name)
    t.is(fixture.transport.calls.length, 2, name)
    await fixture.assertSound(t, name)
  }
})

test('hold and release: a message waiting in memory leaves one entry and is sent once', async (t) => {
  const first = steered()
  const fixture = await relaying(t, first.script, { maxConnections: 1 })
  await fixture.submit()
  await first.began.promise
  const { traceId } = await fixture.submit() // due, and in memory after the first
  await act(fixture, { act: 'hold', filter: { traceIds: [traceId] } })
  fixture.clock.advance(minute)
  fixture.transport.script = (call) => take(call)
  await act(fixture, { act: 'release', filter: { traceIds: [traceId] } })
  first.mayDot.resolve()
  first.mayEnd.resolve()
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'both were tried')
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 1 })
  t.is(await fixture.queueLength(), 1)
  t.deepEqual(await states(fixture), ['retry'])
  await fixture.assertSound(t)
})

test('hold and drop: apply after an attempt interrupted by a crash', async (t) => {
  for (const name of ['hold', 'drop'] as const) {
    const way = steered()
    const first = await relaying(t, way.script)
    const { traceId } = await first.submit()
    way.mayDot.resolve()
    await way.dotted.promise
    await act(first, { act: name, filter: all })
    const fixture = await first.crash()
    await fixture.queue.start()
    await fixture.settled()
    t.is((await fixture.trace(traceId)).attempts, 1, name)
    t.is(await fixture.queueLength(), name === 'hold' ? 1 : 0, name)
    t.is(fixture.transport.calls.length, 1, name)
    t.deepEqual(await states(fixture), name === 'hold' ? ['held'] : [], name)
    await fixture.assertSound(t, name)
  }
})

test('act: continues after a crash at any time, and applies once per message', async (t) => {
  const { fixture: first, ids } = await putOff(t, 60)
  let fixture = first
  const { filter, matched } = await fixture.core.queueActs.preview({ principal }, { act: 'hold', filter: all })
  const made = await fixture.core.queueActs.create({ principal }, { act: 'hold', filter, expected: matched })
  for (let writes = 1; writes <= 4; writes++) {
    let left = writes
    const crashed = Promise.withResolvers<unknown>()
    fixture.kv.beforeWrite = () => void (--left === 0 && crashed.resolve(fixture.kv.cut()))
    await Promise.race([crashed.promise, ended(fixture, made)]) // the crash leaves the waiting read without a result
    fixture = await fixture.crash()
    await fixture.part('actRunner').start()
  }
  t.like(await ended(fixture, made), { status: 'finished', counters: { acted: 60, inFlight: 0, skipped: 0 } })
  for (const id of ids) t.is((await fixture.trace(id)).queueActs?.length, 1)
  await fixture.assertSound(t)
})

test('act: stops if the count has grown, and excludes messages after the count', async (t) => {
  const { fixture } = await putOff(t, 2)
  const { queueActs } = fixture.core
  const { filter } = await queueActs.preview({ principal }, { act: 'drop', filter: all })
  await t.throwsAsync(queueActs.create({ principal }, { act: 'drop', filter, expected: 1 }), {
    message: /^2 messages match now, and 1 were expected/,
  })
  fixture.clock.advance(10)
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 3, 'it was tried')
  const made = await ended(fixture, await queueActs.create({ principal }, { act: 'drop', filter, expected: 2 }))
  t.like(made, { counters: { acted: 2 } })
  t.is(await fixture.queueLength(), 1)
})

test('act: a key of one project cannot affect other projects', async (t) => {
  const { fixture, ids } = await putOff(t, 1)
  const own = await fixture.database.get(projects, { organizationId }, projectId)
  if (!own) return t.fail('no project')
  await fixture.put(projects, { ...own.record, id: 'prj_2', isDefault: false })
  const requester = { principal: { ...principal, projectId: 'prj_2', bound: true } }
  const { queueActs } = fixture.core
  fixture.clock.advance(1)
  for (const filter of [{}, { traceIds: ids }]) {
    const found = await queueActs.preview(requester, { act: 'drop', filter })
    t.like(found, { matched: 0, filter: { projectId: 'prj_2' } })
    const made = await queueActs.create(requester, { act: 'drop', filter: found.filter, expected: 0 })
    await fixture.settled()
    t.not((await queueActs.get(requester.principal, made.id)).status, 'running')
  }
  t.is((await fixture.trace(ids[0] ?? '')).status, 'queued')
})

test('acts: in any race with attempts, each message is sent once or dropped', async (t) => {
  const random = new Seeded('acts and attempts')
  const chosen = random.branch('rounds') // separate from the attempts, whose random order varies: drop is always included
  const taken = new Map<string, number>()
  const attempt = async (call: Call): Promise<AttemptReport> => {
    for (let turns = random.between(0, 600); turns > 0; turns--) await new Promise(setImmediate)
    if (random.chance(1 / 3)) return report(call, 'transient')
    await call.job.beforeFinalDot()
    for (let turns = random.between(0, 300); turns > 0; turns--) await new Promise(setImmediate)
    if (random.chance(0.25)) return report(call, 'transient')
    taken.set(call.job.traceId, (taken.get(call.job.traceId) ?? 0) + 1)
    return report(call, 'accepted')
  }
  const inFlight = new Set<Promise<unknown>>()
  const fixture = await relaying(t, (call) => {
    const reported = attempt(call).finally(() => inFlight.delete(reported))
    inFlight.add(reported)
    return reported
  })
  await fixture.destination({ maxConnections: 4 })
  // attempts that end between count and act may increase the matches
  const actOnAll = async (name: ActRequest['act'], filter: ActRequest['filter']): Promise<unknown> => {
    const { queueActs } = fixture.core
    const { matched, filter: bounded } = await queueActs.preview({ principal }, { act: name, filter })
    return ended(fixture, await queueActs.create({ principal }, { act: name, filter: bounded, expected: matched + 100 }))
  }
  const ids: string[] = []
  const names = ['hold', 'release', 'expedite', 'drop', 'hold', 'release'] as const
  for (let round = 0; round < 25; round++) {
    for (let i = 0; i < 4; i++) ids.push((await fixture.submit({ rcptTo: [`r${ids.length}@d${ids.length % 3}.example`] })).traceId)
    const name = chosen.pick(names)
    const filter = chosen.chance(0.5) ? all : { toDomain: `d${chosen.between(0, 2)}.example` }
    await actOnAll(name, filter)
    if (chosen.chance(0.5)) fixture.clock.advance(chosen.between(0, 9) * minute)
  }
  await actOnAll('release', all) // includes messages held during their attempt
  for (let hours = 0; hours < maxHours && (await fixture.queueLength()) > 0; hours++) {
    fixture.clock.advance(hour)
    await fixture.settled()
    while (inFlight.size > 0) {
      await Promise.allSettled(inFlight)
      await fixture.settled()
    }
  }
  t.is(await fixture.queueLength(), 0, 'every message is sent, dropped or given up')
  const fates = new Map<string, number>()
  for (const id of ids) {
    const { status } = await fixture.trace(id)
    fates.set(status, (fates.get(status) ?? 0) + 1)
    t.is(taken.get(id) ?? 0, status === 'sent' ? 1 : 0, `${id} ${status}`)
  }
  // a message whose retries were all deferred by chance has failed, and no provider has it
  t.deepEqual([...fates.keys()].filter((status) => status !== 'failed').toSorted(), ['canceled', 'sent'])
  await fixture.assertSound(t)
})
