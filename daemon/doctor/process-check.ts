/** Checks the running process and its machine: collects the facts, which the core evaluates. */
import { readdir, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { ConfigInvalid, isLoopback, type Config } from '#config/settings/load.ts'
import type { Clock } from '#core/clock.ts'
import type { Check } from '#core/doctor/check.ts'
import {
  alertFindings,
  backupFindings,
  certificateFindings,
  clockFindings,
  diskFindings,
  fileFindings,
  heldFindings,
  keyFindings,
  memoryFindings,
  logFindings,
  queueFindings,
  type CertificateFacts,
  type ClockFacts,
  type FileFacts,
  type LogFacts,
} from '#core/doctor/process-findings.ts'
import type { HeldNow } from '#core/delivery/acts/held-now.ts'
import { lastBackupAt } from '../backup/last-backup.ts'
import { freeBytes } from '../observability/admission/admission.ts'
import type { KeyProblem } from '../process/master-key.ts'
import { covers, readCertificate } from '../certificates/certificate.ts'
import type { CurrentCertificate } from '../certificates/current-certificate.ts'

export interface ProcessCheckOptions {
  readonly config: Config
  readonly clock: Clock
  /** The certificate of the listeners. */
  readonly current: Pick<CurrentCertificate, 'problem'>
  /** Age of the message that has been due longest, in milliseconds. */
  readonly oldestQueuedMs: () => Promise<number>
  readonly heldNow: () => Promise<HeldNow>
  readonly isMailReady: () => Promise<boolean>
  /** Returns the problem with the key that the next start would use. */
  readonly keyProblem: () => Promise<KeyProblem | undefined>
  /** Undefined if the log does not go to an output of the process. */
  readonly logLoss: (() => LogFacts) | undefined
}

const everyMs = 5 * 60_000
/** Files of the store, of logs and of programs, in addition to connections. */
const otherFiles = 1000

export function processCheck({
  config,
  clock,
  current,
  oldestQueuedMs,
  heldNow,
  isMailReady,
  keyProblem,
  logLoss,
}: ProcessCheckOptions): Check {
  const watch = new ClockWatch(clock)
  return {
    name: 'process',
    everyMs,
    async find() {
      const now = clock.now()
      return [
        ...diskFindings({ dataDir: config.dataDir, freeBytes: freeBytes(config.dataDir), lowBytes: config.store.lowDiskBytes }),
        ...(logLoss ? logFindings(logLoss(), now) : []),
        ...fileFindings(await fileFacts(config)),
        ...keyFindings(await keyProblem()),
        ...memoryFindings(memoryLimit()),
        ...certificateFindings({ ...(await certificateFacts(config, now)), orderProblem: orderProblem(config, current) }),
        ...clockFindings(watch.look()),
        ...backupFindings(await lastBackupAt(config.dataDir), now),
        ...queueFindings(await oldestQueuedMs()),
        ...heldFindings(await heldNow()),
        ...alertFindings(config.doctor.mailTo, config.doctor.mailTo !== null && (await isMailReady())),
      ]
    },
  }
}

/** Returns the problem of an order in one sentence. Problems of certificate files are found by reading the files. */
function orderProblem({ acme }: Config, { problem }: Pick<CurrentCertificate, 'problem'>): string | undefined {
  if (acme.challenge === 'off' || problem === undefined) return undefined
  const text = problem.replaceAll(/\s+/g, ' ').trim()
  return /[.!?]$/.test(text) ? text : `${text}.`
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
