/** Checks the running process and its machine: collects the facts, which the core evaluates. */
import { readdir, readFile } from 'node:fs/promises'
import { hostname, totalmem } from 'node:os'
import { ConfigInvalid, isLoopback, type Config } from '#config/settings/load.ts'
import type { Clock } from '#core/clock.ts'
import { ofService, type Check } from '#core/doctor/check.ts'
import {
  alertFindings,
  backupFindings,
  certificateFindings,
  clockFindings,
  diskFindings,
  fileFindings,
  keyFindings,
  memoryFindings,
  logFindings,
  orderFindings,
  type CertificateFacts,
  type ClockFacts,
  type FileFacts,
  type KeyFault,
  type LogFacts,
} from '#core/doctor/process-findings.ts'
import type { Observed } from '#core/findings/finding.ts'
import type { Database } from '#store/database.ts'
import { lastBackupAt, shareBackup } from '../backup/last-backup.ts'
import { freeBytes } from '../observability/admission/admission.ts'
import { covers, readCertificate } from '../certificates/certificate.ts'
import type { CurrentCertificate } from '../certificates/current-certificate.ts'

export interface ProcessCheckOptions {
  readonly config: Config
  readonly clock: Clock
  /** Subject of the findings: a name of this daemon that persists over restarts; empty for the only daemon at the store. */
  readonly daemonName: string
  /** Returns the problem with the key that the next start would use. */
  readonly keyFault: () => Promise<KeyFault | undefined>
  /** Undefined if the log does not go to an output of the process. */
  readonly logLoss: (() => LogFacts) | undefined
}

/** Subject of findings of this machine at a shared store. Persists over restarts, unlike the id of a daemon. */
export const machineName = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${hostname()} ${dataDir}`

const everyMs = 5 * 60_000
/** Files of the store, of logs and of programs, in addition to connections. */
const otherFiles = 1000

/** Checks of each process and its machine. */
export function processCheck({ config, clock, daemonName, keyFault, logLoss }: ProcessCheckOptions): Check {
  const watch = new ClockWatch(clock)
  return {
    name: 'process',
    everyMs,
    place: 'every',
    isOwn: true,
    needsNoStore: true,
    async look({ isStoreAway = false }) {
      const now = clock.now()
      const found = [
        ...diskFindings({ dataDir: config.dataDir, freeBytes: freeBytes(config.dataDir), lowBytes: config.store.lowDiskBytes }),
        ...(logLoss ? logFindings(logLoss(), now) : []),
        ...fileFindings(await fileFacts(config)),
        ...(isStoreAway ? [] : keyFindings(await keyFault(), true)),
        ...memoryFindings(memoryLimit()),
        ...clockFindings(watch.look()),
      ]
      return ofService(found, daemonName)
    },
  }
}

export interface OrderCheckOptions extends Pick<ProcessCheckOptions, 'config' | 'clock' | 'daemonName'> {
  /** The certificate of the listeners. */
  readonly current: Pick<CurrentCertificate, 'problem'>
}

/** Reports a failed order of a certificate, which only the daemon that ordered it has in its memory. */
export const orderCheck = ({ config, clock, daemonName, current }: OrderCheckOptions): Check => ({
  name: 'certificate orders',
  everyMs,
  place: 'every',
  isOwn: true,
  needsNoStore: true,
  async look() {
    if (config.acme.challenge === 'off' || current.problem === undefined) return ofService([])
    return ofService(orderFindings(await certificateFacts(config, clock.now())), daemonName)
  },
})

export interface FileCheckOptions extends Pick<ProcessCheckOptions, 'config' | 'clock' | 'daemonName'> {
  readonly database: Pick<Database, 'kv' | 'commit'>
}

/** Reads the certificate and the last backup of this machine. At a shared store, `storeCheck` judges the backups of all machines. */
export const fileCheck = ({ config, clock, daemonName, database }: FileCheckOptions): Check => ({
  name: 'files of the service',
  everyMs,
  place: 'every',
  isOwn: true,
  needsNoStore: true,
  async look({ isStoreAway = false }) {
    const now = clock.now()
    const backupAt = await lastBackupAt(config.dataDir)
    const isShared = daemonName !== ''
    if (isShared && backupAt !== undefined && !isStoreAway) await shareBackup(database, backupAt)
    const backups = isShared ? [] : backupFindings(backupAt, now)
    return ofService([...certificateFindings(await certificateFacts(config, now)), ...backups], daemonName)
  },
})

export interface ServiceCheckOptions {
  readonly config: Config
  readonly isMailReady: () => Promise<boolean>
  /** Finds that alerts leave only through failing hosts. */
  readonly alertPath: () => Promise<readonly Observed[]>
}

/** Checks of the service that one daemon makes for all. */
export function serviceChecks({ config, isMailReady, alertPath }: ServiceCheckOptions): readonly Check[] {
  const { mailTo } = config.doctor
  return [
    {
      name: 'alerts',
      everyMs,
      place: 'one',
      look: async () => ofService([...alertFindings(mailTo, mailTo !== null && (await isMailReady())), ...(await alertPath())]),
    },
  ]
}

/** Compares the wall clock with the monotonic clock. */
class ClockWatch {
  readonly #clock: Clock
  #offset: number
  #jump: ClockFacts['jump']

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offset = clock.now() - clock.monotonic()
  }

  look(): ClockFacts {
    const now = this.#clock.now()
    const offset = now - this.#clock.monotonic()
    const ms = offset - this.#offset
    if (Math.abs(ms) > 1000) this.#jump = { ms, at: now }
    this.#offset = offset
    return { now, jump: this.#jump }
  }
}

/** Returns the facts of the current certificate files of the listeners. */
export async function certificateFacts(config: Config, now: number): Promise<CertificateFacts> {
  const { submission, mx, acme, smtpHost: host } = config
  const isPublic = [...submission.listen, ...submission.implicitTlsListen, ...mx.listen].some((one) => !isLoopback(one.host))
  const known = { host, isPublic, isOrdered: acme.challenge !== 'off', now }
  try {
    const certificate = await readCertificate(config)
    const read = certificate && {
      beginsAt: certificate.begins.getTime(),
      expiresAt: certificate.expires.getTime(),
      isSelfSigned: certificate.selfSigned,
      coversHost: covers(certificate, host),
    }
    return { ...known, certificate: read }
  } catch (error) {
    if (error instanceof ConfigInvalid) return { ...known, certificate: error.message }
    throw error
  }
}

/** Returns the memory limit in octets: of the control group if one is set, otherwise of the machine. */
export const memoryLimit = (): number => Math.min(process.constrainedMemory() || Infinity, totalmem())

/** Reads /proc on Linux. The facts are unknown on other systems. */
async function fileFacts({ http, submission, mx, sites, delivery }: Config): Promise<FileFacts> {
  const visitors = sites.listen === null ? 0 : sites.maxConnections
  const needed = http.maxConnections + submission.maxConnections + mx.maxConnections + visitors + delivery.connectionsTotal + otherFiles
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  const open = await readdir('/proc/self/fd').then(
    (names) => names.length,
    () => undefined,
  )
  return { open, limit: soft === undefined ? undefined : Number(soft), needed }
}
