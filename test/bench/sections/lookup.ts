/** Section "lookup": how long reads take when the store is full of traces and captures. */
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { posternOptions, provision, recipient, sender } from '../contenders.ts'
import { loadBySmtp } from '../load/generators.ts'
import { percentile, sessions } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { untilQuiet } from '../resources.ts'
import { figure, judge, row, type Section } from '../results.ts'
import { pipelined } from './intake.ts'

const calls = 500
const fillSeconds = 1800
/** How long the work that follows an acknowledgement, such as reading captures, may go on before reads are timed anyway. */
const settleSeconds = 120

/** Fills the store with captures, each of which has a trace, and reads one after the other. */
export async function measureLookup(options: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-lookup')
  await using daemon = await Daemon.start(posternOptions(folder.path, { POSTERN_LOG_LEVEL: 'warn' }))
  const login = await provision(daemon, 25, 'sandbox')
  const port = portOf(daemon.addresses.submission[0])
  const job = { port, login, sessions, size: 1024, from: sender, to: recipient, ...pipelined.dialog }
  const { traceIds, acknowledged } = await loadBySmtp({ ...job, count: options.rows, mostSeconds: fillSeconds })
  const settled = await untilQuiet(daemon.addresses.pid, settleSeconds)
  const inbox = await catchAllInbox(daemon.rest)
  const rows = acknowledged.toLocaleString('en')
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
      `Reads over one kept connection, one after the other, with ${rows} captures and as many traces stored.`,
      `The daemon was busy for ${figure(settled)} s after the last acknowledgement.`,
      row('', ['p50 ms', 'p99 ms']),
      ...timed.map(({ name, p50, p99 }) => row(name, [p50, p99])),
    ],
    verdicts: timed.map(({ name, p99 }) => judge(`${name} at ${rows} rows: p99 <= 5 ms`, p99, '<=', 5, 'ms')),
    data: { rows: acknowledged, settled, timed },
  }
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
