/**
 * Parses one line of MailEnable's SMTP activity log: tab-separated columns, with one command and its reply on each line. The columns follow
 * the vendor's documentation of versions 9 and 10.
 */
import { hash } from 'node:crypto'
import { withCommas } from '#config/texts/formats.ts'

export interface ActivityLine {
  /** The local time in milliseconds, as if it were UTC. */
  readonly localMs: number
  /** `SMTP-OU` marks mail that the server sends. */
  readonly isOutgoing: boolean
  /** The message file, such as `3B9454B8BCED4F88A24BFEF44DE6CF50.MAI`, in upper case; it identifies the session. */
  readonly file: string
  /** File, direction, socket and peer, which together identify a connection. */
  readonly connection: string
  readonly peer: string
  readonly command: string
  /** The command line; empty for AUTH, because it contains passwords. */
  readonly argument: string
  readonly reply: string
  readonly replyCode: number | null
  /** The authenticated account (column 11) and the subject (column 12). */
  readonly account: string | null
  readonly subject: string | null
  /** The first eight columns as written, without the command line of AUTH. */
  readonly identity: string
}

const columnsMin = 8
const argumentAt = 6
const started = /^\[\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d\]\*/
const timeForm = /^(\d\d)\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)$/
const maxLine = 16_384

/** Parses a line. Null for an empty line or the start of a file; a string is the reason why the line is invalid. */
export function readActivityLine(given: string): ActivityLine | string | null {
  if (given.length > maxLine) return `is longer than ${withCommas(maxLine)} characters`
  const text = given.replace(/[\r\n]+$/, '')
  if (text.trim() === '' || started.test(text)) return null
  const columns = text.split('\t')
  if (columns.length < columnsMin) return `has ${String(columns.length)} columns instead of at least ${String(columnsMin)}`
  const [time = '', direction = '', file = '', socket = '', peer = '', command = '', argument = '', reply = ''] = columns
  const localMs = localTime(time)
  if (localMs === undefined) return 'does not begin with a time such as 08/21/26 12:15:00'
  if (direction !== 'SMTP-IN' && direction !== 'SMTP-OU') return 'has neither SMTP-IN nor SMTP-OU in column 2'
  const verb = command.trim().toUpperCase()
  const code = /^[2-5]\d\d(?=[ -]|$)/.exec(reply)?.[0]
  return {
    localMs,
    isOutgoing: direction === 'SMTP-OU',
    file: file.trim().toUpperCase(),
    connection: [file, direction, socket, peer].join('\t'),
    peer: peer.trim(),
    command: verb,
    argument: verb === 'AUTH' ? '' : argument,
    reply,
    replyCode: code === undefined ? null : Number(code),
    account: columns[10]?.trim() || null,
    subject: columns[11]?.trim() || null,
    identity: columns
      .slice(0, columnsMin)
      .with(argumentAt, verb === 'AUTH' ? '' : argument)
      .join('\t'),
  }
}

/** Parses month, day and a two-digit year of this century. */
function localTime(text: string): number | undefined {
  const [, month, day, year, hour, minute, second] = (timeForm.exec(text) ?? []).map(Number)
  if (month === undefined || day === undefined || year === undefined) return undefined
  const at = new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second))
  const isReal = at.getUTCMonth() === month - 1 && at.getUTCDate() === day && at.getUTCHours() === hour && at.getUTCMinutes() === minute
  return isReal ? at.getTime() : undefined
}

/** The address in `MAIL FROM:<…>` or `RCPT TO:<…>`; null if missing. */
export function pathIn(argument: string): string | null {
  return /:\s{0,8}<([^<>\s]{1,320})>/.exec(argument)?.[1] ?? null
}

/** The digest of a line: 64 hexadecimal digits, equal for the same line and source. `sourceId` is the ID of the bounce source. */
export const lineDigest = (sourceId: string, { identity }: ActivityLine): string =>
  hash('sha256', `me-activity.v1\0${sourceId}\0${identity}`, 'hex')

/** The generated Message-ID of a delivery, because the log does not contain one. */
export const syntheticMessageId = (digest: string): string => `<${digest.slice(0, 32)}@activity.mailenable.invalid>`
