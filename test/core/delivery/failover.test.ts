/** Failover over the real store and queue: next destination and time, and no double delivery. */
import test, { type ExecutionContext } from '#test'
import { failoverPolicies, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { readAttempts } from '#core/trace/attempts.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'
import { hang, report, ScriptedTransport, take, type Call, type Script } from '../scripted-transport.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
type Scripts = Readonly<Record<string, Script>>

/** A primary and two fallbacks with separate scripts. */
async function chain(t: ExecutionContext, scripts: Scripts, changes: Partial<FailoverPolicy> = {}): Promise<CoreFixture> {
  const transport = new ScriptedTransport((call) => (scripts[call.target.destinationId] ?? ((one: Call) => take(one)))(call))
  const fixture = await coreFixture(t, { transport })
  for (const [id, name] of [
    ['dst_1', 'Primary'],
    ['dst_2', 'First'],
    ['dst_3', 'Second'],
  ] as const)
    await fixture.destination({ id, name })
  await fixture.rule({ any: true })
  await fixture.put<FailoverPolicy>(failoverPolicies, {
    id: 'fop_1',
    projectId,
    primaryId: 'dst_1',
    fallbackIds: ['dst_2', 'dst_3'],
    on: ['transient', 'breaker_open', 'misconfigured'] as const,
    latencyMs: null,
    createdAt: startOfTime,
    updatedAt: startOfTime,
    ...changes,
  })
  return fixture
}

const places = (fixture: CoreFixture): string[] => fixture.transport.calls.map(({ target }) => target.destinationId)
const refuse =
  (code: string): Script =>
  (call) =>
    report(call, 'transient', code)
const defer: Script = (call) => take(call, 'transient')

for (const [what, script] of [
  ['refuses connections', refuse('connect_refused')],
  ['says 421', refuse('peer_closing')],
  ['fails at TLS', refuse('tls_failed')],
  ['refuses the sign-in', refuse('auth_failed')],
  ['defers every recipient with 4xx', defer],
] as const) {
  test(`failover: skips a first fallback with the same fault when the primary ${what}`, async (t) => {
    const fixture = await chain(t, { dst_1: script, dst_2: script })
    const { traceId } = await fixture.submit()
    await fixture.settled()
    t.is(fixture.attempted.length, 3, 'three attempts')
    t.deepEqual(places(fixture), ['dst_1', 'dst_2', 'dst_3'])
    t.like(await fixture.trace(traceId), { status: 'sent', attempts: 3, destinationId: 'dst_3' })
    const { attempts } = await fixture.traces.get({ organizationId: 'org_1' } as never, traceId)
    t.deepEqual(column(attempts, 'destinationId'), ['dst_1', 'dst_2', 'dst_3'])
    const moves = (await fixture.details(traceId)).filter((line) => line.startsWith('failover:'))
    t.is(moves.length, 2)
    t.regex(moves[0] ?? '', /the message goes on to the fallback First\.$/)
    t.regex(moves[1] ?? '', /the message goes on to the fallback Second\.$/)
    t.is(await fixture.queueLength(), 0)
  })
}

test('failover: excludes accepted and permanently refused recipients', async (t) => {
  const verdicts = { 'in@example.net': 'accepted', 'no@example.net': 'permanent', 'later@example.net': 'transient' } as const
  const fixture = await chain(t, { dst_1: (call) => take(call, verdicts) })
  const { traceId } = await fixture.submit({ rcptTo: Object.keys(verdicts) })
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'two attempts')
  t.deepEqual(fixture.transport.attemptsAt(traceId), [Object.keys(verdicts), ['later@example.net']])
  const { recipients } = await fixture.trace(traceId)
  t.deepEqual(column(recipients, 'status'), ['sent', 'failed', 'sent'])
})

test('failover: waits after an unknown outcome, and makes no third attempt', async (t) => {
  const lost: Script = async (call) => {
    await call.job.beforeFinalDot()
    return report(call, 'unknown', 'connection_lost')
  }
  const fixture = await chain(t, { dst_1: lost, dst_2: lost })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'lost')
  t.is((await fixture.trace(traceId)).destinationId, 'dst_2')
  fixture.clock.advance(14 * minute)
  await fixture.settled()
  t.deepEqual(places(fixture), ['dst_1'])
  fixture.clock.advance(2 * minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'the fallback')
  fixture.clock.advance(24 * 60 * minute)
  await fixture.settled()
  t.deepEqual(places(fixture), ['dst_1', 'dst_2'])
  t.is((await fixture.trace(traceId)).status, 'failed')
})

test('failover: a round counts once; the schedule then continues at the primary', async (t) => {
  const fixture = await chain(t, { dst_1: defer, dst_2: defer, dst_3: defer })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 3, 'the first round')
  t.like(await fixture.trace(traceId), { status: 'queued', destinationId: 'dst_1', nextAttemptAt: fixture.clock.now() + minute })
  t.regex((await fixture.details(traceId)).join('\n'), /has no further fallback; its next attempt is at Primary again/)
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 6, 'the second round')
  t.like(await fixture.trace(traceId), { nextAttemptAt: fixture.clock.now() + 5 * minute })
  t.deepEqual(places(fixture).slice(3), ['dst_1', 'dst_2', 'dst_3'])
})

test('failover: skips a fallback in sandbox mode, and records it in the trace', async (t) => {
  const fixture = await chain(t, { dst_1: defer })
  await fixture.destination({ id: 'dst_2', name: 'First', mode: 'sandbox' })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'two attempts')
  t.deepEqual(places(fixture), ['dst_1', 'dst_3'])
  t.regex((await fixture.details(traceId)).join('\n'), /skips First \(in sandbox mode\) and goes on to the fallback Second/)
})

test('failover: keeps causes outside the policy at the primary', async (t) => {
  const fixture = await chain(t, { dst_1: defer }, { on: ['breaker_open', 'rate_limited'] })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'one attempt')
  t.deepEqual(places(fixture), ['dst_1'])
  t.like(await fixture.trace(traceId), { status: 'queued', destinationId: 'dst_1', nextAttemptAt: fixture.clock.now() + minute })
})

test('failover: skips the primary while its breaker is open, until its trial succeeds', async (t) => {
  let isDead = true
  const fixture = await chain(
    t,
    { dst_1: (call) => (isDead ? report(call, 'transient', 'connect_refused') : take(call)) },
    { on: ['breaker_open', 'transient'] },
  )
  for (let n = 1; n <= 5; n++) {
    await fixture.submit()
    await fixture.settled()
    t.is(fixture.attempted.length, 2 * n, `message ${n}`)
  }
  t.like(fixture.breakers, [{ id: 'dst_1', phase: 'open' }])
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 11, 'the sixth')
  t.is(places(fixture).at(-1), 'dst_2')
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 1, destinationId: 'dst_2' })
  const details = await fixture.details(traceId)
  t.regex(details[3] ?? '', /^failover: The circuit breaker of the destination is open: the message goes on to the fallback First\.$/)
  isDead = false
  fixture.clock.advance(31_000)
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 12, 'the trial')
  t.is(places(fixture).at(-1), 'dst_1')
  t.is(fixture.breakers.at(-1)?.phase, 'closed')
})

test('failover: waits without an attempt while every breaker is open', async (t) => {
  const dead = refuse('connect_refused')
  const scripts: Record<string, Script> = { dst_1: dead, dst_2: dead, dst_3: dead }
  const fixture = await chain(t, scripts)
  for (let n = 1; n <= 5; n++) {
    await fixture.submit()
    await fixture.settled()
    t.is(fixture.attempted.length, 3 * n, `message ${n}`)
  }
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 15)
  t.like(await fixture.trace(traceId), { status: 'queued', attempts: 0, destinationId: 'dst_1' })
  for (const id of Object.keys(scripts)) delete scripts[id]
  fixture.clock.advance(31_000)
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'sent')
  fixture.clock.advance(10 * minute)
  await fixture.settled()
  t.is(await fixture.queueLength(), 0, 'all are sent')
  t.is(new Set(fixture.attempted.filter(({ trace }) => trace.status === 'sent').map(({ trace }) => trace.id)).size, 6)
  t.is(fixture.attempted.filter(({ trace }) => trace.status === 'sent').length, 6, 'each once')
})

test('failover: skips a slow primary', async (t) => {
  const slow: Script = async (call) => ({ ...(await take(call)), milliseconds: { total: 5000 } })
  const fixture = await chain(t, { dst_1: slow }, { on: ['latency'], latencyMs: 2000 })
  for (let n = 1; n <= 11; n++) {
    const { traceId } = await fixture.submit()
    await fixture.settled()
    t.is((await fixture.trace(traceId)).status, 'sent', `message ${n}`)
  }
  t.deepEqual(places(fixture), [...Array.from({ length: 10 }, () => 'dst_1'), 'dst_2'])
})

test('failover: an attempt aborted by our stop returns to the same destination', async (t) => {
  const fixture = await chain(t, { dst_1: (call) => (call.nth === 1 ? report(call, 'transient', 'closed') : take(call)) })
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'sent')
  t.deepEqual(places(fixture), ['dst_1', 'dst_1'])
})

test('failover: continues at the fallback after a crash', async (t) => {
  const fixture = await chain(t, { dst_1: defer, dst_2: () => new Promise(() => {}) })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2, 'at the fallback')
  const next = await fixture.crash({ transport: new ScriptedTransport() })
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  t.deepEqual(places(next), ['dst_2'])
  t.is((await next.trace(traceId)).status, 'sent')
})

test('failover: an interrupted attempt fails over only after the unknown delay', async (t) => {
  const fixture = await chain(t, {
    dst_1: async (call) => {
      await call.job.beforeFinalDot()
      return hang(call)
    },
  })
  const { traceId } = await fixture.submit()
  const attempts = async () => readAttempts(fixture.database, organizationId, await fixture.trace(traceId))
  await fixture.settled()
  t.is((await attempts()).length, 1, 'the start is stored')
  const transport = new ScriptedTransport((call) =>
    call.target.destinationId === 'dst_1' ? report(call, 'transient', 'connect_refused') : take(call),
  )
  const next = await fixture.crash({ transport })
  for (let n = 1; n <= 5; n++) {
    await next.submit()
    await next.settled()
    t.is(next.attempted.length, 2 * n, `message ${n}`)
  }
  t.like(next.breakers, [{ id: 'dst_1', phase: 'open' }])
  await next.queue.start()
  await next.settled()
  t.is((await next.trace(traceId)).nextAttemptAt, next.clock.now() + 15 * minute, 'it waits')
  t.deepEqual(transport.attemptsAt(traceId), [])
  t.like(await next.trace(traceId), { status: 'queued', destinationId: 'dst_1', attempts: 1 })
  next.clock.advance(15 * minute)
  await next.settled()
  t.is((await next.trace(traceId)).status, 'sent', 'sent')
  t.is((await next.trace(traceId)).destinationId, 'dst_2')
})

test('failover: throttled messages move by policy, including messages during the pause', async (t) => {
  const throttled: Script = (call) => ({
    ...report(call, 'transient'),
    recipients: call.job.rcptTo.map((address) => ({
      address,
      verdict: 'transient' as const,
      reply: { code: 421, enhanced: '4.7.28', text: 'Rate' },
    })),
  })
  const fixture = await chain(t, { dst_1: throttled }, { on: ['rate_limited'] })
  const first = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(first.traceId)).status, 'sent', 'it is sent')
  const second = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(second.traceId)).status, 'sent', 'so is the next')
  t.deepEqual(places(fixture), ['dst_1', 'dst_2', 'dst_2'])
  const { attempts } = await fixture.traces.get({ organizationId: 'org_1' } as never, first.traceId)
  t.like(attempts[0], { error: { code: 'provider_rate_limited' }, failover: { to: 'dst_2', cause: 'rate_limited' } })
  t.like((await fixture.trace(second.traceId)).failover?.passes[0], { from: 'dst_1', to: 'dst_2', cause: 'rate_limited' })
  fixture.clock.advance(5000)
  const third = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(third.traceId)).status, 'sent', 'the third is sent')
  t.deepEqual(places(fixture).slice(3), ['dst_1', 'dst_2'])
})

test('failover: a throttled provider gets one message at a time despite fallbacks', async (t) => {
  const held: (() => void)[] = []
  const script: Script = async (call) => {
    if (call.target.destinationId !== 'dst_1') return take(call)
    if (fixture.health.throttledMs('dst_1') === 0 && fixture.clock.now() === startOfTime)
      return report(call, 'transient', 'provider_rate_limited')
    await new Promise<void>((go) => held.push(go))
    return take(call)
  }
  const fixture = await chain(t, { dst_1: script }, { on: ['rate_limited'] })
  const first = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(first.traceId)).status, 'sent', 'it is sent')
  t.is(fixture.health.throttledMs('dst_1'), 5000)
  fixture.clock.advance(5000)
  await Promise.all([1, 2, 3, 4].map(() => fixture.submit()))
  await fixture.settled()
  t.is(held.length, 1, 'one message is sent')
  t.is(held.length, 1, 'the others wait for its result')
  held[0]?.()
  await fixture.settled()
  t.is(held.length, 4, 'the others follow together')
  for (const go of held) go()
  await fixture.settled()
  t.is(fixture.attempted.length, 6, 'all are sent')
})
