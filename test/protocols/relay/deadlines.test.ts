/** Timeouts with a manual clock: the sink is silent, the clock advances, the attempt ends. */
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import test from '#test'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkStep } from '../../support/smtp/sink-script.ts'

const summary = ({ recipients, error }: AttemptReport): readonly unknown[] => [recipients[0]?.verdict, error?.code, error?.phase]

const cases: readonly (readonly [SinkStep, number, string, string, string])[] = [
  ['greeting', 20_000, 'transient', 'greeting_timeout', 'greeting'],
  ['ehlo', 60_000, 'transient', 'command_timeout', 'ehlo'],
  ['starttls', 60_000, 'transient', 'command_timeout', 'tls'],
  ['auth', 60_000, 'transient', 'command_timeout', 'auth'],
  ['mail', 60_000, 'transient', 'command_timeout', 'mail'],
  ['rcpt', 60_000, 'transient', 'command_timeout', 'rcpt'],
  ['data', 60_000, 'transient', 'command_timeout', 'data'],
  ['dot', 120_000, 'unknown', 'final_timeout', 'final'],
]

for (const [step, ms, verdict, code, phase] of cases) {
  test(`deliver(): silent peer at ${step} fails after ${ms} ms`, async (t) => {
    const clock = new FakeClock()
    const sink = await testSink(t, {
      offers: [],
      security: 'starttls',
      users: { me: 'secret' },
      script: (name) => (name === step ? { act: 'hold' } : undefined),
    })
    const target = targetOf(sink, { security: 'starttls', username: 'me', password: 'secret' })
    const { promise: connected, resolve } = Promise.withResolvers<void>()
    const dial = (host: string, port: number): Socket => connect({ host, port }).once('connect', resolve)
    const attempt = testTransport(t, { clock, dial }).deliver(target, jobOf())
    await Promise.all([connected, sink.reached(step)])
    // After one turn of the event loop, all immediate consequences have happened.
    await new Promise(setImmediate)
    clock.advance(ms - 1)
    t.is(await Promise.race([attempt.then(() => 'over'), new Promise((resolve) => setImmediate(resolve, 'waiting'))]), 'waiting')
    clock.advance(1)
    t.deepEqual(summary(await attempt), [verdict, code, phase])
    await sink.open(0)
    t.is(clock.pending, 0)
  })
}

test('deliver(): bytes of an unfinished reply do not extend the deadline', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t, { script: (step) => (step === 'mail' ? { act: 'hold' } : undefined) })
  let socket: Socket | undefined
  const dial = (host: string, port: number): Socket => {
    socket = connect({ host, port })
    return socket
  }
  const attempt = testTransport(t, { clock, dial }).deliver(targetOf(sink), jobOf())
  await sink.reached('mail')
  for (const piece of ['2', '5', '0-x\r\n', '250']) {
    clock.advance(14_000)
    sink.connections[0]?.socket.write(piece)
    await once(socket ?? new Socket(), 'data')
  }
  clock.advance(4_000)
  t.deepEqual(summary(await attempt), ['transient', 'command_timeout', 'mail'])
})

test('deliver(): slow acceptance of content ends the attempt without a dot', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t)
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(70_000, 'a line\r\n')
    await new Promise(() => undefined)
  }
  const attempt = testTransport(t, { clock }).deliver(targetOf(sink), jobOf({ size: 160 * 1024, content }))
  await sink.reached('body')
  clock.advance(60_000 + 10_000)
  t.deepEqual(summary(await attempt), ['transient', 'body_timeout', 'body'])
})

test('deliver(): connection timeout is 10,000 ms', async (t) => {
  const clock = new FakeClock()
  const { promise: dialed, resolve } = Promise.withResolvers<void>()
  const dial = (): Socket => {
    resolve()
    return new Socket()
  }
  const attempt = testTransport(t, { clock, dial }).deliver(targetOf({ port: 25 }), jobOf())
  await dialed
  clock.advance(10_000)
  t.deepEqual(summary(await attempt), ['transient', 'connect_timeout', 'connect'])
  t.is(clock.pending, 0)
})

test('deliver(): tries the next address after 250 ms of silence', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t)
  const dialed: string[] = []
  const silent = new Socket()
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const dial = (host: string, port: number): Socket => {
    dialed.push(host)
    resolve()
    return host === '::1' ? silent : connect({ host, port })
  }
  const resolver = { resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: () => Promise.resolve(['::1']) }
  const attempt = testTransport(t, { clock, dial, resolver, guard: () => true }).deliver(targetOf(sink), jobOf())
  await first
  t.deepEqual(dialed, ['::1'])
  clock.advance(250)
  t.deepEqual(dialed, ['::1', '127.0.0.1'])
  t.like(await attempt, { address: '127.0.0.1', error: undefined })
  t.true(silent.destroyed)
})

test('deliver(): unused connection sends QUIT after 30,000 ms', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t)
  await testTransport(t, { clock }).deliver(targetOf(sink), jobOf())
  clock.advance(29_999)
  t.false(sink.lines.includes('QUIT'))
  clock.advance(1)
  await sink.reached('quit')
  await sink.open(0)
})

test('deliver(): a short deadline applies after a longer one', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t, { script: (step) => (step === 'dot' ? { act: 'hold' } : undefined) })
  const attempt = testTransport(t, { clock }).deliver(targetOf(sink), jobOf())
  await sink.reached('dot')
  clock.advance(25_000)
  sink.release()
  await attempt
  clock.advance(30_000)
  await sink.reached('quit')
  t.is(clock.pending, 1)
  clock.advance(2_000)
  await sink.open(0)
})
