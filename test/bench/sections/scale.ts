/** Section "scale": one, two and four daemons with one PostgreSQL, compared with one daemon with the embedded store. */
import { join } from 'node:path'
import { Daemon, newAdminKey, portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waiting } from '../../support/waits.ts'
import { reasonAgainst } from '../../support/peers/peer-packages.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { usualDialog } from '../comparison.ts'
import { posternOptions, recipient, silentHost } from '../contenders.ts'
import { prepareCounting, settingsOfDatabase, workOf, type DatabaseWork } from '../database-costs.ts'
import { loadBySmtp } from '../load/generators.ts'
import { monotonicMs } from '../load/load-job.ts'
import { SmtpSink } from '../load/smtp-sink.ts'
import type { BenchOptions } from '../options.ts'
import { processorTimeOfTree } from '../resources.ts'
import { figure, median, row, type Section } from '../results.ts'

/** Number of daemons with one database; 0 is the embedded store. */
const sites = [0, 1, 2, 4] as const
const works = ['intake', 'relay'] as const
type Work = (typeof works)[number]

/** Senders of one organization, each with a separate destination, so that daemons can share the queue. */
const senders = 8
const sessionsOfSender = 6
const size = 4096
const warmUpShare = 0.25

/** Costs of one message. */
interface Costs {
  readonly perSecond: number
  /** Median of milliseconds from MAIL to the acknowledgement. */
  readonly p50: number
  readonly p99: number
  readonly daemonMicros: number
  readonly databaseMicros: number
  readonly commits: number
  readonly roundTrips: number
  readonly statements: number
  readonly walBytes: number
  readonly fsyncs: number
}

interface Site extends AsyncDisposable {
  readonly daemons: readonly Daemon[]
  readonly logins: readonly Login[]
}

export async function measureScale(options: BenchOptions): Promise<Section> {
  const missing = reasonAgainst('postgresql')
  if (missing !== undefined) throw new Error(`it needs ${missing}`)
  await using postgresql = await Postgresql.start(settingsOfDatabase)
  await prepareCounting(postgresql)
  process.setMaxListeners(4 * senders) // each generator adds a listener
  const found = new Map<string, Costs[]>()
  for (let round = 0; round < options.rounds; round++) {
    for (const work of works) {
      for (const daemons of round % 2 === 0 ? sites : sites.toReversed()) {
        const costs = await measureLife(postgresql, work, daemons, options)
        found.set(nameOf(work, daemons), [...(found.get(nameOf(work, daemons)) ?? []), costs])
        if (options.verbose) console.log(costsRow(`  ${nameOf(work, daemons)}`, costs))
      }
    }
  }
  const medians = new Map([...found].map(([name, list]) => [name, medianCosts(list)]))
  return {
    name: 'scale',
    lines: works.flatMap((work) => linesOf(work, medians)),
    verdicts: [],
    data: { medians: Object.fromEntries(medians), rounds: Object.fromEntries(found) },
  }
}

const nameOf = (work: Work, daemons: number): string => `${work}, ${daemons === 0 ? 'embedded store' : `${daemons} at PostgreSQL`}`

async function measureLife(postgresql: Postgresql, work: Work, count: number, options: BenchOptions): Promise<Costs> {
  await using sink = await SmtpSink.start()
  await using silent = await silentHost()
  await using site = await startSite(postgresql, count, work === 'relay' ? sink.port : silent.port)
  const send = async (
    messages: number,
  ): Promise<Omit<Costs, keyof DatabaseWork | 'daemonMicros' | 'databaseMicros'> & { count: number }> => {
    const earlier = sink.count
    const results = await Promise.all(
      site.logins.map((login, i) => {
        const daemon = site.daemons[i % site.daemons.length] as Daemon
        const job = { sessions: sessionsOfSender, count: Math.ceil(messages / senders), mostSeconds: options.seconds, size }
        return loadBySmtp({ ...job, port: portOf(daemon.addresses.submission[0]), login, from: senderOf(i), to: recipient, ...usualDialog })
      }),
    )
    const acknowledged = results.reduce((sum, one) => sum + one.acknowledged, 0)
    if (work === 'relay') await waiting('everything is relayed', sink.reached(earlier + acknowledged))
    const seconds = (monotonicMs() - Math.min(...results.map(({ begunAt }) => begunAt))) / 1000
    const [p50, p99] = [median(results.map((one) => one.p50)), median(results.map((one) => one.p99))]
    return { count: acknowledged, perSecond: acknowledged / seconds, p50, p99 }
  }
  await send(Math.ceil(options.messages * warmUpShare))
  const [before, cpuBefore] = [await workOf(postgresql), await cpuOf(site)]
  const { count: messages, ...rates } = await send(options.messages)
  const [after, cpuAfter] = [await workOf(postgresql), await cpuOf(site)]
  const each = (name: keyof DatabaseWork): number => (count === 0 ? 0 : (after[name] - before[name]) / messages)
  return {
    ...rates,
    daemonMicros: ((cpuAfter - cpuBefore) * 1e6) / messages,
    databaseMicros: each('cpuSeconds') * 1e6,
    ...{ commits: each('commits'), roundTrips: each('roundTrips'), statements: each('statements') },
    ...{ walBytes: each('walBytes'), fsyncs: each('fsyncs') },
  }
}

const senderOf = (i: number): string => `sender@load${i}.test`

const cpuOf = async ({ daemons }: Site): Promise<number> =>
  (await Promise.all(daemons.map(({ addresses }) => processorTimeOfTree(addresses.pid)))).reduce((sum, one) => sum + one, 0)

/** Starts `count` daemons with a new database, or one with a folder. */
async function startSite(postgresql: Postgresql, count: number, port: number): Promise<Site> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('bench-scale')).path
  const env = {
    POSTERN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...(count > 0 && { POSTERN_STORE: await postgresql.database() }),
  }
  const adminKey = newAdminKey()
  const daemons = await Promise.all(
    Array.from({ length: Math.max(1, count) }, async (_, i) =>
      cleanup.use(await Daemon.start(posternOptions(join(folder, String(i)), env), adminKey)),
    ),
  )
  const { rest } = daemons[0] as Daemon
  const logins: Login[] = []
  for (let i = 0; i < senders; i++) {
    const destination = await makeDestination(rest, { name: `outlet ${i}`, port, mode: 'live', maxConnections: 20 })
    await makeRoute(rest, destination, `load${i}.test`)
    logins.push(await makeLogin(rest, destination))
  }
  const all = cleanup.move()
  return { daemons, logins, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

function medianCosts(list: readonly Costs[]): Costs {
  const names = Object.keys(list[0] ?? {}) as (keyof Costs)[]
  return Object.fromEntries(names.map((name) => [name, median(list.map((costs) => costs[name]))])) as unknown as Costs
}

const head = row('', ['x embedded', 'msg/s', 'p50 ms', 'p99 ms', 'daemon µs', 'base µs', 'commits', 'round trips', 'log octets', 'syncs'])

const costsRow = (label: string, costs: Costs, embedded?: Costs): string =>
  row(label, [
    ...[costs.perSecond / (embedded?.perSecond ?? NaN), costs.perSecond, costs.p50, costs.p99, costs.daemonMicros, costs.databaseMicros],
    ...[costs.commits, costs.roundTrips, costs.walBytes, costs.fsyncs],
  ])

function linesOf(work: Work, medians: ReadonlyMap<string, Costs>): string[] {
  const embedded = medians.get(nameOf(work, 0))
  const rows = sites.flatMap((daemons) => {
    const costs = medians.get(nameOf(work, daemons))
    return costs ? [costsRow(nameOf(work, daemons), costs, embedded)] : []
  })
  const most = medians.get(nameOf(work, sites[sites.length - 1] as number))
  return [
    `${work === 'intake' ? 'Intake' : 'Relay end to end'}, 4 KiB, ${senders} senders of one organization, ${senders * sessionsOfSender} sessions; costs per message.`,
    head,
    ...rows,
    ...(most ? modelOf(most) : []),
  ]
}

/** Estimates the growth from the cost of a message with the largest measured number of daemons. */
function modelOf({ daemonMicros, databaseMicros, walBytes, commits }: Costs): string[] {
  return [
    `  One core of daemons carries ${figure(1e6 / daemonMicros)} messages a second, one core of the database ${figure(1e6 / databaseMicros)}, so that`,
    `  each core of the database feeds ${figure(daemonMicros / databaseMicros)} cores of daemons. 100 MB of log a second carry ${figure(100e6 / walBytes)}, and each thousand commits a second ${figure(1000 / commits)}.`,
  ]
}
