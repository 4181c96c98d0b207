/** The report reader: direct parsing, parsing on the thread, and a thread that does not answer. */
import test, { type ExecutionContext } from '#test'
import type { Clock } from '#core/clock.ts'
import { ReportReader } from '#ingest/report/report-reader.ts'
import { wallFactor } from '#ingest/threads/thread-time.ts'
import { octetsOf } from './report-fixtures.ts'
import { column } from '../../support/column.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const limits = { deadlineMs: 10_000, idleMs: 30_000 }
const small = octetsOf('made/qmail-multi.eml')
const large = Buffer.concat([small, Buffer.from('Some line of the returned message.\n'.repeat(4000))])

/** Reads only mails with the beginning of a real mail. */
const misbehaving = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ raw }) => {
      if (raw[0] === 0x21) for (;;);
      if (raw[0] === 0x22) throw new Error('as asked')
      parentPort.postMessage({ kind: 'report', reading: { kind: 'mdn', events: [] } })
    })
  `)}`,
)

/** A clock whose deadlines expire immediately. */
class HastyClock implements Clock {
  now(): number {
    return 0
  }
  monotonic(): number {
    return 0
  }
  after(ms: number, work: () => void): { cancel(): void } {
    const timer = ms === limits.deadlineMs * wallFactor ? setImmediate(work) : undefined
    return { cancel: () => clearImmediate(timer) }
  }
}

function reader(t: ExecutionContext, clock: Clock = new FakeClock(), entry?: URL): ReportReader {
  const made = new ReportReader(clock, limits, entry)
  t.teardown(() => made[Symbol.asyncDispose]())
  return made
}

test('ReportReader: reads small mails directly and large ones on a thread, equally', async (t) => {
  const reports = reader(t)
  const atOnce = await reports.read(small)
  t.false(reports.running)
  t.is(atOnce.events.length, 3)
  const inTurn = await reports.read(large)
  t.true(reports.running)
  t.deepEqual(inTurn, atOnce)
})

test('ReportReader: the mail stays usable for the caller', async (t) => {
  const copy = Buffer.from(large)
  await reader(t).read(large)
  t.deepEqual(large, copy)
})

test('ReportReader: reads simultaneous mails', async (t) => {
  const reports = reader(t)
  const readings = await Promise.all([large, small, large, large].map((mail) => reports.read(mail)))
  t.deepEqual(column(readings, 'events', 'length'), [3, 3, 3, 3])
})

test('ReportReader: a timeout gives a problem without events', async (t) => {
  const endless = Buffer.alloc(100_000, 0x21)
  const reading = await reader(t, new HastyClock(), misbehaving).read(endless)
  t.deepEqual(reading, { kind: 'none', events: [], problem: 'The message took too long to parse.' })
})

test('ReportReader: a new thread reads the next mail after a crash', async (t) => {
  const reports = reader(t, new FakeClock(), misbehaving)
  const crashed = await reports.read(Buffer.alloc(100_000, 0x22))
  t.like(crashed, { kind: 'none', problem: 'The message could not be parsed.' })
  t.like(await reports.read(Buffer.alloc(100_000, 0x23)), { kind: 'mdn' })
})

test('ReportReader: after disposal, large mails give a problem', async (t) => {
  const reports = new ReportReader(new FakeClock())
  await reports[Symbol.asyncDispose]()
  t.regex((await reports.read(large)).problem ?? '', /shutting down/)
  t.false(reports.running)
})
