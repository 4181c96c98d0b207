/** Findings about the process and its machine: disk space, open files, certificate, clock, backups, queue. Pure. */
import { finding, type Finding, type FindingId } from './finding.ts'

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
const lateMs = hour
/** Smaller differences are corrections of the clock, not jumps. */
const jumpMs = minute
/** Tolerance for clocks: TOTP codes are valid for half a minute, signed requests of providers for some minutes. */
const offMs = 5000

/** Space on the file system of the data folder, in bytes. */
export interface DiskFacts {
  readonly dataDir: string
  readonly freeBytes: number
  /** Below this value, no mail is accepted. */
  readonly lowBytes: number
}

export function diskFindings({ dataDir, freeBytes, lowBytes }: DiskFacts): Finding[] {
  const free = `${dataDir} has ${mebibytes(freeBytes)} MiB free`
  const fix = `Free space on the file system of ${dataDir}: delete old backups and logs there, or shorten retention.`
  if (freeBytes < lowBytes) return [finding('disk.low', '', `${free}; below ${mebibytes(lowBytes)} MiB no mail is accepted.`, fix)]
  if (freeBytes < 3 * lowBytes) return [finding('disk.filling', '', `${free}; below ${mebibytes(lowBytes)} MiB no mail is accepted.`, fix)]
  return []
}

/** Log lines that the process could not write; `at` is the time of the latest. */
export interface LogFacts {
  readonly lines: number
  readonly at: number | undefined
  readonly problem: string | undefined
}

export function logFindings({ lines, at, problem }: LogFacts, now: number): Finding[] {
  if (at === undefined || now - at > hour) return []
  const count = lines === 1 ? 'One log line was' : `${lines} log lines were`
  const why = problem === undefined ? 'The log is written again.' : `The latest failed: ${problem}.`
  const fix = 'Free space on the file system of the log, or check that the program that reads it runs. Mail is processed without the log.'
  return [finding('log.lines_dropped', '', `${count} dropped since the start, the latest at ${new Date(at).toISOString()}. ${why}`, fix)]
}

/** Open files and sockets of the daemon; undefined if the system does not report them. */
export interface FileFacts {
  readonly open: number | undefined
  readonly limit: number | undefined
  /** Number that the limits on connections allow concurrently. */
  readonly needed: number
}

export function fileFindings({ open, limit, needed }: FileFacts): Finding[] {
  if (limit === undefined) return []
  const fix = `Raise the limit of open files to ${needed} or more: LimitNOFILE=${needed} in the systemd unit, or ulimit -n ${needed} before the start.`
  if (open !== undefined && open > limit * nearlyUsed)
    return [finding('files.nearly_used', '', `${open} of ${limit} open files and sockets are in use.`, fix)]
  if (limit >= needed) return []
  const summary = `The daemon may open ${limit} files and sockets, fewer than the ${needed} that its limits on connections allow.`
  return [finding('files.limit_low', '', summary, `${fix} Or lower POSTERN_HTTP_MAX_CONNECTIONS.`)]
}

/** With less memory, the operating system kills the process under load, as measured with large messages among small messages. */
export const neededMemoryMib = 384

/** `limit`: memory that the machine, the container or the service allows, in bytes. */
export function memoryFindings(limit: number): Finding[] {
  const mib = Math.floor(limit / 1_048_576)
  if (mib >= neededMemoryMib) return []
  const summary = `The daemon may use ${mib} MiB of memory, less than the ${neededMemoryMib} MiB that it needs under load.`
  return [
    finding('memory.limit_low', '', summary, `Raise the limit of the container or of the service (MemoryMax), or take a larger machine.`),
  ]
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
  /** Reason why the last order at the certificate authority failed, as a sentence; undefined without a failure. */
  readonly orderProblem?: string | undefined
  /** Whether other machines connect to these listeners. */
  readonly isPublic: boolean
  /** Whether the daemon orders certificates from a certificate authority. */
  readonly isOrdered: boolean
  readonly now: number
}

export const certificateFindings = (facts: CertificateFacts): Finding[] => [...orderFindings(facts), ...servedFindings(facts)]

function orderFindings({ orderProblem, certificate }: CertificateFacts): Finding[] {
  if (orderProblem === undefined) return []
  const until =
    typeof certificate === 'object' ? ` The previous certificate is served until ${new Date(certificate.expiresAt).toISOString()}.` : ''
  return [
    finding(
      'certificate.renewal_failed',
      '',
      orderProblem,
      `Check that each name resolves to this machine and the port of the challenge is reachable from outside.${until} The order is repeated automatically, and immediately after SIGHUP.`,
    ),
  ]
}

function servedFindings({ host, certificate, isPublic, isOrdered, now }: CertificateFacts): Finding[] {
  const own = 'Renew it, and restart the daemon if it does not read the new files by itself.'
  if (certificate === undefined) return isPublic && !isOrdered ? [selfSigned(host, 'will be', false)] : []
  if (typeof certificate === 'string')
    return [finding('certificate.unusable', '', certificate, 'Correct POSTERN_TLS_CERT and POSTERN_TLS_KEY, then restart the daemon.')]
  const { beginsAt, expiresAt, isSelfSigned, coversHost } = certificate
  const days = Math.floor((expiresAt - now) / day)
  const until = new Date(expiresAt).toISOString()
  if (days < 0) return [finding('certificate.expired', '', `The certificate of the SMTP listeners expired at ${until}.`, own)]
  if (!coversHost)
    return [
      finding(
        'certificate.name',
        '',
        `The certificate of the SMTP listeners is not valid for ${host}.`,
        `Get one for ${host}, or set POSTERN_SMTP_HOST to a name that it has.`,
      ),
    ]
  // the daemon's start renews a self-signed certificate in its last week
  if (isSelfSigned && isPublic) return [selfSigned(host, 'is', isOrdered)]
  const dueMs = Math.min(expiringDays * day, (expiresAt - beginsAt) * expiringShare)
  if (expiresAt - now >= dueMs || (isSelfSigned && days > 7)) return []
  return [finding('certificate.expiring', '', `The certificate of the SMTP listeners expires in ${days} days, at ${until}.`, own)]
}

const selfSigned = (host: string, verb: 'is' | 'will be', isOrdered: boolean): Finding =>
  finding(
    'certificate.self_signed',
    '',
    `The certificate of the SMTP listeners ${verb} self-signed: clients that verify it refuse to connect.`,
    isOrdered
      ? `The daemon orders one for ${host} when it starts with these settings. Where it runs with them, its log contains the answer of the certificate authority.`
      : `Let Postern order one for ${host} by POSTERN_ACME_CHALLENGE, or name the files of one in POSTERN_TLS_CERT and POSTERN_TLS_KEY; postern setup asks which.`,
  )

export interface ClockFacts {
  readonly now: number
  /** Change of the wall clock against the monotonic clock since the last check, in milliseconds, and the time of the check. */
  readonly jump: { readonly ms: number; readonly at: number } | undefined
}

export function clockFindings({ now, jump }: ClockFacts): Finding[] {
  if (!jump || Math.abs(jump.ms) < jumpMs || now - jump.at > day) return []
  const way = jump.ms > 0 ? 'forward' : 'back'
  const summary = `The clock of the machine jumped ${way} by ${Math.round(Math.abs(jump.ms) / 1000)} seconds, seen at ${new Date(jump.at).toISOString()}.`
  return [
    finding('clock.jumped', '', summary, 'Set the clock with a time service such as systemd-timesyncd or chrony, and check that it runs.'),
  ]
}

/** Lag of the clock behind a time server, in milliseconds; negative if the clock is ahead. */
export interface ClockLag {
  readonly server: string
  readonly ms: number
}

export function lagFindings({ server, ms }: ClockLag): Finding[] {
  if (Math.abs(ms) < offMs) return []
  const summary = `The clock of the machine is ${Math.round(Math.abs(ms) / 1000)} seconds ${ms > 0 ? 'behind' : 'ahead'}, compared with ${server}.`
  return [
    finding('clock.off', '', summary, 'Set the clock with a time service such as systemd-timesyncd or chrony, and check that it runs.'),
  ]
}

/** One sentence for each damaged part of the store. */
export function damageFindings(damage: readonly { readonly sentence: string }[]): Finding[] {
  const [first, ...more] = damage
  if (!first) return []
  const others = more.length === 0 ? '' : more.length === 1 ? ' One more problem exists.' : ` ${more.length} more problems exist.`
  const fix = 'Run postern verify, which lists all damage, and restore the last good backup. No new backups are created until then.'
  return [finding('store.damaged', '', `The store is damaged: ${first.sentence}${others}`, fix)]
}

/** Checks the key that the next start would use, while the running daemon has the correct key. */
export function keyFindings(found: { readonly id: FindingId; readonly problem: string } | undefined): Finding[] {
  if (!found) return []
  const fix = 'Do this before stopping the daemon; backups that it makes until then contain the correct key.'
  return [finding(found.id, '', found.problem, fix)]
}

/** `at`: time of the last backup's snapshot; undefined without backup. */
export function backupFindings(at: number | undefined, now: number): Finding[] {
  const fix = 'Run postern backup every day with a systemd timer or cron, and store the files on another machine.'
  if (at === undefined) return [finding('backup.none', '', 'There has been no backup yet.', fix)]
  const days = Math.floor((now - at) / day)
  return days > oldBackupDays ? [finding('backup.old', '', `The last backup is ${days} days old.`, fix)] : []
}

/** `oldestMs`: waiting time of the message that has been due longest. */
export function queueFindings(oldestMs: number): Finding[] {
  if (oldestMs < lateMs) return []
  const summary = `A message has waited for ${Math.floor(oldestMs / minute)} minutes since its attempt was due.`
  return [
    finding(
      'queue.late',
      '',
      summary,
      'Check which destinations are paused or slow. Raise max_connections of a destination that accepts more.',
    ),
  ]
}

/** Messages that people hold in the queue. */
export function heldFindings({ count, since }: { readonly count: number; readonly since: number | undefined }): Finding[] {
  if (count === 0) return []
  const from = since === undefined ? '' : `, since ${new Date(since).toISOString()}`
  const summary = `${count === 1 ? 'One message is' : `${count} messages are`} held in the queue${from}.`
  const fix = 'List them with postern queue list --held and postern queue holds. Release messages with postern queue release.'
  return [finding('queue.held', '', summary, fix)]
}

/** Reports that alerts are configured by mail, but mail of the service cannot be sent. */
export function alertFindings(mailTo: string | null, isMailReady: boolean): Finding[] {
  if (mailTo === null || isMailReady) return []
  return [
    finding(
      'alerts.no_mail',
      '',
      `Alerts to ${mailTo} are not sent: no live destination is set for mail of the service.`,
      'Set POSTERN_SYSTEM_DESTINATION to a live destination of the first organization, and POSTERN_SYSTEM_FROM.',
    ),
  ]
}

const mebibytes = (bytes: number): number => Math.floor(bytes / mebibyte)
