/** Findings about the process and its machine: disk space, open files, certificate, clock, backups. Pure. */
import { observed, type Observed } from '../findings/finding.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const mebibyte = 1024 * 1024

/** Remaining days, and remaining share of the lifetime, at which a certificate should have been renewed. */
const expiringDays = 14
const expiringShare = 0.2
/** Share of the limit of open files. */
const nearlyUsed = 0.8
const oldBackupDays = 7
/** Smaller differences are corrections of the clock, not jumps. */
const jumpMs = minute
/** Tolerance for clocks: TOTP codes are valid for half a minute, signed requests of providers for some minutes. */
const offMs = 5000
/** Maximum length of a sentence among the values of a finding. */
const maxSentence = 1000

/** Space on the file system of the data folder, in bytes. */
export interface DiskFacts {
  readonly dataDir: string
  readonly freeBytes: number
  /** Below this value, no mail is accepted. */
  readonly lowBytes: number
}

export function diskFindings({ dataDir, freeBytes, lowBytes }: DiskFacts): Observed[] {
  const params = { folder: dataDir, freeMib: mebibytes(freeBytes), neededMib: mebibytes(lowBytes) }
  if (freeBytes < lowBytes) return [observed('disk.low', '', params)]
  return freeBytes < 3 * lowBytes ? [observed('disk.filling', '', params)] : []
}

/** Log lines that the process could not write; `at` is the time of the latest. */
export interface LogFacts {
  readonly lines: number
  readonly at: number | undefined
  readonly problem: string | undefined
}

export function logFindings({ lines, at, problem }: LogFacts, now: number): Observed[] {
  if (at === undefined || now - at > hour) return []
  const code = problem === undefined ? 'none' : (/^[A-Z][A-Z0-9_]+/.exec(problem)?.[0] ?? 'unknown')
  return [observed('log.lines_dropped', '', { lines, latestAt: at, code })]
}

/** Open files and sockets of the daemon; undefined if the system does not report them. */
export interface FileFacts {
  readonly open: number | undefined
  readonly limit: number | undefined
  /** Number that the limits on connections allow concurrently. */
  readonly needed: number
}

export function fileFindings({ open, limit, needed }: FileFacts): Observed[] {
  if (limit === undefined) return []
  if (open !== undefined && open > limit * nearlyUsed) return [observed('files.nearly_used', '', { open, limit, needed })]
  return limit >= needed ? [] : [observed('files.limit_low', '', { limit, needed })]
}

const oldestNode = [24, 12] as const

export function nodeFindings(version: string): Observed[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isRecent = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  return isRecent ? [] : [observed('machine.node', '', { version, needed: oldestNode.join('.') })]
}

/** With less memory, the operating system kills the process under load, as measured with large messages among small messages. */
export const neededMemoryMib = 384

/** `limit`: memory that the machine, the container or the service allows, in bytes. */
export function memoryFindings(limit: number): Observed[] {
  const mib = mebibytes(limit)
  return mib >= neededMemoryMib ? [] : [observed('memory.limit_low', '', { mib, neededMib: neededMemoryMib })]
}

interface SeenCertificate {
  readonly beginsAt: number
  readonly expiresAt: number
  readonly isSelfSigned: boolean
  readonly coversHost: boolean
}

/** Facts about the certificate of the listeners. */
export interface CertificateFacts {
  readonly host: string
  /** Undefined if no certificate exists yet; a sentence if the certificate is unusable. */
  readonly certificate: SeenCertificate | string | undefined
  /** Whether other machines connect to these listeners. */
  readonly isPublic: boolean
  /** Whether the daemon orders certificates from a certificate authority. */
  readonly isOrdered: boolean
  readonly now: number
}

/** The last order at the certificate authority failed. */
export function orderFindings({ certificate }: Pick<CertificateFacts, 'certificate'>): Observed[] {
  const isServed = typeof certificate === 'object'
  const params = { served: isServed ? 'yes' : 'no', expiresAt: isServed ? certificate.expiresAt : 0 }
  return [observed('certificate.renewal_failed', '', params)]
}

export function certificateFindings({ host, certificate, isPublic, isOrdered, now }: CertificateFacts): Observed[] {
  const selfSigned = (state: 'now' | 'soon', ordered: boolean): Observed[] => [
    observed('certificate.self_signed', '', { host, state, ordered: ordered ? 'yes' : 'no' }),
  ]
  if (certificate === undefined) return isPublic && !isOrdered ? selfSigned('soon', false) : []
  if (typeof certificate === 'string') return [observed('certificate.unusable', '', { problem: certificate })]
  const { beginsAt, expiresAt, isSelfSigned, coversHost } = certificate
  const days = Math.floor((expiresAt - now) / day)
  if (days < 0) return [observed('certificate.expired', '', { expiresAt })]
  if (!coversHost) return [observed('certificate.name', '', { host })]
  // the daemon's start renews a self-signed certificate in its last week
  if (isSelfSigned && isPublic) return selfSigned('now', isOrdered)
  const dueMs = Math.min(expiringDays * day, (expiresAt - beginsAt) * expiringShare)
  if (expiresAt - now >= dueMs || (isSelfSigned && days > 7)) return []
  return [observed('certificate.expiring', '', { days, expiresAt })]
}

export interface ClockFacts {
  readonly now: number
  /** Change of the wall clock against the monotonic clock since the last check, in milliseconds, and the time of the check. */
  readonly jump: { readonly ms: number; readonly at: number } | undefined
}

export function clockFindings({ now, jump }: ClockFacts): Observed[] {
  if (!jump || Math.abs(jump.ms) < jumpMs || now - jump.at > day) return []
  const params = { direction: jump.ms > 0 ? 'forward' : 'back', seconds: Math.round(Math.abs(jump.ms) / 1000), seenAt: jump.at }
  return [observed('clock.jumped', '', params)]
}

/** Lag of the clock behind a time server, in milliseconds; negative if the clock is ahead. */
export interface ClockLag {
  /** Name of the server; `database` is the database of the store. */
  readonly server: string
  readonly ms: number
}

export function lagFindings({ server, ms }: ClockLag): Observed[] {
  if (Math.abs(ms) < offMs) return []
  return [observed('clock.off', '', { server, seconds: Math.round(Math.abs(ms) / 1000), direction: ms > 0 ? 'behind' : 'ahead' })]
}

/** One sentence for each damaged part of the store. */
export function damageFindings(damage: readonly { readonly sentence: string }[]): Observed[] {
  const [first, ...more] = damage
  return first ? [observed('store.damaged', '', { problem: first.sentence.slice(0, maxSentence), more: more.length })] : []
}

/** The problem of a master key. */
export interface KeyFault {
  readonly kind: 'master_key.missing' | 'master_key.wrong'
  /** The file that holds the key. */
  readonly path: string
  readonly folder: string
  /** The file does not hold a key. */
  readonly isUnreadable?: boolean
}

/** Reports the key that the next start would use. `isRunning`: a daemon runs, and uses the right key until it stops. */
export function keyFindings(fault: KeyFault | undefined, isRunning: boolean): Observed[] {
  if (!fault) return []
  const { kind, path, folder, isUnreadable = false } = fault
  return [observed(kind, '', { path, folder, cause: isUnreadable ? 'unreadable' : 'other', running: isRunning ? 'yes' : 'no' })]
}

/** `at`: time of the last backup's snapshot; undefined without backup. Other programs can back up a database. */
export function backupFindings(at: number | undefined, now: number, store: 'folder' | 'database' = 'folder'): Observed[] {
  if (at === undefined) return [observed('backup.none', '', { store })]
  const days = Math.floor((now - at) / day)
  return days > oldBackupDays ? [observed('backup.old', '', { days })] : []
}

/** Reports that alerts are configured by mail, but mail of the service cannot be sent. */
export const alertFindings = (mailTo: string | null, isMailReady: boolean): Observed[] =>
  mailTo === null || isMailReady ? [] : [observed('alerts.no_mail', '')]

const mebibytes = (bytes: number): number => Math.floor(bytes / mebibyte)
