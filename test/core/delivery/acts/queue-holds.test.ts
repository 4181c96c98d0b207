/** Standing holds over the core: hold at the message's turn, release, and holds of the operator. */
import test from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Actor } from '#core/writes/audit.ts'
import { heldLength } from '#store/queue.ts'
import { principal, projectId, relaying, type CoreFixture } from '../../core-fixture.ts'
import { report, take } from '../../scripted-transport.ts'
import { states } from './acting.ts'

const hour = 60 * 60_000
const all = { destinationId: 'dst_1' }
const operator = { principal, actor: { kind: 'operator', id: '' } satisfies Actor }

const ended = (fixture: CoreFixture, id: string): Promise<void> =>
  fixture.kv.holds('the act ended', async () => (await fixture.core.queueActs.get(principal, id)).status !== 'running')

test('standing hold: holds waiting and new mail, also after a crash, until its release', async (t) => {
  const first = await relaying(t, (call) => report(call, 'transient'))
  const { traceId: early } = await first.submit()
  await first.settled()
  t.is(first.attempted.length, 1, 'it was tried')
  first.transport.script = (call) => take(call)
  first.clock.advance(1)
  const hold = await first.core.queueHolds.create({ principal }, { filter: all, reason: 'provider incident' })
  await ended(first, hold.actId)
  const { traceId: late } = await first.submit()
  const { traceId: scheduled } = await first.submit({ sendAt: first.clock.now() + hour })
  await first.settled()
  first.clock.advance(2 * hour)
  await first.settled()
  t.is((await states(first)).join(), 'held,held,held', 'all are held')
  await first.assertSound(t)
  t.is(await heldLength(first.database), 3)

  const fixture = await first.crash()
  await fixture.queue.start()
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'only the first was tried, earlier')
  t.regex((await fixture.details(late)).join('\n'), /held: Held in the queue by key_1: provider incident\./)
  // one is released by hand during the hold
  fixture.clock.advance(1)
  const { filter, matched } = await fixture.core.queueActs.preview({ principal }, { act: 'release', filter: { traceIds: [early] } })
  await ended(fixture, (await fixture.core.queueActs.create({ principal }, { act: 'release', filter, expected: matched })).id)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'it was sent')
  t.is((await fixture.trace(early)).status, 'sent')
  t.deepEqual(await states(fixture), ['held', 'held'])

  fixture.clock.advance(1)
  await ended(fixture, (await fixture.core.queueHolds.release({ principal }, hold.id)).id)
  await fixture.settled()
  t.is(fixture.attempted.length, 3, 'both were sent')
  for (const id of [late, scheduled]) t.like(await fixture.trace(id), { status: 'sent', attempts: 1 })
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 4, 'new mail is sent')
  t.is(await heldLength(fixture.database), 0)
  t.deepEqual([(await fixture.core.queueHolds.list(principal, { limit: 10 })).rows, await fixture.queueLength()], [[], 0])
  await fixture.assertSound(t)
})

test('standing hold: a release during turns leaves nothing held; other holds stay', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const wide = await fixture.core.queueHolds.create({ principal }, { filter: all })
  const narrow = await fixture.core.queueHolds.create({ principal }, { filter: { toDomain: 'kept.example' } })
  const ids: string[] = []
  const submitUpTo = async (end: number): Promise<void> => {
    for (let i = ids.length; i < end; i++)
      ids.push((await fixture.submit({ rcptTo: [i % 4 === 0 ? `r${i}@kept.example` : `r${i}@example.net`] })).traceId)
  }
  await submitUpTo(20)
  await fixture.settled()
  t.is((await states(fixture)).filter((state) => state === 'held').length, 20)
  fixture.clock.advance(1)
  const submitting = submitUpTo(40)
  await ended(fixture, (await fixture.core.queueHolds.release({ principal }, wide.id)).id)
  await submitting
  await fixture.settled()
  t.is(fixture.attempted.length, 30, 'the remaining messages were sent')
  t.is((await states(fixture)).join(), Array(10).fill('held').join(), 'and the others are held')
  for (const [i, id] of ids.entries()) t.is((await fixture.trace(id)).status, i % 4 === 0 ? 'queued' : 'sent', String(i))
  fixture.clock.advance(1)
  await ended(fixture, (await fixture.core.queueHolds.release({ principal }, narrow.id)).id)
  await fixture.settled()
  t.is(fixture.attempted.length, 40, 'these too')
  await fixture.assertSound(t)
})

test('standing hold: a release while its act runs leaves nothing held', async (t) => {
  const fixture = await relaying(t, (call) => report(call, 'transient'))
  for (let i = 0; i < 20; i++) await fixture.submit()
  await fixture.settled()
  fixture.clock.advance(1)
  const mayHold = Promise.withResolvers<void>()
  fixture.kv.beforeWrite = ({ adds }) => (adds.some(({ key }) => Buffer.from(key).includes('queue.act')) ? mayHold.promise : undefined)
  const hold = await fixture.core.queueHolds.create({ principal }, { filter: all })
  fixture.clock.advance(1)
  await ended(fixture, (await fixture.core.queueHolds.release({ principal }, hold.id)).id)
  fixture.kv.beforeWrite = undefined
  mayHold.resolve()
  await fixture.settled()
  t.deepEqual(await states(fixture), Array(20).fill('retry'))
  t.like(await fixture.core.queueActs.get(principal, hold.actId), {
    ...{ status: 'stopped', stoppedBecause: 'The standing hold was released.' },
    counters: { acted: 0, inFlight: 0, skipped: 0 },
  })
  await fixture.assertSound(t)
})

test('standing hold: only the operator releases its holds; a project key is limited', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { queueActs, queueHolds } = fixture.core
  const hold = await queueHolds.create(operator, { filter: {}, reason: 'abuse' })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await states(fixture)).join(), 'held', 'the message is held')
  fixture.clock.advance(1)
  await t.throwsAsync(queueHolds.release({ principal }, hold.id), { code: 'insufficient_scope' })
  const made = await queueActs.create({ principal }, { act: 'release', filter: {}, expected: 1 })
  await ended(fixture, made.id)
  t.like(await queueActs.get(principal, made.id), { counters: { acted: 0, skipped: 1 } })
  const elsewhere: Principal = { ...principal, projectId: 'prj_2', bound: true }
  await t.throwsAsync(queueActs.preview({ principal: elsewhere }, { act: 'drop', filter: { projectId } }), { code: 'not_found' })
  t.like(await queueActs.preview({ principal: elsewhere }, { act: 'drop', filter: {} }), { matched: 0, filter: { projectId: 'prj_2' } })
  await ended(fixture, (await queueHolds.release(operator, hold.id)).id)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'it was sent')
  t.is((await fixture.trace(traceId)).status, 'sent')
})
