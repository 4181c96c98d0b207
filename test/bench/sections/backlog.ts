/** Section "backlog": effects of a long queue on intake, memory, start and delivery. */
import { waiting } from '../../support/waits.ts'
import { Daemon, newAdminKey } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { contender, posternOptions, provision, silentHost } from '../contenders.ts'
import { measure } from '../measure.ts'
import { accept, pipelined, usual } from './intake.ts'
import type { BenchOptions } from '../options.ts'
import { memoryOf } from '../resources.ts'
import { costHead, costRow, judge, row, type Sample, type Section, type Verdict } from '../results.ts'
import { SmtpSink } from '../load/smtp-sink.ts'

interface Backlog {
  readonly queued: number
  /** Cost of a message with the backlog. */
  readonly intake: Sample
  /** Seconds to list the queue, to count it for a hold, and to search it for an unknown sender. */
  readonly answers: Answers
  readonly residentMebibytes: number
  /** Private memory of the process. The rest is page cache, which the kernel frees if memory is short. */
  readonly anonymousMebibytes: number
  /** Seconds from the start after a kill to the ready file. */
  readonly startSeconds: number
  /** Deliveries per second after that start, when the smart host accepts mail. */
  readonly deliveredPerSecond: number
}

interface Answers {
  readonly list: number
  readonly count: number
  readonly search: number
}

const mostDelivered = 20_000
const fillSeconds = 1800

/** Fills the queue, measures intake on top of it, kills the daemon, and measures its start and its deliveries. */
async function measureAt(queued: number, options: BenchOptions): Promise<Backlog> {
  await using folder = await temporaryFolder('bench-backlog')
  const adminKey = newAdminKey()
  const before = await fill(folder.path, adminKey, queued, options)
  await using sink = await SmtpSink.start(before.outlet)
  const begun = performance.now()
  await using daemon = await Daemon.start(posternOptions(folder.path), adminKey)
  const startSeconds = (performance.now() - begun) / 1000
  await waiting('the first delivery after the start', sink.reached(1))
  const [first, from] = [sink.count, performance.now()]
  const count = Math.min(mostDelivered, Math.floor(queued * 0.8))
  const until = await waiting(`delivery of ${String(count)} of ${String(queued)}`, sink.reached(first + count))
  const deliveredPerSecond = count / ((until - from) / 1000)
  await daemon.kill()
  return { queued, ...before.figures, startSeconds, deliveredPerSecond }
}

interface Filled {
  readonly outlet: number
  readonly figures: Pick<Backlog, 'intake' | 'answers' | 'residentMebibytes' | 'anonymousMebibytes'>
}

/** The first run. It is killed with `queued` messages and those of the measurement in the queue. */
async function fill(folder: string, adminKey: string, queued: number, options: BenchOptions): Promise<Filled> {
  await using host = await silentHost()
  await using daemon = await Daemon.start(posternOptions(folder), adminKey)
  const login = await provision(daemon, host.port, 'live')
  const subject = { ...contender(daemon, login), [Symbol.asyncDispose]: () => Promise.resolve() }
  await accept(subject, usual, Math.min(queued, options.cold), fillSeconds)
  await accept(subject, pipelined, Math.max(0, queued - options.cold), fillSeconds)
  const { sample } = await measure(subject, () => accept(subject, usual, options.messages, options.seconds))
  const residentMebibytes = await memoryOf(daemon.addresses.pid, 'VmRSS')
  const anonymousMebibytes = await memoryOf(daemon.addresses.pid, 'RssAnon')
  const answers = await answersOf(daemon)
  await daemon.kill()
  return { outlet: host.port, figures: { intake: sample, answers, residentMebibytes, anonymousMebibytes } }
}

/** The request of `postern queue`. */
async function answersOf({ rest }: Daemon): Promise<Answers> {
  const secondsOf = async (ask: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    await ask()
    return (performance.now() - begun) / 1000
  }
  const count = (act: string, filter: object) => () => rest.must('POST', '/v1/queue/acts', { act, filter, dry_run: true })
  return {
    list: await secondsOf(() => rest.must('GET', '/v1/queue?limit=50')),
    count: await secondsOf(count('hold', {})),
    search: await secondsOf(count('drop', { from: 'nobody@example.org' })),
  }
}

export async function measureBacklog(options: BenchOptions): Promise<Section> {
  const backlogs: Backlog[] = []
  for (const queued of options.backlogs) backlogs.push(await measureAt(queued, options))
  const cells = (backlog: Backlog): number[] => [
    ...[backlog.intake.perSecond, backlog.intake.p99 ?? NaN, backlog.residentMebibytes, backlog.anonymousMebibytes],
    ...[backlog.startSeconds, backlog.deliveredPerSecond],
  ]
  const answered = ({ answers: { list, count, search } }: Backlog): number[] => [list, count, search]
  return {
    name: 'backlog',
    lines: [
      'Messages of 4 KiB queued for a smart host that does not answer; then a kill, a start, and a smart host that does.',
      row('', ['intake/s', 'p99 ms', 'MiB', 'own MiB', 'start s', 'deliv./s']),
      ...backlogs.map((backlog) => row(label(backlog), cells(backlog))),
      'Seconds until postern queue lists 50 messages, counts all for a hold, and finds none of a sender:',
      row('', ['list', 'count', 'search']),
      ...backlogs.map((backlog) => row(label(backlog), answered(backlog))),
      'Cost of one more message:',
      costHead,
      ...backlogs.map((backlog) => costRow(label(backlog), backlog.intake)),
    ],
    verdicts: backlogVerdicts(backlogs),
    data: backlogs,
  }
}

const label = ({ queued }: Backlog): string => `${queued.toLocaleString('en')} queued`

function backlogVerdicts(backlogs: readonly Backlog[]): Verdict[] {
  const [shortest, longest] = [backlogs[0], backlogs.at(-1)]
  if (!shortest || !longest) return []
  const growth = `backlog of ${longest.queued.toLocaleString('en')} against ${shortest.queued.toLocaleString('en')}`
  const slowest = Math.max(...backlogs.map(({ startSeconds, queued }) => startSeconds / Math.max(1, queued / 100_000)))
  const answer = Math.max(...backlogs.map(({ answers: { list, count, search } }) => Math.max(list, count, search))) // limited to 100,000
  const perMessage = ({ answers, queued }: Backlog): number => answers.search / Math.min(queued, 100_000)
  return [
    judge('postern queue answers: <= 3 s', answer, '<=', 3, 's'),
    judge(`${growth}: search of a message <= 1.5 x`, perMessage(longest) / perMessage(shortest), '<=', 1.5, 'x'),
    judge(`${growth}: intake >= 0.8 x`, longest.intake.perSecond / shortest.intake.perSecond, '>=', 0.8, 'x'),
    judge(`${growth}: delivery >= 0.8 x`, longest.deliveredPerSecond / shortest.deliveredPerSecond, '>=', 0.8, 'x'),
    judge('start after a kill: <= 5 s per 100,000 queued', slowest, '<=', 5, 's'),
    judge(`memory with ${longest.queued.toLocaleString('en')} queued: <= 350 MiB`, longest.residentMebibytes, '<=', 350, 'MiB'),
  ]
}
