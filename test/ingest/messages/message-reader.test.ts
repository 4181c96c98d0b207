/** The reader with its real thread: turns, deadlines, crashes, idle end. Hostile messages are tested in hostile-mail.test.ts. */
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from '#test'
import type { Clock } from '#core/clock.ts'
import { messageInMemory, type WaitingMessage } from '#core/capture/reading/message-reader.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { wallFactor } from '#ingest/threads/thread-time.ts'
import { column } from '../../support/column.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const newsletter = new URL('../../fixtures/mail/newsletter.eml', import.meta.url)
const limits = { deadlineMs: 10_000, idleMs: 30_000 }
const still = 'The raw message is still available.'

/** A thread that fails in the way that the message names, and otherwise returns the message's text. */
const misbehaving = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ raw }) => {
      const text = Buffer.from(raw).toString()
      if (text === 'loop') for (;;);
      if (text === 'throw') throw new Error('as asked')
      if (text === 'exit') process.exit(3)
      if (text === 'memory') for (const kept = []; ; ) kept.push(new Array(131072).fill(kept.length))
      parentPort.postMessage({ kind: 'message', message: { subject: text, names: Object.keys(process.env) } })
    })
  `)}`,
)

/** A clock with timers that the test runs. */
class HeldClock implements Clock {
  readonly pending = new Map<object, { ms: number; work: () => void }>()
  now(): number {
    return 0
  }
  monotonic(): number {
    return 0
  }
  after(ms: number, work: () => void): { cancel(): void } {
    const timer = { cancel: () => void this.pending.delete(timer) }
    this.pending.set(timer, { ms, work })
    return timer
  }
  /** Runs the single timer of that duration. */
  run(ms: number): void {
    for (const [timer, entry] of this.pending) {
      if (entry.ms !== ms) continue
      this.pending.delete(timer)
      entry.work()
      return
    }
    throw new Error(`no timer of ${ms} ms`)
  }
}

function reader(t: ExecutionContext, clock: Clock = new FakeClock(), entry?: URL): WorkerMessageReader {
  const made = new WorkerMessageReader(clock, limits, entry)
  t.teardown(() => made[Symbol.asyncDispose]())
  return made
}

const held = (raw: Uint8Array, organizationId = 'org_1'): WaitingMessage => messageInMemory(organizationId, raw)

const subject = async (made: WorkerMessageReader, raw: string): Promise<string> => {
  const result = await made.read(held(Buffer.from(raw)))
  return result.ok ? result.message.subject : result.unreadable
}

test('read() returns the message', async (t) => {
  const raw = await readFile(newsletter)
  const before = Buffer.from(raw)
  const result = await reader(t).read(held(raw))
  t.true(result.ok && result.message.subject === 'Angebote für Sie' && result.message.attachments.length === 4)
  t.deepEqual(raw, before, 'the input is unchanged')
})

test('attachment() returns decoded octets, or undefined', async (t) => {
  const made = reader(t)
  const raw = await readFile(newsletter)
  t.is(Buffer.from((await made.attachment(held(raw), 1)) ?? []).toString(), '%PDF-1.4\n')
  t.is(await made.attachment(held(raw), 9), undefined)
  t.is(await made.attachment(held(Buffer.from('a{{{')), 0), undefined)
})

test('read() and attachment() run one after the other', async (t) => {
  const made = reader(t)
  const raw = await readFile(newsletter)
  const asked = Array.from({ length: 50 }, (_, at) => [subject(made, `Subject: n${at}\r\n\r\nx`), made.attachment(held(raw), 2)] as const)
  for (const [at, [read, attachment]] of asked.entries()) {
    t.is(await read, `n${at}`)
    t.is(Buffer.from((await attachment) ?? []).toString(), 'a,b')
  }
})

test('read() returns the first 32 MiB of a message, without a truncated attachment', async (t) => {
  const head =
    'Subject: big\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nContent-Type: image/png\r\n\r\n12345\r\n'
  const raw = Buffer.concat([Buffer.from(`${head}--b\r\nContent-Type: application/pdf\r\n\r\n`), Buffer.alloc(33 * 1024 * 1024, 'x\r\n')])
  const made = reader(t, new HeldClock())
  const result = await made.read(held(raw))
  t.true(result.ok)
  if (!result.ok) return
  t.is(result.message.text.trim(), 'hello')
  t.deepEqual(column(result.message.attachments, 'size'), [5])
  t.is(await made.attachment(held(raw), 1), undefined)
})

test('read() gives up at the deadline, and the next message has a fresh thread', async (t) => {
  const clock = new HeldClock()
  const made = reader(t, clock, misbehaving)
  t.is(await subject(made, 'one'), 'one')
  const stuck = subject(made, 'loop')
  const waiting = subject(made, 'two')
  await new Promise(setImmediate)
  clock.run(limits.deadlineMs * wallFactor)
  t.is(await stuck, `The message took too long to parse. ${still}`)
  t.is(await waiting, 'two')
})

test('attachment() gives up at the deadline too', async (t) => {
  const clock = new HeldClock()
  const made = reader(t, clock, misbehaving)
  const stuck = made.attachment(held(Buffer.from('loop')), 0)
  await new Promise(setImmediate)
  clock.run(limits.deadlineMs * wallFactor)
  t.is(await stuck, undefined)
})

for (const [way, sentence] of [
  ['throw', 'The message could not be parsed.'],
  ['exit', 'The message could not be parsed.'],
  ['memory', 'The message needs too much memory to parse.'],
] as const) {
  test(`read() and later messages survive a thread that ends by ${way}`, async (t) => {
    const made = reader(t, new HeldClock(), misbehaving)
    const bad = subject(made, way)
    const good = subject(made, 'good')
    t.is(await bad, `${sentence} ${still}`)
    t.is(await good, 'good')
  })
}

test('MessageReader: the thread starts with the first message and ends when idle', async (t) => {
  const clock = new HeldClock()
  const made = reader(t, clock, misbehaving)
  t.false(made.running)
  t.is(await subject(made, 'one'), 'one')
  t.true(made.running)
  t.is(clock.pending.size, 1, 'only the rest is timed')
  t.is(await subject(made, 'two'), 'two')
  t.is(clock.pending.size, 1)
  clock.run(limits.idleMs)
  t.false(made.running)
  t.is(await subject(made, 'three'), 'three')
})

test('MessageReader: the thread has no environment variables', async (t) => {
  t.true(Object.keys(process.env).length > 0)
  const result = await reader(t, new FakeClock(), misbehaving).read(held(Buffer.from('x')))
  t.deepEqual(result.ok && (result.message as { names?: string[] }).names, [])
})

test('expect() starts the thread early and keeps it until it is released', async (t) => {
  const clock = new HeldClock()
  const made = reader(t, clock, misbehaving)
  const [one, other] = [made.expect(), made.expect()]
  t.true(made.running)
  t.is(clock.pending.size, 0, 'nothing ends it')
  t.is(await subject(made, 'one'), 'one')
  one()
  t.is(clock.pending.size, 0)
  other()
  t.is(clock.pending.size, 1)
  const again = made.expect()
  t.is(clock.pending.size, 0)
  const reading = subject(made, 'two')
  again()
  t.is(await reading, 'two')
  clock.run(limits.idleMs)
  t.false(made.running)
  await made[Symbol.asyncDispose]()
  made.expect()()
  t.false(made.running)
})

test('MessageReader: disposal resolves waiting and later calls', async (t) => {
  const made = reader(t, new FakeClock(), misbehaving)
  const stuck = subject(made, 'loop')
  const waiting = subject(made, 'two')
  const attachment = made.attachment(held(Buffer.from('x')), 0)
  await new Promise(setImmediate)
  await made[Symbol.asyncDispose]()
  const closing = `The service is shutting down; read the message again later. ${still}`
  t.is(await stuck, closing)
  t.is(await waiting, closing)
  t.is(await attachment, undefined)
  t.is(await subject(made, 'three'), closing)
  t.false(made.running)
})
