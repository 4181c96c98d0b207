/** `postern serve`: opens what is stored, composes the daemon, and starts its parts; they stop in reverse order. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { formatEndpoint } from '#config/formats.ts'
import { pagesUrl, publicUrl, type Config } from '#config/load.ts'
import { bootstrap } from '#core/bootstrap.ts'
import { loginLinkPath } from '#core/people/operator-link.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { sweepAbandonedContent } from '#store/content.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { Ballast, freeBytes } from './admission.ts'
import { loadCertificate } from './certificate.ts'
import { compose } from './composition.ts'
import type { Daemon } from './parts.ts'
import { storeFolder } from './data-folder.ts'
import { exitCodes, Lifecycle, type ExitCode } from './lifecycle.ts'
import { explainListen } from './listen-problem.ts'
import { createLogger, type Logger } from './logging.ts'
import type { MailDoors } from './mail-doors.ts'
import { checkMasterKey, masterKey } from './master-key.ts'
import { Metrics } from './metrics.ts'
import { clearOperatorFile, writeOperatorFile } from './operator-file.ts'
import { clearReadyFile, writeReadyFile, type Listening } from './ready-file.ts'

export interface ServeOptions {
  readonly readyFile: string | undefined
  readonly version: string
}

/** Runs until a signal; resolves only when the start fails, by throwing. */
export async function serve(config: Config, { readyFile, version }: ServeOptions): Promise<ExitCode> {
  const log = createLogger(config.logLevel, 'stdout')
  const lifecycle = new Lifecycle(log, config.shutdownSeconds)
  const ended = lifecycle.runUntilSignal()
  const operatorToken = randomBytes(32).toString('base64url')
  const { listening, ownerLink } = await build(config, log, lifecycle, { version, operatorToken })
    .then(async ({ daemon, ownerLink }) => ({ listening: await start(daemon, config, lifecycle), ownerLink }))
    .catch(async (error: unknown) => {
      await lifecycle.stop()
      throw error
    })
  await lifecycle.start({
    name: 'operator file',
    start: () => writeOperatorFile(config.dataDir, listening.http, operatorToken),
    stop: () => clearOperatorFile(config.dataDir),
  })
  if (ownerLink !== undefined) showOwnerLink(pagesUrl(config, listening.http) + loginLinkPath(ownerLink))
  if (readyFile !== undefined) {
    await lifecycle.start({ name: 'ready file', start: () => writeReadyFile(readyFile, listening), stop: () => clearReadyFile(readyFile) })
  }
  announce(config, log, listening)
  await ended
  return exitCodes.ok
}

interface Built {
  readonly daemon: Daemon
  /** At the first start: the secret of the link by which the owner signs in. */
  readonly ownerLink: string | undefined
}

async function build(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  given: { readonly version: string; readonly operatorToken: string },
): Promise<Built> {
  const { dataDir, store } = config
  const metrics = new Metrics()
  const ballast = new Ballast(join(dataDir, 'ballast'), store.ballastBytes, () => freeBytes(dataDir))
  const secrets = new SecretBox(await masterKey(config.masterKey, dataDir))
  const certificate = await loadCertificate(config, Date.now())
  const kv = await ballast.openStore(() =>
    LevelKv.open(storeFolder(dataDir), {
      onFailure: (error) => lifecycle.fail(error),
      onGroup: (writes) => metrics.groupCommitted(writes),
    }),
  )
  await lifecycle.start({ name: 'store', start: async () => {}, stop: () => kv[Symbol.asyncDispose]() })
  if (kv.missingGroups.length > 0) {
    log.error(
      { groups: kv.missingGroups.length },
      'the log of the store was damaged and writes are missing; run "postern verify" and compare with a backup',
    )
  }
  await ballast.ensure(store.lowDiskBytes)
  const daemon = compose({ config, log, kv, secrets, metrics, certificate, ...given })
  await checkMasterKey(daemon.database, secrets, dataDir)
  const swept = await sweepAbandonedContent(daemon.database)
  if (swept > 0) log.info({ contents: swept }, 'removed contents whose acceptance an earlier crash cut short')
  const { apiKey, ownerLink } = await bootstrap({
    database: daemon.database,
    clock: daemon.clock,
    adminKey: config.adminKey,
    plan: config.plan,
  })
  // at once, as a start that fails from here on must not take the only copy with it
  if (apiKey !== undefined) showFirstKey(apiKey)
  return { daemon, ownerLink }
}

/** What receivers have not answered by then is sent again after the next start, under the same delivery id. */
const webhooksEndMs = 2000

/** In order: what works in the background, then the doors; so the doors close first. */
async function start(daemon: Daemon, config: Config, lifecycle: Lifecycle): Promise<Listening> {
  const { queue, replayRunner, removals, transport, probes, reader, inboxes, housekeeping, retention, admission, submission, http } = daemon
  const { rewriter, engagements, people, ingest, webhooks } = daemon
  const seconds = Math.max(1, config.shutdownSeconds - 5)
  await lifecycle.start({ name: 'message reader', start: async () => {}, stop: async () => reader[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'message rewriter', start: async () => {}, stop: async () => rewriter[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'openings and clicks', start: async () => {}, stop: () => engagements.settled() })
  const { pendingReports, reports } = ingest
  await lifecycle.start({ name: 'report reader', start: async () => {}, stop: async () => reports[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'early reports', start: async () => pendingReports.wake(), stop: () => pendingReports.stop() })
  const { backgroundRead, inboxNotifier } = inboxes
  await lifecycle.start({ name: 'notifications of inboxes', start: async () => {}, stop: () => inboxNotifier.stop() })
  await lifecycle.start({ name: 'background reading', start: async () => backgroundRead.wake(), stop: () => backgroundRead.stop() })
  await lifecycle.start({ name: 'housekeeping', start: async () => housekeeping.start(), stop: () => housekeeping.stop() })
  await lifecycle.start({ name: 'retention', start: async () => retention.start(), stop: () => retention.stop() })
  await lifecycle.start({ name: 'transport', start: async () => {}, stop: async () => transport[Symbol.asyncDispose]() })
  await lifecycle.start({ name: 'probes', start: async () => {}, stop: () => probes.stop() })
  const { preparation } = daemon.inbound
  await lifecycle.start({ name: 'mail for routes', start: async () => preparation.start(), stop: () => preparation.stop() })
  const { webhookDispatcher } = webhooks
  await lifecycle.start({ name: 'webhooks', start: () => webhookDispatcher.start(), stop: () => webhookDispatcher.stop(webhooksEndMs) })
  await lifecycle.start({
    name: 'delivery',
    start: () => queue.start(),
    stop: () => queue.stop((seconds * 1000) / 2),
    stopSeconds: seconds,
  })
  await lifecycle.start({ name: 'replays', start: () => replayRunner.start(), stop: () => replayRunner.stop() })
  await lifecycle.start({ name: 'removals', start: async () => removals.start(), stop: () => removals.stop() })
  await lifecycle.start({ name: 'mail of the service', start: async () => people.outbox.wake(), stop: () => people.background.idle() })
  const listening: { -readonly [Key in keyof Listening]: Listening[Key] } = {
    http: config.http.listen,
    submission: [],
    submissions: [],
    mx: [],
  }
  await lifecycle.start({
    name: 'smtp submission',
    async start() {
      Object.assign(listening, await explainListen(config, () => submission.listen()))
    },
    stop: () => submission.close((seconds * 1000) / 3),
    stopSeconds: seconds,
  })
  await startMailDoors(daemon.mailDoors, config, lifecycle, listening, seconds)
  daemon.ownListeners.set([...listening.submission, ...listening.submissions, ...listening.mx])
  await lifecycle.start({
    name: 'http',
    async start() {
      listening.http = await explainListen(config, () => http.listen())
    },
    stop: () => http.close((seconds * 1000) / 3),
    stopSeconds: seconds,
  })
  await lifecycle.start({
    name: 'admission',
    start: async () => daemon.health.started(),
    stop: async () => {
      daemon.health.stopping()
      admission.close()
      admission[Symbol.dispose]()
    },
  })
  return listening
}

/** Mail from other servers, and the mailboxes that are looked into. */
async function startMailDoors(
  { mx, poller, inspect }: MailDoors,
  config: Config,
  lifecycle: Lifecycle,
  listening: { mx: Listening['mx'] },
  seconds: number,
): Promise<void> {
  const { inspectScoring } = inspect
  await lifecycle.start({ name: 'deliverability tests', start: async () => inspectScoring.wake(), stop: () => inspectScoring.stop() })
  await lifecycle.start({
    name: 'mx',
    async start() {
      listening.mx = await explainListen(config, () => mx.listen())
    },
    stop: () => mx.close((seconds * 1000) / 3),
    stopSeconds: seconds,
  })
  await lifecycle.start({ name: 'polled mailboxes', start: async () => poller.start(), stop: () => poller.stop() })
}

function announce(config: Config, log: Logger, listening: Listening): void {
  const { http, ...smtp } = listening
  const addresses = Object.fromEntries(Object.entries(smtp).map(([name, endpoints]) => [name, endpoints.map(formatEndpoint)]))
  log.info({ http: formatEndpoint(http), ...addresses, url: publicUrl(config, http) }, 'ready')
  const { destinations, webhooks } = config.outbound.allow
  if (destinations.length + webhooks.length > 0)
    log.warn({ destinations, webhooks }, 'private networks are allowed for outgoing connections')
}

/** To the terminal and not to the log: it is shown this once, and logs are kept. */
function showFirstKey(apiKey: string): void {
  process.stderr.write(
    `\nFirst start. Your API key, shown this once:\n\n  ${apiKey}\n\nSend with it as in the README, or set POSTERN_ADMIN_KEY to a key of your own.\n\n`,
  )
}

/** As the key: to the terminal only. Who lost it runs `postern login-link`. */
function showOwnerLink(url: string): void {
  process.stderr.write(`\nOpen this once, within 24 hours, to become the owner:\n\n  ${url}\n\n`)
}
