/** Breakers at work: over a real store and the real queue, with a provider that fails as the test says. */
import test from 'ava'
import { House, houseOf, quiet, until } from '../house.ts'
import { report, ScriptedTransport, take, type Script } from '../scripted-transport.ts'

const second = 1000
const minute = 60 * second

const dead: Script = (call) => report(call, 'transient', 'connect_refused')

async function broken(t: import('ava').ExecutionContext, script: Script = dead, messages = 5): Promise<House> {
  const house = await houseOf(t, { transport: new ScriptedTransport(script) })
  await house.destination({ maxConnections: 5 })
  await house.rule({ any: true })
  for (let n = 0; n < messages; n++) {
    await house.submit()
    await until(`attempt ${n}`, () => house.attempted.length === n + 1)
  }
  return house
}

test('while a breaker is open mail rests without an attempt; the trial goes alone, and its success lets everything go', async (t) => {
  const house = await broken(t)
  t.like(house.breakers, [{ id: 'dst_1', phase: 'open' }])
  t.is(house.board.open, 1)
  const waiting = await Promise.all(Array.from({ length: 12 }, () => house.submit()))
  await quiet(house)
  t.is(house.attempted.length, 5)
  for (const { traceId } of waiting) t.like(await house.trace(traceId), { status: 'queued', attempts: 0 })

  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  house.transport.script = async (call) => {
    await answered
    return take(call)
  }
  house.clock.advance(31 * second)
  await until('the trial is under way', () => house.transport.calls.length === 6)
  await quiet(house)
  t.is(house.transport.calls.length, 6, 'one message alone')
  t.is(house.board.gate({ id: 'dst_1', updatedAt: 0 }).pauseMs, 0)
  answer()
  await until('all are sent', () => house.attempted.length === 17)
  t.is(house.breakers.at(-1)?.phase, 'closed')
  t.is(house.board.open, 0)
  house.clock.advance(2 * minute)
  await until('the first ones are sent too', () => house.attempted.length === 22)
  t.is(await house.queueLength(), 0)
})

test('a trial that fails burns one attempt of one message, and the next trial comes after a longer pause', async (t) => {
  const house = await broken(t)
  for (let n = 0; n < 8; n++) await house.submit()
  await quiet(house)
  house.clock.advance(31 * second)
  await until('the trial has failed', () => house.breakers.length === 2)
  await quiet(house)
  t.is(house.attempted.length, 6)
  house.clock.advance(45 * second)
  await quiet(house)
  t.is(house.attempted.length, 6)
  house.clock.advance(20 * second)
  await until('the second trial has failed', () => house.breakers.length === 3)
  await quiet(house)
  t.is(house.attempted.length, 7)
})

test('refused and deferred recipients of a provider that works never open its breaker', async (t) => {
  for (const verdict of ['permanent', 'transient'] as const) {
    const house = await broken(t, (call) => take(call, verdict), 12)
    t.deepEqual(house.breakers, [])
    t.is(house.board.figures('dst_1').errors, verdict === 'permanent' ? 0 : 12)
  }
})

test('new settings close the breaker: mail that rested goes at once', async (t) => {
  const house = await broken(t, (call) => report(call, 'transient', 'auth_failed'))
  await house.submit()
  await quiet(house)
  t.is(house.attempted.length, 5)
  house.transport.script = (call) => take(call)
  await house.destination({ maxConnections: 5, updatedAt: house.clock.now() + 1 })
  house.clock.advance(6 * second)
  await until('sent', () => house.attempted.length === 6)
  t.is(house.attempted.at(-1)?.trace.status, 'sent')
})

test('an attempt under older settings says nothing about the new ones', async (t) => {
  const house = await broken(t, dead, 4)
  const old = { id: 'dst_1', updatedAt: 1 }
  const call = house.transport.calls[0]
  if (!call) return t.fail()
  house.board.attempted('org_1', { id: 'dst_1', updatedAt: house.clock.now() + 1 }, report(call, 'accepted'))
  for (let n = 0; n < 9; n++) house.board.attempted('org_1', old, report(call, 'transient', 'connect_refused'))
  t.deepEqual(house.breakers, [])
})

test('the open breaker of one destination leaves the others alone', async (t) => {
  const house = await broken(t, (call) =>
    call.target.destinationId === 'dst_1' ? report(call, 'transient', 'connect_timeout') : take(call),
  )
  await house.destination({ id: 'dst_2' })
  await house.rule({ from: 'two@example.com' }, 'dst_2', { priority: 1 })
  await house.submit()
  await house.submit({ facts: { headerFrom: 'two@example.com' } as never })
  await until('the other is sent', () => house.attempted.length === 6)
  t.is(house.attempted.at(-1)?.trace.destinationId, 'dst_2')
})

test('latency is judged by the last five minutes and by ten attempts or more', async (t) => {
  const house = await broken(t, (call) => take(call), 1)
  const call = house.transport.calls[0]
  if (!call) return t.fail()
  const subject = { id: 'dst_9', updatedAt: 1 }
  const slow = { ...report(call, 'accepted'), milliseconds: { total: 3000 } }
  for (let n = 0; n < 9; n++) house.board.attempted('org_1', subject, slow)
  t.is(house.board.recentP95Ms('dst_9'), undefined)
  house.board.attempted('org_1', subject, slow)
  t.true((house.board.recentP95Ms('dst_9') ?? 0) >= 3000)
  house.clock.advance(6 * minute)
  t.is(house.board.recentP95Ms('dst_9'), undefined)
})

const throttled: Script = (call) => ({
  ...report(call, 'transient'),
  recipients: call.job.rcptTo.map((address) => ({
    address,
    verdict: 'transient' as const,
    reply: { code: 454, text: 'Throttling failure: Maximum sending rate exceeded.' },
  })),
})

test('a provider that asks for fewer messages gets none for a pause that grows, then one at a time, and speeds up again', async (t) => {
  const house = await broken(t, throttled, 1)
  const { traceId } = await house.submit()
  await quiet(house)
  t.is(house.attempted.length, 1, 'the second message rests')
  t.like(await house.trace(traceId), { status: 'queued', attempts: 0 })
  t.is(house.board.throttledMs('dst_1'), 5 * second)
  t.is(house.board.open, 0, 'no breaker is open')
  house.clock.advance(5 * second)
  await until('the second message is tried', () => house.attempted.length === 2)
  await quiet(house)
  t.is(house.board.throttledMs('dst_1'), 10 * second)
  house.transport.script = take
  const waiting = await Promise.all(Array.from({ length: 6 }, () => house.submit()))
  await quiet(house)
  t.is(house.attempted.length, 2)
  house.clock.advance(10 * second)
  await until('all that were never tried are sent', () => house.attempted.length === 8)
  for (const one of waiting) t.like(await house.trace(one.traceId), { status: 'sent' })
  t.is(house.board.gate({ id: 'dst_1', updatedAt: 0 }).onTrial, false)
})
