/** Turns on the parsing threads: the load of an organization does not delay the others. */
import { once } from 'node:events'
import { BroadcastChannel } from 'node:worker_threads'
import test, { type ExecutionContext } from '#test'
import type { Clock } from '#core/clock.ts'
import { ParserPool, type ParserPoolLimits } from '#ingest/threads/parser-pool.ts'
import { wallFactor } from '#ingest/threads/thread-time.ts'
import { waiting } from '../../support/waits.ts'

const starved = 'a thread without the processor'

/** Returns the text of a message. Never answers `loop`, and answers `starved` when the test requests it, without using the processor. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { BroadcastChannel, parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ raw }) => {
      const text = Buffer.from(raw).toString()
      if (text.startsWith('loop')) for (;;);
      const answer = () => parentPort.postMessage({ kind: 'message', message: { subject: text } })
      if (text !== 'starved') return answer()
      const channel = new BroadcastChannel('${starved}')
      channel.onmessage = () => {
        channel.close()
        answer()
      }
      channel.postMessage('here')
    })
  `)}`,
)

/** A clock with timers that the test runs. */
class HeldClock implements Clock {
  readonly #pending = new Set<{ readonly ms: number; readonly work: () => void }>()
  now(): number {
    return 0
  }
  monotonic(): number {
    return 0
  }
  after(ms: number, work: () => void): { cancel(): void } {
    const timer = { ms, work }
    this.#pending.add(timer)
    return { cancel: () => void this.#pending.delete(timer) }
  }
  get times(): readonly number[] {
    return [...this.#pending].map(({ ms }) => ms)
  }
  /** Runs the timers of these durations. */
  run(...wanted: readonly number[]): void {
    for (const timer of [...this.#pending]) {
      if (!wanted.includes(timer.ms)) continue
      this.#pending.delete(timer)
      timer.work()
    }
  }
}

const limits = { quickMs: 250, smallestMs: 4000, deadlineMs: 10_000, idleMs: 30_000 }
/** The timers of the quick lane, for a running and for a starting thread. */
const quick = [250, 1000].map((ms) => ms * wallFactor)

function pool(t: ExecutionContext, clock: Clock, changes: Partial<ParserPoolLimits> = {}): ParserPool {
  const made = new ParserPool(entry, clock, { ...limits, ...changes })
  t.teardown(() => made[Symbol.asyncDispose]())
  return made
}

const raw = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

async function ask(made: ParserPool, turn: string, text: string, octets = 100): Promise<string> {
  const answer = await made.ask({ turn, octets }, () => ({ kind: 'read', raw: raw(text), cut: false }))
  if (answer.kind === 'message') return answer.message.subject
  return answer.kind === 'failed' ? answer.sentence : answer.kind
}

test('ParserPool: a slow message moves to the slow lane; others continue', async (t) => {
  const clock = new HeldClock()
  const made = pool(t, clock)
  const hostile = ask(made, 'org_1', 'loop')
  const honest = ask(made, 'org_2', 'two')
  clock.run(...quick)
  t.is(await honest, 'two')
  for (let i = 0; i < 20; i++) t.is(await ask(made, `org_${String(i + 2)}`, String(i)), String(i))
  clock.run((4000 + (100 / (1024 * 1024)) * 1000) * wallFactor)
  t.is(await hostile, 'The message took too long to parse.')
})

test('ParserPool: all messages of a slow organization wait in the slow lane', async (t) => {
  const clock = new HeldClock()
  const made = pool(t, clock)
  const answers: string[] = []
  const told = (text: string): void => void answers.push(text)
  const all = [ask(made, 'org_1', 'loop', 0).then(told), ask(made, 'org_1', 'one').then(told), ask(made, 'org_1', 'two').then(told)]
  clock.run(...quick)
  t.is(await ask(made, 'org_2', 'other'), 'other')
  t.deepEqual(answers, [])
  clock.run(4000 * wallFactor)
  await Promise.all(all)
  t.deepEqual(answers, ['The message took too long to parse.', 'one', 'two'])
})

test('ParserPool: a slow message restarts later if the slow lane is busy', async (t) => {
  const clock = new HeldClock()
  const made = pool(t, clock)
  let loads = 0
  const first = ask(made, 'org_1', 'loop', 0)
  clock.run(...quick)
  const second = made.ask({ turn: 'org_2', octets: 0 }, () => {
    loads++
    return { kind: 'read', raw: raw(loads === 1 ? 'loop' : 'late'), cut: false }
  })
  const third = ask(made, 'org_3', 'three')
  clock.run(...quick)
  t.is(await third, 'three')
  t.is(loads, 1)
  clock.run(4000 * wallFactor)
  t.is(await first, 'The message took too long to parse.')
  t.like(await second, { kind: 'message', message: { subject: 'late' } })
  t.is(loads, 2)
})

test('ParserPool: organizations take turns', async (t) => {
  const made = pool(t, new HeldClock())
  const order: string[] = []
  const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => ask(made, name.charAt(0), name).then((text) => order.push(text)))
  await Promise.all(asked)
  t.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

test('ParserPool: at most two messages are in memory', async (t) => {
  const clock = new HeldClock()
  const made = pool(t, clock)
  let [held, most] = [0, 0]
  const stuck = ask(made, 'org_0', 'loop', 0)
  clock.run(...quick)
  const all = Array.from({ length: 20 }, (_, i) =>
    made
      .ask({ turn: `org_${String(1 + (i % 5))}`, octets: 100 }, async () => {
        most = Math.max(most, ++held)
        await new Promise(setImmediate)
        return { kind: 'read', raw: raw(String(i)), cut: false }
      })
      .then(() => held--),
  )
  await Promise.all(all)
  t.is(most, 1)
  clock.run(4000 * wallFactor)
  await stuck
})

test('ParserPool: limits processor time, not time on a busy machine', async (t) => {
  const clock = new HeldClock()
  const made = pool(t, clock)
  const channel = new BroadcastChannel(starved)
  t.teardown(() => channel.close())
  const ordinary = ask(made, 'org_1', 'starved', 0)
  await waiting('the thread has the message', once(channel, 'message'))
  for (let looks = 0; looks < 3; looks++) {
    clock.run(...clock.times.filter((ms) => ms <= 4000))
    await new Promise(setImmediate)
  }
  channel.postMessage('go on')
  t.is(await ordinary, 'starved')
})

test('ParserPool: the time limit grows with the size, up to a maximum', (t) => {
  const clock = new HeldClock()
  for (const [octets, ms] of [
    [0, 4000],
    [1024 * 1024, 5000],
    [64 * 1024 * 1024, 10_000],
  ] as const) {
    const made = pool(t, clock)
    void ask(made, 'org_1', 'x', octets)
    setImmediate(() => t.true(clock.times.includes(ms)))
  }
  return new Promise<void>((done) => setImmediate(() => setImmediate(done)))
})

test('ParserPool: disposal resolves queued and later requests', async (t) => {
  const clock = new HeldClock()
  const made = new ParserPool(entry, clock, limits)
  const first = ask(made, 'org_1', 'loop')
  clock.run(...quick)
  const others = [ask(made, 'org_1', 'one'), ask(made, 'org_2', 'loop'), ask(made, 'org_2', 'two')]
  await made[Symbol.asyncDispose]()
  for (const answer of await Promise.all([first, ...others, ask(made, 'org_3', 'late')])) t.regex(answer, /shutting down/)
})

test('ParserPool: a failed request preparation rejects for its caller only', async (t) => {
  const made = pool(t, new HeldClock())
  const broken = made.ask({ turn: 'org_1', octets: 1 }, () => Promise.reject(new Error('the disk is gone')))
  const next = ask(made, 'org_1', 'next')
  await t.throwsAsync(broken, { message: 'the disk is gone' })
  t.is(await next, 'next')
})
