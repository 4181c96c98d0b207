/** Failover over a real store and the real queue: who gets a message next, when, and that nobody gets it twice. */
import test, { type ExecutionContext } from 'ava'
import { failoverPolicies, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { readAttempts } from '#core/trace/attempt-record.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { houseOf, organizationId, projectId, quiet, until, type House } from '../house.ts'
import { hang, report, ScriptedTransport, take, type Call, type Script } from '../scripted-transport.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
type Scripts = Readonly<Record<string, Script>>

/** A primary and two fallbacks, each with a script of its own. */
async function chain(t: ExecutionContext, scripts: Scripts, changes: Partial<FailoverPolicy> = {}): Promise<House> {
  const transport = new ScriptedTransport((call) => (scripts[call.target.destinationId] ?? ((one: Call) => take(one)))(call))
  const house = await houseOf(t, { transport })
  for (const [id, name] of [
    ['dst_1', 'Primary'],
    ['dst_2', 'First'],
    ['dst_3', 'Second'],
  ] as const)
    await house.destination({ id, name })
  await house.rule({ any: true })
  await house.put<FailoverPolicy>(failoverPolicies, {
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
  return house
}

const places = (house: House): string[] => house.transport.calls.map(({ target }) => target.destinationId)
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
  ['puts everybody off with 4xx', defer],
] as const) {
  test(`a message goes on at once when the primary ${what}, and past a first fallback that does the same`, async (t) => {
    const house = await chain(t, { dst_1: script, dst_2: script })
    const { traceId } = await house.submit()
    await until('three attempts', () => house.attempted.length === 3)
    await quiet(house)
    t.deepEqual(places(house), ['dst_1', 'dst_2', 'dst_3'])
    t.like(await house.trace(traceId), { status: 'sent', attempts: 3, destinationId: 'dst_3' })
    const { attempts } = await house.traces.get({ organizationId: 'org_1' } as never, traceId)
    t.deepEqual(column(attempts, 'destinationId'), ['dst_1', 'dst_2', 'dst_3'])
    const moves = (await house.story(traceId)).filter((line) => line.startsWith('failover:'))
    t.is(moves.length, 2)
    t.regex(moves[0] ?? '', /the message goes on to the fallback First\.$/)
    t.regex(moves[1] ?? '', /the message goes on to the fallback Second\.$/)
    t.is(await house.queueLength(), 0)
  })
}

test('recipients that were accepted or refused for good are never handed to a fallback', async (t) => {
  const verdicts = { 'in@example.net': 'accepted', 'no@example.net': 'permanent', 'later@example.net': 'transient' } as const
  const house = await chain(t, { dst_1: (call) => take(call, verdicts) })
  const { traceId } = await house.submit({ rcptTo: Object.keys(verdicts) })
  await until('two attempts', () => house.attempted.length === 2)
  await quiet(house)
  t.deepEqual(house.transport.attemptsAt(traceId), [Object.keys(verdicts), ['later@example.net']])
  const { recipients } = await house.trace(traceId)
  t.deepEqual(column(recipients, 'status'), ['sent', 'failed', 'sent'])
})

test('a message with an unknown outcome goes to a fallback only after its wait, and the third attempt never comes', async (t) => {
  const lost: Script = async (call) => {
    await call.job.beforeFinalDot()
    return report(call, 'unknown', 'connection_lost')
  }
  const house = await chain(t, { dst_1: lost, dst_2: lost })
  const { traceId } = await house.submit()
  await until('lost', () => house.attempted.length === 1)
  t.is((await house.trace(traceId)).destinationId, 'dst_2')
  house.clock.advance(14 * minute)
  await quiet(house)
  t.deepEqual(places(house), ['dst_1'])
  house.clock.advance(2 * minute)
  await until('the fallback', () => house.attempted.length === 2)
  house.clock.advance(24 * 60 * minute)
  await quiet(house)
  t.deepEqual(places(house), ['dst_1', 'dst_2'])
  t.is((await house.trace(traceId)).status, 'failed')
})

test('after the last fallback the retry schedule begins at the primary again, and a round counts once', async (t) => {
  const house = await chain(t, { dst_1: defer, dst_2: defer, dst_3: defer })
  const { traceId } = await house.submit()
  await until('the first round', () => house.attempted.length === 3)
  await quiet(house)
  t.like(await house.trace(traceId), { status: 'queued', destinationId: 'dst_1', nextAttemptAt: house.clock.now() + minute })
  t.regex((await house.story(traceId)).join('\n'), /has no further fallback; its next attempt is at Primary again/)
  house.clock.advance(minute)
  await until('the second round', () => house.attempted.length === 6)
  await quiet(house)
  t.like(await house.trace(traceId), { nextAttemptAt: house.clock.now() + 5 * minute })
  t.deepEqual(places(house).slice(3), ['dst_1', 'dst_2', 'dst_3'])
})

test('a fallback in sandbox mode is passed over, and the trace says so', async (t) => {
  const house = await chain(t, { dst_1: defer })
  await house.destination({ id: 'dst_2', name: 'First', mode: 'sandbox' })
  const { traceId } = await house.submit()
  await until('two attempts', () => house.attempted.length === 2)
  t.deepEqual(places(house), ['dst_1', 'dst_3'])
  t.regex((await house.story(traceId)).join('\n'), /skips First \(in sandbox mode\) and goes on to the fallback Second/)
})

test('what a policy does not name stays at the primary', async (t) => {
  const house = await chain(t, { dst_1: defer }, { on: ['breaker_open', 'rate_limited'] })
  const { traceId } = await house.submit()
  await until('one attempt', () => house.attempted.length === 1)
  await quiet(house)
  t.deepEqual(places(house), ['dst_1'])
  t.like(await house.trace(traceId), { status: 'queued', destinationId: 'dst_1', nextAttemptAt: house.clock.now() + minute })
})

test('while the breaker of the primary is open messages pass it over without an attempt, and its trial lets them come back', async (t) => {
  let isDead = true
  const house = await chain(
    t,
    { dst_1: (call) => (isDead ? report(call, 'transient', 'connect_refused') : take(call)) },
    { on: ['breaker_open', 'transient'] },
  )
  for (let n = 1; n <= 5; n++) {
    await house.submit()
    await until(`message ${n}`, () => house.attempted.length === 2 * n)
  }
  t.like(house.breakers, [{ id: 'dst_1', phase: 'open' }])
  const { traceId } = await house.submit()
  await until('the sixth', () => house.attempted.length === 11)
  t.is(places(house).at(-1), 'dst_2')
  t.like(await house.trace(traceId), { status: 'sent', attempts: 1, destinationId: 'dst_2' })
  const story = await house.story(traceId)
  t.regex(story[3] ?? '', /^failover: The circuit breaker of the destination is open: the message goes on to the fallback First\.$/)
  isDead = false
  house.clock.advance(31_000)
  await house.submit()
  await until('the trial', () => house.attempted.length === 12)
  t.is(places(house).at(-1), 'dst_1')
  t.is(house.breakers.at(-1)?.phase, 'closed')
})

test('when every breaker is open the message waits without an attempt, and goes once one closes', async (t) => {
  const dead = refuse('connect_refused')
  const scripts: Record<string, Script> = { dst_1: dead, dst_2: dead, dst_3: dead }
  const house = await chain(t, scripts)
  for (let n = 1; n <= 5; n++) {
    await house.submit()
    await until(`message ${n}`, () => house.attempted.length === 3 * n)
  }
  const { traceId } = await house.submit()
  await quiet(house)
  t.is(house.attempted.length, 15)
  t.like(await house.trace(traceId), { status: 'queued', attempts: 0, destinationId: 'dst_1' })
  for (const id of Object.keys(scripts)) delete scripts[id]
  house.clock.advance(31_000)
  await until('sent', async () => (await house.trace(traceId)).status === 'sent')
  house.clock.advance(10 * minute)
  await until('all are sent', async () => (await house.queueLength()) === 0)
  t.is(new Set(house.attempted.filter(({ trace }) => trace.status === 'sent').map(({ trace }) => trace.id)).size, 6)
  t.is(house.attempted.filter(({ trace }) => trace.status === 'sent').length, 6, 'each once')
})

test('a primary that is too slow is passed over', async (t) => {
  const slow: Script = async (call) => ({ ...(await take(call)), milliseconds: { total: 5000 } })
  const house = await chain(t, { dst_1: slow }, { on: ['latency'], latencyMs: 2000 })
  for (let n = 1; n <= 11; n++) {
    const { traceId } = await house.submit()
    await until(`message ${n}`, async () => (await house.trace(traceId)).status === 'sent')
  }
  t.deepEqual(places(house), [...Array.from({ length: 10 }, () => 'dst_1'), 'dst_2'])
})

test('an attempt that our own stop broke off is handed back to the same destination', async (t) => {
  const house = await chain(t, { dst_1: (call) => (call.nth === 1 ? report(call, 'transient', 'closed') : take(call)) })
  await house.submit()
  await until('sent', () => house.attempted.length === 2)
  t.deepEqual(places(house), ['dst_1', 'dst_1'])
})

test('a message that a crash left at a fallback goes on there', async (t) => {
  const house = await chain(t, { dst_1: defer, dst_2: () => new Promise(() => {}) })
  const { traceId } = await house.submit()
  await until('at the fallback', () => house.transport.calls.length === 2)
  const next = await house.crash({ transport: new ScriptedTransport() })
  await next.queue.start()
  await until('sent', () => next.attempted.length === 1)
  t.deepEqual(places(next), ['dst_2'])
  t.is((await next.trace(traceId)).status, 'sent')
})

test('what a crash left in doubt goes past an open breaker only after the wait of an unknown outcome', async (t) => {
  const house = await chain(t, {
    dst_1: async (call) => {
      await call.job.beforeFinalDot()
      return hang(call)
    },
  })
  const { traceId } = await house.submit()
  await until('the start is on record', async () => (await readAttempts(house.database, organizationId, traceId)).length === 1)
  const transport = new ScriptedTransport((call) =>
    call.target.destinationId === 'dst_1' ? report(call, 'transient', 'connect_refused') : take(call),
  )
  const next = await house.crash({ transport })
  for (let n = 1; n <= 5; n++) {
    await next.submit()
    await until(`message ${n}`, () => next.attempted.length === 2 * n)
  }
  t.like(next.breakers, [{ id: 'dst_1', phase: 'open' }])
  await next.queue.start()
  await until('it waits', async () => (await next.trace(traceId)).nextAttemptAt === next.clock.now() + 15 * minute)
  t.deepEqual(transport.attemptsAt(traceId), [])
  t.like(await next.trace(traceId), { status: 'queued', destinationId: 'dst_1', attempts: 1 })
  next.clock.advance(15 * minute)
  await until('sent', async () => (await next.trace(traceId)).status === 'sent')
  t.is((await next.trace(traceId)).destinationId, 'dst_2')
})

test('what a throttling provider puts off goes on by a policy for that, and so does what comes while it rests', async (t) => {
  const throttled: Script = (call) => ({
    ...report(call, 'transient'),
    recipients: call.job.rcptTo.map((address) => ({
      address,
      verdict: 'transient' as const,
      reply: { code: 421, enhanced: '4.7.28', text: 'Rate' },
    })),
  })
  const house = await chain(t, { dst_1: throttled }, { on: ['rate_limited'] })
  const first = await house.submit()
  await until('it is sent', async () => (await house.trace(first.traceId)).status === 'sent')
  const second = await house.submit()
  await until('so is the next', async () => (await house.trace(second.traceId)).status === 'sent')
  t.deepEqual(places(house), ['dst_1', 'dst_2', 'dst_2'])
  const { attempts } = await house.traces.get({ organizationId: 'org_1' } as never, first.traceId)
  t.like(attempts[0], { error: { code: 'provider_rate_limited' }, failover: { to: 'dst_2', cause: 'rate_limited' } })
  t.like((await house.trace(second.traceId)).failover?.passes[0], { from: 'dst_1', to: 'dst_2', cause: 'rate_limited' })
  house.clock.advance(5000)
  const third = await house.submit()
  await until('the third is sent', async () => (await house.trace(third.traceId)).status === 'sent')
  t.deepEqual(places(house).slice(3), ['dst_1', 'dst_2'])
})

test('a provider that throttled takes one message at a time again, also where messages may pass it over', async (t) => {
  const held: (() => void)[] = []
  const script: Script = async (call) => {
    if (call.target.destinationId !== 'dst_1') return take(call)
    if (house.board.throttledMs('dst_1') === 0 && house.clock.now() === startOfTime)
      return report(call, 'transient', 'provider_rate_limited')
    await new Promise<void>((go) => held.push(go))
    return take(call)
  }
  const house = await chain(t, { dst_1: script }, { on: ['rate_limited'] })
  const first = await house.submit()
  await until('it is sent', async () => (await house.trace(first.traceId)).status === 'sent')
  t.is(house.board.throttledMs('dst_1'), 5000)
  house.clock.advance(5000)
  await Promise.all([1, 2, 3, 4].map(() => house.submit()))
  await until('one is handed over', () => held.length === 1)
  await quiet(house)
  t.is(held.length, 1, 'the others wait for it')
  held[0]?.()
  await until('the others follow together', () => held.length === 4)
  for (const go of held) go()
  await until('all are sent', () => house.attempted.length === 6)
})
