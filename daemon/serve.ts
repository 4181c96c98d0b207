/** `postern serve`: runs the daemon until a signal, and prints the started listeners. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { formatEndpoint } from '#config/settings/formats.ts'
import { pagesUrl, publicUrl, type Config } from '#config/settings/load.ts'
import type { Bootstrapped } from '#core/bootstrap.ts'
import { loginLinkPath } from '#core/people/sign-in/operator-link.ts'
import { SpoolRounds } from './commands/sendmail/spool-rounds.ts'
import type { CertificateSource } from './certificates/certificate-source.ts'
import type { CurrentCertificate } from './certificates/current-certificate.ts'
import { boundCompiled } from './process/compiled-code.ts'
import { damagedFolder, damagedStart } from './process/damaged-start.ts'
import { exitCodes, Lifecycle, type ExitCode } from './process/lifecycle.ts'
import { createLogger, prettyLines, type Logger } from './observability/logging.ts'
import { LogOutput } from './observability/log-stream.ts'
import type { PartLogs } from './observability/part-logs.ts'
import { RecentLines } from './observability/recent-lines.ts'
import { clearOperatorFile, originOf, writeOperatorFile } from './process/operator-file.ts'
import { QuietMemory } from './process/quiet-memory.ts'
import { clearReadyFile, writeReadyFile, type Listening } from './process/ready-file.ts'
import { open, start } from './start.ts'
import { welcomeText } from './process/welcome.ts'

export interface ServeOptions {
  readonly readyFile: string | undefined
  readonly version: string
}

/** Runs until a signal. Throws if the start fails. */
export async function serve(config: Config, { readyFile, version }: ServeOptions): Promise<ExitCode> {
  const isPretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stdout.isTTY)
  const format = isPretty ? await prettyLines(process.stdout) : undefined
  const recentLines = new RecentLines()
  const output = new LogOutput(1, format)
  const log = createLogger(config.logLevel, output, recentLines)
  const lifecycle = new Lifecycle(log, config.shutdownSeconds + config.drainSeconds)
  const ofTerminal = [0, 1, 2].some((fd) => isatty(fd))
  const ended = lifecycle.runUntilSignal(ofTerminal ? ['SIGHUP'] : [])
  const operatorToken = randomBytes(32).toString('base64url')
  const reload = ofTerminal ? undefined : onHangup(log)
  const { part, listening, bootstrapped, certificate, metrics } = await open(config, log, lifecycle, {
    version,
    operatorToken,
    recentLines,
    logLoss: () => output.loss,
  })
    .then(async ({ kv, ...built }) => {
      try {
        return { ...built, listening: await start(built.part, config, lifecycle) }
      } catch (error) {
        throw await damagedStart(kv, config.dataDir, error)
      }
    })
    .catch(async (error: unknown) => {
      await lifecycle.stop()
      throw damagedFolder(error)
    })
  await lifecycle.start({
    name: 'operator file',
    start: () => writeOperatorFile(config.dataDir, listening, operatorToken),
    stop: () => clearOperatorFile(config.dataDir),
  })
  reload?.from(part('certificates').source)
  toggleDebugOnSignal(part('partLogs'), log)
  welcome(config, listening, bootstrapped, log)
  if (readyFile !== undefined) {
    await lifecycle.start({ name: 'ready file', start: () => writeReadyFile(readyFile, listening), stop: () => clearReadyFile(readyFile) })
  }
  const { clock } = part('core')
  await lifecycle.start(new SpoolRounds({ config, log, clock, origin: originOf(listening), ownToken: operatorToken }))
  await lifecycle.start(new QuietMemory())
  announce(config, log, { listening, version, certificate })
  process.stderr.write(`Ready. Dashboard ${pagesUrl(config, listening.http)}\n`)
  setImmediate(() => metrics.watchProcess())
  void boundCompiled(config.dataDir)
  await ended
  return exitCodes.ok
}

/** Checks the certificate on SIGHUP, unless a terminal could send it. Does nothing during the start. */
function onHangup(log: Logger): { from(source: CertificateSource): void } {
  let known: CertificateSource | undefined
  process.on('SIGHUP', () => {
    log.info('SIGHUP: looking at the certificate')
    void known?.reload()
  })
  return {
    from(source) {
      known = source
    },
  }
}

/** Switches all logs to debug on SIGUSR2, and back at the next one. */
function toggleDebugOnSignal(logs: PartLogs, log: Logger): void {
  process.on('SIGUSR2', () => log.info({ levels: logs.toggleDebug() }, 'levels of the log changed'))
}

/** Prints to the terminal and not to the log, because logs are stored. Called after listening, because port 0 is then a real port. */
function welcome(config: Config, { http, submission }: Listening, { ownerLink, apiKey, smtpLogin }: Bootstrapped, log: Logger): void {
  if (ownerLink === undefined) {
    if (apiKey !== undefined)
      print(`\nThere was no API key with all scopes, so a new one was created. It is shown only once:\n\n  ${apiKey}\n\n`, log)
    return
  }
  const ownerUrl = pagesUrl(config, http) + loginLinkPath(ownerLink)
  print(welcomeText({ ownerUrl, apiKey, smtpLogin, submission: submission[0] }), log)
}

function print(secrets: string, log: Logger): void {
  process.stderr.write(secrets, (error) => {
    if (error)
      log.warn({ err: error }, 'the sign-in link or API key could not be printed; use "postern login-link" and "postern key create"')
  })
}

interface Started {
  readonly listening: Listening
  readonly version: string
  readonly certificate: CurrentCertificate
}

function announce(config: Config, log: Logger, { listening, version, certificate }: Started): void {
  const { http, https, acme, ...smtp } = listening
  const addresses = Object.fromEntries(Object.entries(smtp).map(([name, endpoints]) => [name, endpoints.map(formatEndpoint)]))
  const { selfSigned, expires } = certificate
  const place = { version, data_folder: resolve(config.dataDir), certificate: { self_signed: selfSigned, expires } }
  const web = {
    http: formatEndpoint(http),
    ...(https.length > 0 && { https: https.map(formatEndpoint) }),
    ...(acme.length > 0 && { acme: acme.map(formatEndpoint) }),
  }
  log.info({ ...web, ...addresses, url: publicUrl(config, http), ...place }, 'ready')
  const { destinations, webhooks } = config.outbound.allow
  if (destinations.length + webhooks.length > 0)
    log.warn({ destinations, webhooks }, 'private networks are allowed for outgoing connections')
}
