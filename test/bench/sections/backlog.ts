/** Section "backlog": what a long queue does to intake, memory, start and delivery. */
import { within } from '../../support/deadline.ts'
import { Daemon, newAdminKey } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { contender, posternOptions, provision, recipient, sender, silentHost } from '../contenders.ts'
import { loadBySmtp } from '../load/generators.ts'
import { loadContender } from './intake.ts'
import type { BenchOptions } from '../options.ts'
import { memoryOf } from '../resources.ts'
import { judge, row, type Section, type Verdict } from '../results.ts'
import { SmtpSink } from '../load/smtp-sink.ts'

interface Backlog {
  readonly queued: number
  readonly intakePerSecond: number
  readonly intakeP99: number
  readonly residentMebibytes: number
  /** From the spawn after a kill to the ready file. */
  readonly startSeconds: number
  /** Messages a second that leave after that start, once the smart host takes them. */
  readonly deliveredPerSecond: number
}

const mostDelivered = 20_000

/** Fills the queue, measures intake on top of it, kills the daemon, and measures its start and its deliveries. */
async function measureAt(queued: number, options: BenchOptions): Promise<Backlog> {
  await using folder = await temporaryFolder('bench-backlog')
  const adminKey = newAdminKey()
  const before = await fill(folder.path, adminKey, queued, options)
  await using sink = await SmtpSink.start(before.outlet)
  const begun = performance.now()
  await using daemon = await Daemon.start(posternOptions(folder.path), adminKey)
  const startSeconds = (performance.now() - begun) / 1000
  await within(30_000, 'the first delivery after the start', sink.reached(1))
  const [first, from] = [sink.count, performance.now()]
  const count = Math.min(mostDelivered, Math.floor(queued * 0.8))
  const until = await within(120_000, `delivery of ${String(count)} of ${String(queued)}`, sink.reached(first + count))
  const deliveredPerSecond = count / ((until - from) / 1000)
  await daemon.kill()
  return { queued, ...before.figures, startSeconds, deliveredPerSecond }
}

interface Filled {
  readonly outlet: number
  readonly figures: Pick<Backlog, 'intakePerSecond' | 'intakeP99' | 'residentMebibytes'>
}

/** The first life: ends with a kill, with `queued` messages and those of the measurement in the queue. */
async function fill(folder: string, adminKey: string, queued: number, options: BenchOptions): Promise<Filled> {
  await using host = await silentHost()
  await using daemon = await Daemon.start(posternOptions(folder), adminKey)
  const login = await provision(daemon, host.port, 'live')
  const subject = { ...contender(daemon, login), [Symbol.asyncDispose]: () => Promise.resolve() }
  const job = { port: subject.port, login, sessions: 50, warmupSeconds: 0, from: sender, to: recipient, perConnection: false }
  await loadBySmtp({ ...job, seconds: 1800, most: queued, size: 4096 })
  const { perSecond, p99 } = await loadContender(subject, { size: 4096, perConnection: false }, options)
  const residentMebibytes = await memoryOf(daemon.addresses.pid, 'VmRSS')
  await daemon.kill()
  return { outlet: host.port, figures: { intakePerSecond: perSecond, intakeP99: p99 ?? NaN, residentMebibytes } }
}

export async function measureBacklog(options: BenchOptions): Promise<Section> {
  const backlogs: Backlog[] = []
  for (const queued of options.backlogs) backlogs.push(await measureAt(queued, options))
  const cells = (backlog: Backlog): number[] => [
    ...[backlog.intakePerSecond, backlog.intakeP99, backlog.residentMebibytes],
    ...[backlog.startSeconds, backlog.deliveredPerSecond],
  ]
  return {
    name: 'backlog',
    lines: [
      'Messages of 4 KiB queued for a smart host that does not answer; then a kill, a start, and a smart host that does.',
      row('', ['intake/s', 'p99 ms', 'MiB', 'start s', 'deliv./s']),
      ...backlogs.map((backlog) => row(`${backlog.queued.toLocaleString('en')} queued`, cells(backlog))),
    ],
    verdicts: backlogVerdicts(backlogs),
    data: backlogs,
  }
}

function backlogVerdicts(backlogs: readonly Backlog[]): Verdict[] {
  const [shortest, longest] = [backlogs[0], backlogs.at(-1)]
  if (!shortest || !longest) return []
  const label = `backlog of ${longest.queued.toLocaleString('en')} against ${shortest.queued.toLocaleString('en')}`
  const slowest = Math.max(...backlogs.map(({ startSeconds, queued }) => startSeconds / Math.max(1, queued / 100_000)))
  return [
    judge(`${label}: intake >= 0.8 x`, longest.intakePerSecond / shortest.intakePerSecond, '>=', 0.8, 'x'),
    judge(`${label}: delivery >= 0.8 x`, longest.deliveredPerSecond / shortest.deliveredPerSecond, '>=', 0.8, 'x'),
    judge('start after a kill: <= 5 s per 100,000 queued', slowest, '<=', 5, 's'),
    judge(`memory with ${longest.queued.toLocaleString('en')} queued: <= 350 MiB`, longest.residentMebibytes, '<=', 350, 'MiB'),
  ]
}
