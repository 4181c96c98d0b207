/** Reads the activity-log request of the MailEnable agent: deliveries in the SMTP log, and refusals as counters. */
import { withCommas } from '#config/texts/formats.ts'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { feedbackEvent, mailbox, replyIn } from '../events/feedback-event.ts'
import { objectIn, type Unreadable } from '../events/json-value.ts'
import { momentOf, zoneOffset, type ZoneOffset } from './local-time.ts'
import { readEnvelope, type Agent, type Fields } from './mailenable-envelope.ts'
import { lineDigest, pathIn, readActivityLine, syntheticMessageId, type ActivityLine } from './mailenable-line.ts'

const maxLines = 5000

/** Facts about a message file from other lines of its session. */
export interface ActivitySession {
  /** The address in `MAIL FROM`. */
  readonly returnPath: string | null
  /** The authenticated account. */
  readonly account: string | null
}

export interface ActivityDelivery {
  readonly index: number
  readonly event: FeedbackEvent
  /** A generated ID, because the log does not contain the Message-ID. */
  readonly syntheticMessageId: string
  /** The postoffice of the envelope, or the domain of the session's account; null if both are unknown. */
  readonly postoffice: string | null
  readonly subject: string | null
}

/** A line that reports a refusal. */
export interface RefusedLine {
  /** Equal for the same line in every batch: 64 hexadecimal digits. */
  readonly key: string
  readonly postoffice: string | null
  readonly direction: 'in' | 'out'
  readonly codeClass: 4 | 5
  readonly peer: string
}

export interface ActivityReading {
  readonly deliveries: readonly ActivityDelivery[]
  readonly refusals: readonly RefusedLine[]
  /** Number of deliveries withheld because the server refused the message later in the connection. */
  readonly withheld: number
  /** Sessions to store for a day, by message file. Each replaces the stored session. */
  readonly remember: ReadonlyMap<string, ActivitySession>
}

export interface RejectedActivityLine {
  readonly index: number
  readonly reason: string
}

export interface ActivityEnvelope {
  readonly agent: Agent
  /** The position where the agent continues after this request is stored; null if it has no cursor. */
  readonly cursorEnd: number | null
  /** Number of valid lines, including lines without an event. */
  readonly acceptedLines: number
  readonly rejected: readonly RejectedActivityLine[]
  /** Message files whose sessions `read` needs. */
  readonly needs: readonly string[]
  readonly read: (known: ReadonlyMap<string, ActivitySession>) => ActivityReading
}

interface NumberedLine {
  readonly index: number
  readonly offset: number
  readonly line: ActivityLine
}

/** An accepted recipient, with the sender of the transaction if these lines contain it. */
interface AcceptedRecipient extends NumberedLine {
  readonly returnPath: string | null
}

/** A connection, with the recipients whose message has no reply yet. */
interface Connection {
  returnPath: string | null
  waiting: AcceptedRecipient[]
}

interface ActivityContext {
  readonly sourceId: string
  readonly offset: ZoneOffset
  readonly localDomains: ReadonlySet<string>
  readonly postoffice: string | null
}

/** Reads an envelope. `sourceId` is the ID of the bounce source; it becomes part of the line digests. */
export function readActivityEnvelope(body: Uint8Array, sourceId: string): ActivityEnvelope | Unreadable {
  const envelope = readEnvelope(body)
  if ('problems' in envelope) return envelope
  const { fields, agent } = envelope
  const offset = offsetIn(fields)
  const given = fields.list('lines')
  if (!given) fields.note('lines', 'is required')
  if (given && given.length > maxLines) fields.note('lines', `must hold at most ${withCommas(maxLines)} lines`)
  const localDomains = new Set(domainsIn(fields))
  const postoffice = fields.text('postoffice')?.trim() || null
  if (!given || !offset || fields.problems.length > 0) return { problems: fields.problems }
  const { lines, rejected } = linesIn(given)
  return {
    agent,
    cursorEnd: cursorEnd(fields),
    acceptedLines: given.length - rejected.length,
    rejected,
    needs: [...new Set(lines.map(({ line }) => line.file))],
    read: (known) => readLines(lines, known, { sourceId, offset, localDomains, postoffice }),
  }
}

function offsetIn(fields: Fields): ZoneOffset | null {
  const name = fields.text('time_zone')
  if (name !== null) return zoneOffset(name) ?? fields.note('time_zone', 'must be the name of a time zone such as Europe/Zurich')
  const minutes = fields.integer('utc_offset_minutes', -840, 840)
  if (minutes !== null) return () => minutes * 60_000
  return fields.note('time_zone', 'is required unless utc_offset_minutes is set, because the log contains local times')
}

const domainsIn = (fields: Fields): readonly string[] =>
  (fields.list('local_domains') ?? []).filter((domain) => typeof domain === 'string').map((domain) => domain.toLowerCase())

function cursorEnd(fields: Fields): number | null {
  const end = objectIn(fields.value('cursor'))?.['end']
  return typeof end === 'number' && Number.isSafeInteger(end) && end >= 0 ? end : null
}

function linesIn(given: readonly unknown[]): {
  readonly lines: readonly NumberedLine[]
  readonly rejected: readonly RejectedActivityLine[]
} {
  const lines: NumberedLine[] = []
  const rejected: RejectedActivityLine[] = []
  for (const [index, entry] of given.entries()) {
    const object = objectIn(entry)
    const text = typeof entry === 'string' ? entry : object?.['line']
    const line = typeof text === 'string' ? readActivityLine(text) : 'must be text, or {"offset", "line"}'
    const offset = object?.['offset']
    if (typeof line === 'string') rejected.push({ index, reason: line })
    else if (line) lines.push({ index, line, offset: typeof offset === 'number' && Number.isFinite(offset) ? offset : index })
  }
  // the offset in the log determines the order, not the order in the request
  return { lines: lines.toSorted((a, b) => a.offset - b.offset), rejected }
}

function readLines(lines: readonly NumberedLine[], known: ReadonlyMap<string, ActivitySession>, context: ActivityContext): ActivityReading {
  const sessions = sessionsIn(lines, known)
  const connections = new Map<string, Connection>()
  const accepted: AcceptedRecipient[] = []
  const refusals: RefusedLine[] = []
  let withheld = 0
  for (const numbered of lines) {
    const { line } = numbered
    if (line.replyCode !== null && line.replyCode >= 400) refusals.push(refusalOf(line, line.replyCode, sessions, context))
    const connection = connections.get(line.connection) ?? { returnPath: null, waiting: [] }
    connections.set(line.connection, connection)
    if (line.command === 'MAIL') connection.returnPath = mailbox(pathIn(line.argument))
    if (line.command === 'RCPT' && isDelivery(line, context)) connection.waiting.push({ ...numbered, returnPath: connection.returnPath })
    const isTaken = endOfMessage(line)
    if (isTaken === undefined) continue
    if (isTaken) accepted.push(...connection.waiting)
    else withheld += connection.waiting.length
    connection.waiting = []
  }
  for (const { waiting } of connections.values()) accepted.push(...waiting)
  const deliveries = accepted.toSorted((a, b) => a.offset - b.offset).map((recipient) => deliveryOf(recipient, sessions, context))
  const remember = new Map([...sessions].filter(([file, session]) => !isSame(session, known.get(file))))
  return { deliveries, refusals, withheld, remember }
}

/** True if a line ends a message that was accepted, false if it was not accepted; undefined for other lines. */
function endOfMessage({ command, replyCode }: ActivityLine): boolean | undefined {
  if (command === 'RSET') return false
  if ((command !== 'DATE' && command !== 'DATA') || replyCode === null) return undefined
  if (replyCode >= 400) return false
  return replyCode < 300 ? true : undefined
}

/**
 * Returns true if the line accepts a recipient of outgoing mail, or a recipient with a mailbox on this server. Mail for such a mailbox has
 * no later line about its delivery.
 */
function isDelivery({ replyCode, isOutgoing, argument }: ActivityLine, { localDomains }: ActivityContext): boolean {
  if (replyCode === null || replyCode >= 300) return false
  const recipient = mailbox(pathIn(argument))
  if (recipient === null) return false
  return isOutgoing || localDomains.has(recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase())
}

/** Sessions from these lines and earlier batches, because a batch may end within a session. */
function sessionsIn(lines: readonly NumberedLine[], known: ReadonlyMap<string, ActivitySession>): ReadonlyMap<string, ActivitySession> {
  const sessions = new Map<string, ActivitySession>()
  for (const { line } of lines) {
    const { file, command, argument, account } = line
    const before = sessions.get(file) ?? known.get(file)
    const from = command === 'MAIL' ? mailbox(pathIn(argument)) : null
    if (from === null && account === null) {
      if (before) sessions.set(file, before)
      continue
    }
    sessions.set(file, { returnPath: from ?? before?.returnPath ?? null, account: account?.slice(0, 320) ?? before?.account ?? null })
  }
  return sessions
}

const isSame = (session: ActivitySession, before: ActivitySession | undefined): boolean =>
  session.returnPath === before?.returnPath && session.account === before.account

function deliveryOf(
  recipient: AcceptedRecipient,
  sessions: ReadonlyMap<string, ActivitySession>,
  context: ActivityContext,
): ActivityDelivery {
  const { index, line } = recipient
  const digest = lineDigest(context.sourceId, line)
  const returnPath = recipient.returnPath ?? sessions.get(line.file)?.returnPath ?? null
  const { smtpCode, status } = replyIn(line.reply)
  const event = feedbackEvent({
    format: 'mailenable',
    type: 'delivered',
    action: line.isOutgoing ? 'relayed' : 'delivered',
    key: digest,
    occurredAt: momentOf(line.localMs, context.offset),
    recipient: pathIn(line.argument),
    status: status ?? '2.0.0',
    smtpCode,
    diagnostic: line.reply,
    remoteIp: line.isOutgoing ? line.peer : null,
    clues: { returnPaths: returnPath === null ? [] : [returnPath] },
  })
  return {
    index,
    event,
    syntheticMessageId: syntheticMessageId(digest),
    postoffice: postofficeOf(line, sessions, context),
    subject: line.subject,
  }
}

function postofficeOf(
  { file }: ActivityLine,
  sessions: ReadonlyMap<string, ActivitySession>,
  { postoffice }: ActivityContext,
): string | null {
  const account = sessions.get(file)?.account ?? ''
  return postoffice ?? (account.slice(account.lastIndexOf('@') + 1) || null)
}

const refusalOf = (
  line: ActivityLine,
  replyCode: number,
  sessions: ReadonlyMap<string, ActivitySession>,
  context: ActivityContext,
): RefusedLine => ({
  key: lineDigest(context.sourceId, line),
  postoffice: postofficeOf(line, sessions, context),
  direction: line.isOutgoing ? 'out' : 'in',
  codeClass: replyCode >= 500 ? 5 : 4,
  peer: line.peer,
})
