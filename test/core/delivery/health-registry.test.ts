/** Breakers over the real store and queue, with a provider that fails on command. */
import test from '#test'
import { CoreFixture, coreFixture } from '../core-fixture.ts'
import { report, ScriptedTransport, take, type Script } from '../scripted-transport.ts'

const second = 1000
const minute = 60 * second

const dead: Script = (call) => report(call, 'transient', 'connect_refused')

async function broken(t: import('ava').ExecutionContext, script: Script = dead, messages = 5): Promise<CoreFixture> {
  const fixture = await coreFixture(t, { transport: new ScriptedTransport(script) })
  await fixture.destination({ maxConnections: 5 })
  await fixture.rule({ any: true })
  for (let n = 0; n < messages; n++) {
    await fixture.submit()
    await fixture.settled()
    t.is(fixture.attempted.length, n + 1, `attempt ${n}`)
  }
  return fixture
}

test('breaker: an open breaker holds mail; one trial runs alone and releases the rest', async (t) => {
  const fixture = await broken(t)
  t.like(fixture.breakers, [{ id: 'dst_1', phase: 'open' }])
  t.is(fixture.health.open, 1)
  const waiting = await Promise.all(Array.from({ length: 12 }, () => fixture.submit()))
  await fixture.settled()
  t.is(fixture.attempted.length, 5)
  for (const { traceId } of waiting) t.like(await fixture.trace(traceId), { status: 'queued', attempts: 0 })

  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await answered
    return take(call)
  }
  fixture.clock.advance(31 * second)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 6, 'the trial is in flight')
  t.is(fixture.transport.calls.length, 6, 'only one message')
  t.is(fixture.health.gate({ id: 'dst_1', updatedAt: 0 }).pauseMs, 0)
  answer()
  await fixture.settled()
  t.is(fixture.attempted.length, 17, 'all are sent')
  t.is(fixture.breakers.at(-1)?.phase, 'closed')
  t.is(fixture.health.open, 0)
  fixture.clock.advance(2 * minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 22, 'the first ones are sent too')
  t.is(await fixture.queueLength(), 0)
})

test('breaker: a failed trial uses one attempt of one message, and extends the pause', async (t) => {
  const fixture = await broken(t)
  for (let n = 0; n < 8; n++) await fixture.submit()
  await fixture.settled()
  fixture.clock.advance(31 * second)
  await fixture.settled()
  t.is(fixture.breakers.length, 2, 'the trial has failed')
  t.is(fixture.attempted.length, 6)
  fixture.clock.advance(45 * second)
  await fixture.settled()
  t.is(fixture.attempted.length, 6)
  fixture.clock.advance(20 * second)
  await fixture.settled()
  t.is(fixture.breakers.length, 3, 'the second trial has failed')
  t.is(fixture.attempted.length, 7)
})

test('breaker: refused and deferred recipients never open it', async (t) => {
  for (const verdict of ['permanent', 'transient'] as const) {
    const fixture = await broken(t, (call) => take(call, verdict), 12)
    t.deepEqual(fixture.breakers, [])
    t.is(fixture.health.figures('dst_1').errors, verdict === 'permanent' ? 0 : 12)
  }
})

test('breaker: new settings close it and release mail immediately', async (t) => {
  const fixture = await broken(t, (call) => report(call, 'transient', 'auth_failed'))
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 5)
  fixture.transport.script = (call) => take(call)
  await fixture.destination({ maxConnections: 5, updatedAt: fixture.clock.now() + 1 })
  fixture.clock.advance(6 * second)
  await fixture.settled()
  t.is(fixture.attempted.length, 6, 'sent')
  t.is(fixture.attempted.at(-1)?.trace.status, 'sent')
})

test('breaker: an attempt with older settings does not affect the new ones', async (t) => {
  const fixture = await broken(t, dead, 4)
  const old = { id: 'dst_1', updatedAt: 1 }
  const call = fixture.transport.calls[0]
  if (!call) return t.fail()
  fixture.health.attempted('org_1', { id: 'dst_1', updatedAt: fixture.clock.now() + 1 }, report(call, 'accepted'))
  for (let n = 0; n < 9; n++) fixture.health.attempted('org_1', old, report(call, 'transient', 'connect_refused'))
  t.deepEqual(fixture.breakers, [])
})

test('breaker: an open breaker does not affect other destinations', async (t) => {
  const fixture = await broken(t, (call) =>
    call.target.destinationId === 'dst_1' ? report(call, 'transient', 'connect_timeout') : take(call),
  )
  await fixture.destination({ id: 'dst_2' })
  await fixture.rule({ from: 'two@example.com' }, 'dst_2', { priority: 1 })
  await fixture.submit()
  await fixture.submit({ facts: { headerFrom: 'two@example.com' } as never })
  await fixture.settled()
  t.is(fixture.attempted.length, 6, 'the other is sent')
  t.is(fixture.attempted.at(-1)?.trace.destinationId, 'dst_2')
})

test('latency: uses the last five minutes with at least ten attempts', async (t) => {
  const fixture = await broken(t, (call) => take(call), 1)
  const call = fixture.transport.calls[0]
  if (!call) return t.fail()
  const subject = { id: 'dst_9', updatedAt: 1 }
  const slow = { ...report(call, 'accepted'), milliseconds: { total: 3000 } }
  for (let n = 0; n < 9; n++) fixture.health.attempted('org_1', subject, slow)
  t.is(fixture.health.recentP95Ms('dst_9'), undefined)
  fixture.health.attempted('org_1', subject, slow)
  t.true((fixture.health.recentP95Ms('dst_9') ?? 0) >= 3000)
  fixture.clock.advance(6 * minute)
  t.is(fixture.health.recentP95Ms('dst_9'), undefined)
})

const throttled: Script = (call) => ({
  ...report(call, 'transient'),
  recipients: call.job.rcptTo.map((address) => ({
    address,
    verdict: 'transient' as const,
    reply: { code: 454, text: 'Throttling failure: Maximum sending rate exceeded.' },
  })),
})

test('throttling: pauses grow, then one message at a time, then full speed', async (t) => {
  const fixture = await broken(t, throttled, 1)
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'the second message is paused')
  t.like(await fixture.trace(traceId), { status: 'queued', attempts: 0 })
  t.is(fixture.health.throttledMs('dst_1'), 5 * second)
  t.is(fixture.health.open, 0, 'no breaker is open')
  fixture.clock.advance(5 * second)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'the second message is tried')
  t.is(fixture.health.throttledMs('dst_1'), 10 * second)
  fixture.transport.script = take
  const waiting = await Promise.all(Array.from({ length: 6 }, () => fixture.submit()))
  await fixture.settled()
  t.is(fixture.attempted.length, 2)
  fixture.clock.advance(10 * second)
  await fixture.settled()
  t.is(fixture.attempted.length, 8, 'all untried messages are sent')
  for (const one of waiting) t.like(await fixture.trace(one.traceId), { status: 'sent' })
  t.is(fixture.health.gate({ id: 'dst_1', updatedAt: 0 }).onTrial, false)
})
