/** Section "lookup": costs of intake in a store full of captures and traces, and the duration of reads in it. */
import { Daemon } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { contender, posternOptions, provision, type Contender } from '../contenders.ts'
import { percentile } from '../load/load-job.ts'
import { measure } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { memoryOf, untilQuiet } from '../resources.ts'
import { costHead, costRow, figure, judge, row, sampleHead, sampleRow, type Sample, type Section, type Verdict } from '../results.ts'
import { accept, pipelined, usual } from './intake.ts'

const calls = 500
const fillSeconds = 1800
/** Fraction of the messages of a measurement, because reading a capture costs more than accepting it. */
const share = 0.5
/** Maximum wait for work after an acknowledgement, such as reading captures. */
const settleSeconds = 60

interface Stored {
  readonly captures: number
  /** Cost of another capture, including the background read after its acknowledgement. */
  readonly intake: Sample
  /** True if the background read of earlier captures was still running, which adds to the cost. */
  readonly isBehind: boolean
  /** Private memory of the process, without page cache. */
  readonly anonymousMebibytes: number
}

/** Fills the store with captures and their traces, measures intake meanwhile, then measures each read. */
export async function measureLookup(options: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-lookup')
  await using daemon = await Daemon.start(posternOptions(folder.path))
  const login = await provision(daemon, 25, 'sandbox')
  const subject = { ...contender(daemon, login), [Symbol.asyncDispose]: () => Promise.resolve() }
  const { stored, traceIds, captures } = await fill(subject, daemon.addresses.pid, options)
  const inbox = await catchAllInbox(daemon.rest)
  const readingSeconds = await untilQuiet(daemon.addresses.pid, fillSeconds)
  const rows = captures.toLocaleString('en')
  const reads = {
    'trace by id': (n: number) => `/v1/traces/${String(traceIds[(n * 7919) % traceIds.length])}`,
    'newest 50 traces': () => '/v1/traces?limit=50',
    'newest 50 captures': () => `/v1/inboxes/${inbox}/messages?limit=50`,
  }
  const timed = []
  for (const [name, path] of Object.entries(reads)) timed.push({ name, ...(await time(daemon, path)) })
  return {
    name: 'lookup',
    lines: [
      'Intake of captures, 4 KiB, reused, on top of those in the store:',
      sampleHead,
      ...stored.map((one) => sampleRow(label(one), one.intake)),
      'Cost of one capture, including its background read:',
      costHead,
      ...stored.map((one) => costRow(label(one), one.intake)),
      ...stored
        .filter(({ isBehind }) => isBehind)
        .map((one) => `At ${label(one)} earlier ones were still being read after ${settleSeconds} s: the costs above contain that.`),
      'Private memory, without page cache:',
      row('', ['own MiB']),
      ...stored.map((one) => row(label(one), [one.anonymousMebibytes])),
      `The background read ended ${figure(readingSeconds)} s after the last measurement.`,
      `Reads over one kept connection, one after the other, with ${rows} captures and as many traces stored.`,
      row('', ['p50 ms', 'p99 ms']),
      ...timed.map(({ name, p50, p99 }) => row(name, [p50, p99])),
    ],
    verdicts: [...growthOf(stored), ...timed.map(({ name, p99 }) => judge(`${name} at ${rows} rows: p99 <= 5 ms`, p99, '<=', 5, 'ms'))],
    data: { stored, rows: captures, readingSeconds, timed },
  }
}

interface Filled {
  readonly stored: readonly Stored[]
  /** Trace ids of some captures. */
  readonly traceIds: readonly string[]
  readonly captures: number
}

async function fill(subject: Contender, pid: number, { stored: sizes, cold, messages, seconds }: BenchOptions): Promise<Filled> {
  const stored: Stored[] = []
  const traceIds: string[] = []
  let captures = (await accept(subject, usual, cold, fillSeconds)).acknowledged
  for (const size of sizes) {
    if (size > captures) {
      const filled = await accept(subject, { ...pipelined, size: 1024 }, size - captures, fillSeconds)
      captures += filled.acknowledged
      traceIds.push(...filled.traceIds)
    }
    const isBehind = (await untilQuiet(pid, settleSeconds)) > settleSeconds
    const { sample } = await measure(subject, async () => {
      const result = await accept(subject, usual, Math.ceil(messages * share), seconds)
      captures += result.acknowledged
      await untilQuiet(pid, settleSeconds)
      return result
    })
    stored.push({ captures: size, intake: sample, isBehind, anonymousMebibytes: await memoryOf(pid, 'RssAnon') })
  }
  return { stored, traceIds, captures }
}

const label = ({ captures }: Stored): string => `${captures.toLocaleString('en')} captures`

function growthOf(stored: readonly Stored[]): Verdict[] {
  const [fewest, most] = [stored[0], stored.at(-1)]
  if (!fewest || !most) return []
  const ratio = most.intake.perSecond / fewest.intake.perSecond
  return [judge(`${label(most)} against ${label(fewest)}: intake >= 0.8 x`, ratio, '>=', 0.8, 'x')]
}

async function time(daemon: Daemon, path: (n: number) => string): Promise<{ readonly p50: number; readonly p99: number }> {
  const took: number[] = []
  for (let n = -50; n < calls; n++) {
    const begun = performance.now()
    await daemon.rest.must('GET', path(Math.abs(n)))
    if (n >= 0) took.push(performance.now() - begun)
  }
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) }
}
