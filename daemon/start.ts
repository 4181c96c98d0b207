/**
 * Starts a daemon in this process: opens the store, composes the daemon and starts its parts, which stop in reverse order. Prints nothing
 * and never ends the process.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '#config/settings/load.ts'
import { bootstrap, type Bootstrapped } from '#core/bootstrap.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { systemClock } from '#core/clock.ts'
import { migrationsWith, releaseForm } from '#core/migrations.ts'
import { loadLatestMark, switchReadings } from '#core/capture/reading/read-marks.ts'
import type { SharedWork } from '#store/daemons/daemons.ts'
import type { Database } from '#store/database.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { claimVersions } from '#store/upgrade/claim-versions.ts'
import { sweepAbandonedContent } from '#store/content.ts'
import { migrate } from '#store/upgrade/migrate.ts'
import { requireNoneEarlier } from '#store/upgrade/none-earlier.ts'
import { requireReadable } from '#store/upgrade/store-form.ts'
import { freeBytes } from './observability/admission/admission.ts'
import { isSelfMade, loadCertificate } from './certificates/certificate.ts'
import { CurrentCertificate } from './certificates/current-certificate.ts'
import type { Certificates } from './certificates/certificate-source.ts'
import { compose } from './composition/composition.ts'
import { requireDomainApart } from './composition/layers/sites-domain.ts'
import { inspectWork, pollerWork, sharedWorks } from './composition/works/shared-works.ts'
import { partsOf, type Daemon, type Foundation, type Replacements, type Resolve } from './composition/parts.ts'
import { ballastOf, openStore } from './open-store.ts'
import { damagedStart } from './process/damaged-start.ts'
import type { Lifecycle } from './process/lifecycle.ts'
import { archiving } from './doctor/store-check.ts'
import { latestBackupAt } from './backup/last-backup.ts'
import { explainListen } from './process/listen-problem.ts'
import type { Logger } from './observability/logging.ts'
import type { MailDoors } from './composition/composed.ts'
import { checkMasterKey, masterKey } from './process/master-key.ts'
import { Metrics } from './observability/metrics.ts'
import type { Listening } from './process/ready-file.ts'

/** Time for the collector of traces at the end. Remaining spans are dropped. */
const spansEndMs = 2000

export interface Opened {
  readonly kv: StoreKv
  readonly part: Resolve
  readonly bootstrapped: Bootstrapped
  readonly certificate: CurrentCertificate
  readonly metrics: Metrics
}

/** Opens the store, composes the daemon and creates the initial data of a first start. The store is a part of the lifecycle. */
export async function open(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  given: Pick<Foundation, 'version' | 'operatorToken' | 'recentLines' | 'logLoss'>,
  replace: Replacements = {},
): Promise<Opened> {
  const { dataDir, store } = config
  await requireDomainApart(config)
  const metrics = new Metrics()
  metrics.build(given.version)
  metrics.watch('disk_free_bytes', 'Free space of the file system that holds the data folder.', () => freeBytes(dataDir))
  metrics.watchTotal('log_lines_dropped', 'Log lines that could not be written.', () => given.logLoss?.().lines ?? 0)
  const key = await masterKey(config.masterKey, dataDir)
  const secrets = new SecretBox(key)
  const certificate = new CurrentCertificate(await loadCertificate(config, (replace.clock ?? systemClock).now()), isSelfMade(config))
  const kv = await openStore(
    config,
    { onFailure: (error) => lifecycle.storeFailed(error), onGroup: (group) => metrics.groupCommitted(group) },
    'together',
  )
  await lifecycle.start({ name: 'store', start: async () => {}, stop: () => kv[Symbol.asyncDispose]() })
  try {
    await ballastOf(config).ensure(store.lowDiskBytes)
    return { kv, ...(await openWith(kv, { config, log, secrets, masterKey: key, metrics, certificate, ...given }, lifecycle, replace)) }
  } catch (error) {
    throw await damagedStart(kv, dataDir, error)
  }
}

/** Composes the daemon over an open store, and creates the initial data of a first start. */
async function openWith(
  kv: StoreKv,
  given: Omit<Foundation, 'kv'>,
  lifecycle: Lifecycle,
  replace: Replacements,
): Promise<Omit<Opened, 'kv'>> {
  const { config, log, secrets, metrics, certificate } = given
  const { dataDir } = config
  if (kv.missingGroups.length > 0) {
    log.error(
      { groups: kv.missingGroups.length },
      'the log of the store was damaged and writes are missing; run "postern verify" and compare with a backup',
    )
  }
  const part = compose({ kv, ...given }, replace)
  await lifecycle.start({ name: 'traces', start: async () => {}, stop: async () => part('spans')?.spanExport.stop(spansEndMs) })
  const database = part('database')
  const isArchived = archiving(config, part('clock'))
  metrics.watch(
    'last_backup_age_seconds',
    'Time since the snapshot of the last backup; 0 with log archiving, +Inf without both.',
    async () => {
      if (await isArchived()) return 0
      const at = await latestBackupAt(dataDir, database)
      return at === undefined ? Infinity : Math.max(0, (Date.now() - at) / 1000)
    },
  )
  const { adminKey, plan } = config
  const bootstrapped = await kv.daemons.inTurn(async () => {
    await requireReadable(kv, releaseForm)
    await requireNoneEarlier(kv, releaseForm)
    await claimVersions(database, releaseForm)
    await checkMasterKey(database, secrets, dataDir) // steps of the upgrade encrypt secrets
    await upgrade(database, secrets, log)
    await loadLatestMark(database)
    await switchReadings(database)
    const swept = await sweepAbandonedContent(database)
    if (swept > 0) log.info({ contents: swept }, 'removed contents whose acceptance an earlier crash cut short')
    return await bootstrap({ database, clock: part('clock'), secrets, adminKey, plan })
  })
  return { part, bootstrapped, certificate, metrics }
}

/** Converts data of earlier releases before anything is served. */
async function upgrade(database: Database, secrets: SecretBox, log: Logger): Promise<void> {
  await migrate(database, migrationsWith(secrets), ({ number, of, name, state, done }) => {
    if (state === 'ended' && done === 0) return
    log.info({ step: number, of, done }, `${state === 'ended' ? 'upgraded' : 'upgrading'} the store: ${name}`)
  })
}

type Share = (work: SharedWork) => Promise<void>

/** Does the work on this daemon when it is its turn, until the lifecycle ends. */
const shareIn =
  (lifecycle: Lifecycle, { database: { daemons } }: Daemon): Share =>
  (work) =>
    lifecycle.start({ name: work.name, start: () => daemons.share(work), stop: () => daemons.leave(work.name) })

/** Starts the parts in order: background work, then the listeners, so that the listeners close first. Returns the bound addresses. */
export async function start(part: Resolve, config: Config, lifecycle: Lifecycle): Promise<Listening> {
  const daemon = partsOf(part)
  const { queue, transport, probes, reader, inboxes, admission, submission, http, rewriter, engagements, ingest, meter } = daemon
  const works = sharedWorks(daemon)
  const share = shareIn(lifecycle, daemon)
  const seconds = Math.max(1, config.shutdownSeconds - 5)
  await lifecycle.start({ name: 'meter', start: async () => {}, stop: async () => meter[Symbol.dispose]() })
  await lifecycle.start({ name: 'message reader', start: async () => {}, stop: async () => reader[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'message rewriter', start: async () => {}, stop: async () => rewriter[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'openings and clicks', start: async () => {}, stop: () => engagements.settled() })
  await lifecycle.start({ name: 'report reader', start: async () => {}, stop: async () => ingest.reports[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'notifications of inboxes', start: async () => {}, stop: () => inboxes.inboxNotifier.stop() })
  for (const work of works.first) await share(work)
  await lifecycle.start({ name: 'counts', ...countsOf(daemon) })
  await lifecycle.start({ name: 'transport', start: async () => {}, stop: async () => transport[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'probes', start: async () => {}, stop: () => probes.stop() })
  for (const work of works.afterTransport) await share(work)
  await lifecycle.start({
    name: 'delivery',
    start: () => queue.start(),
    stop: () => queue.stop((seconds * 1000) / 2),
    breakOff: (milliseconds) => queue.stop(milliseconds),
    stopSeconds: seconds,
  })
  for (const work of works.afterDelivery) await share(work)
  await lifecycle.start({ name: 'mail of the service', ...mailOf(daemon) })
  await daemon.certificates.source.prepare?.()
  const listening: { -readonly [Key in keyof Listening]: Listening[Key] } = {
    http: config.http.listen,
    https: [],
    acme: [],
    submission: [],
    submissions: [],
    mx: [],
    sites: [],
  }
  await lifecycle.start({
    name: 'smtp submission',
    async start() {
      Object.assign(listening, await explainListen(config, () => submission.listen()))
    },
    stop: () => submission.close((seconds * 1000) / 3),
    breakOff: (milliseconds) => submission.close(milliseconds),
    stopSeconds: seconds,
  })
  await startMailDoors(daemon.mailDoors, config, lifecycle, listening, { seconds, share })
  daemon.ownListeners.set([...listening.submission, ...listening.submissions, ...listening.mx])
  await startHttp(http, config, lifecycle, listening, seconds)
  await startSites(daemon.sites, config, lifecycle, listening, seconds)
  await lifecycle.start({ name: 'doctor', ...checksOf(daemon) })
  await lifecycle.start({ name: 'quick checks', start: () => daemon.watch.start(), stop: () => daemon.watch.stop() })
  await startCertificates(daemon.certificates, config, lifecycle, listening)
  await lifecycle.start({ name: 'agents', start: async () => {}, stop: () => daemon.agents.stop() })
  await lifecycle.start({ name: 'streams', start: async () => {}, stop: async () => closeStreams(daemon) })
  await lifecycle.start({
    name: 'admission',
    start: async () => daemon.health.started(),
    stop: async () => {
      daemon.health.stopping()
      await wait(config.drainSeconds * 1000)
      admission.close()
      admission[Symbol.dispose]()
    },
    stopSeconds: config.drainSeconds + 1,
  })
  return listening
}

/** Hands over the unsent mail of other daemons. Handing it over twice creates one mail. */
const mailOf = ({
  database: { daemons },
  people: { outbox, background },
}: Pick<Daemon, 'database' | 'people'>): { readonly start: () => Promise<void>; readonly stop: () => Promise<void> } => ({
  async start() {
    daemons.onGap(() => outbox.wake())
    outbox.wake()
  },
  stop: () => background.idle(),
})

/** Closes streams that only end on request. */
function closeStreams({ decisions, changeStreams }: Daemon): void {
  decisions.close()
  changeStreams.close()
}

/** Writes delayed counts after all parts that count have stopped. */
const countsOf = ({ lateCounts, agentCalls }: Daemon): { readonly start: () => Promise<void>; readonly stop: () => Promise<void> } => ({
  start: async () => {},
  stop: async () => void (await Promise.all([lateCounts.stop(), agentCalls.stop()])),
})

/** Starts the checks of the doctor and of the store. */
const checksOf = ({ doctor, damageWatch }: Daemon): { readonly start: () => Promise<void>; readonly stop: () => Promise<void> } => ({
  async start() {
    await doctor.start()
    damageWatch.start()
  },
  stop: async () => void (await Promise.all([doctor.stop(), damageWatch.stop()])),
})

async function startHttp(
  http: Pick<Daemon['http'], 'listen' | 'close'>,
  config: Config,
  lifecycle: Lifecycle,
  listening: { http: Listening['http']; https: Listening['https'] },
  seconds: number,
): Promise<void> {
  await lifecycle.start({
    name: 'http',
    async start() {
      const { https, ...bound } = await explainListen(config, () => http.listen())
      Object.assign(listening, { http: bound, https: https === undefined ? [] : [https] })
    },
    stop: () => http.close((seconds * 1000) / 3),
    breakOff: (milliseconds) => http.close(milliseconds),
    stopSeconds: seconds,
  })
}

/** Without a server for websites, old data is still removed and settled. */
async function startSites(
  { server, traffic }: Daemon['sites'],
  config: Config,
  lifecycle: Lifecycle,
  listening: { sites: Listening['sites'] },
  seconds: number,
): Promise<void> {
  if (!server) return
  await lifecycle.start({ name: 'traffic of websites', start: async () => {}, stop: () => traffic.flush() })
  await lifecycle.start({
    name: 'websites',
    async start() {
      listening.sites = [await explainListen(config, () => server.listen())]
    },
    stop: () => server.close((seconds * 1000) / 3),
    stopSeconds: seconds,
  })
}

/** Starts after the listeners, which answer the certificate authority. */
async function startCertificates(
  { source, challengeServer }: Certificates,
  config: Config,
  lifecycle: Lifecycle,
  listening: { acme: Listening['acme'] },
): Promise<void> {
  if (challengeServer)
    await lifecycle.start({
      name: 'answers to the certificate authority',
      async start() {
        listening.acme = await explainListen(config, () => challengeServer.listen())
      },
      stop: () => challengeServer.close(),
    })
  await lifecycle.start({ name: 'certificate', start: () => source.start(), stop: () => source.stop() })
}

/** Starts the MX listener and the polling of mailboxes. */
async function startMailDoors(
  doors: MailDoors,
  config: Config,
  lifecycle: Lifecycle,
  listening: { mx: Listening['mx'] },
  { seconds, share }: { readonly seconds: number; readonly share: Share },
): Promise<void> {
  const { mx } = doors
  await share(inspectWork(doors))
  await lifecycle.start({
    name: 'mx',
    async start() {
      listening.mx = await explainListen(config, () => mx.listen())
    },
    stop: () => mx.close((seconds * 1000) / 3),
    breakOff: (milliseconds) => mx.close(milliseconds),
    stopSeconds: seconds,
  })
  await share(pollerWork(doors))
}
