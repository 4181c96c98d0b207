/**
 * Log lines of Postfix, bare or in the records of shippers. Sender and Message-ID of a delivery stand on other lines of the
 * same queue id, so lines are joined within a group, and by what is remembered across groups.
 */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { JsonObject } from '../events/json-value.ts'
import type { LineGroup } from './log-lines.ts'
import { recordsIn, type LogRecord } from './log-records.ts'
import type { DeferredRecipient, LineEvent, LogGroup, LogReading, LogSession, RejectedLine } from './log-group.ts'
import { deliveryEvent, expiredEvent, idBehindFilter, meaningOf, waitingRecipient } from './postfix-event.ts'
import { isGrokked, readPostfixFields, readPostfixText, unconcerned, type PostfixLine } from './postfix-line.ts'
import { lineIn, originOf, type ShippedLine } from './shipped-record.ts'
import { syslogLine } from './syslog-line.ts'

/** Recipients of one message whose waiting is remembered. */
const maxDeferred = 100

interface NumberedLine {
  readonly line: number
  /** Of its session. */
  readonly name: string
  readonly parsed: PostfixLine
}

interface TakenApart {
  readonly lines: readonly NumberedLine[]
  readonly rejected: readonly RejectedLine[]
  readonly ignored: number
}

export function readPostfixGroup({ first, lines }: LineGroup): LogGroup {
  const parts = takeApart(first, lines)
  const needs = [...new Set(parts.lines.flatMap(({ parsed, name }) => [name, ...nameBehindFilter(parsed)]))]
  return { lines: lines.length, needs, read: (known) => join(parts, known) }
}

/** Queue ids are unique on one host only. */
const sessionName = ({ host, queueId }: PostfixLine): string => `${host.slice(0, 255).toLowerCase()}/${queueId}`

/** The session of the copy that a filter may have given back. */
function nameBehindFilter(line: PostfixLine): readonly string[] {
  const queueId = line.fact.kind === 'delivery' ? idBehindFilter(line.fact.delivery) : undefined
  return queueId === undefined ? [] : [sessionName({ ...line, queueId })]
}

function takeApart(first: number, lines: LineGroup['lines']): TakenApart {
  const parsed: NumberedLine[] = []
  const rejected: RejectedLine[] = []
  let ignored = 0
  for (const [i, text] of lines.entries()) {
    const line = first + i
    for (const record of recordsIn(text)) {
      const found = withKnownStatus(readRecord(record))
      if (typeof found !== 'string') parsed.push({ line, name: sessionName(found), parsed: found })
      else if (found === unconcerned) ignored++
      else rejected.push({ line, reason: found })
    }
  }
  return { lines: parsed, rejected, ignored }
}

/** A status that is not known says nothing of the recipient, who may be waiting still. */
function withKnownStatus(found: PostfixLine | string): PostfixLine | string {
  if (typeof found === 'string' || found.fact.kind !== 'delivery' || meaningOf(found.fact.delivery.status) !== undefined) return found
  return `has the delivery status "${found.fact.delivery.status.slice(0, 40)}", which is not known`
}

/** The line in a record, or a reason why there is none. */
function readRecord(record: LogRecord): PostfixLine | string {
  if (record.kind === 'empty') return unconcerned
  if (record.kind === 'unreadable') return record.reason
  return record.kind === 'text' ? readText(record.text) : readJson(record.value)
}

function readText(text: string): PostfixLine | string {
  const line = syslogLine(text) ?? { text, program: null, host: null, time: null }
  return readPostfixText(line) ?? 'is no line of syslog or Postfix'
}

function readJson(record: JsonObject): PostfixLine | string {
  if (isGrokked(record)) return readPostfixFields(record)
  const text = lineIn(record)
  if (text === undefined) return 'is no record with the field message, log, line, msg or MESSAGE'
  return readPostfixText(withinRecord(text, record)) ?? 'holds no line of syslog or Postfix'
}

/** The header of the line itself says more than the shipper, which may have read it hours later and on another host. */
function withinRecord(text: string, record: JsonObject): ShippedLine {
  const inner = syslogLine(text)
  if (inner && inner.program !== null && inner.host !== null && inner.time !== null) return inner
  const outer = originOf(record)
  if (!inner) return { text, ...outer }
  const { program, host, time } = inner
  return { text: inner.text, program: program ?? outer.program, host: host ?? outer.host, time: time ?? outer.time }
}

interface Draft {
  returnPath: string | null
  messageId: string | null
  readonly deferred: Map<string, DeferredRecipient>
  isGone: boolean
}

function join({ lines, rejected, ignored }: TakenApart, known: ReadonlyMap<string, LogSession>): LogReading {
  const drafts = draftsOf(lines, known)
  const events: LineEvent[] = []
  let passed = ignored
  for (const { line, name, parsed: found } of lines) {
    const draft = drafts.get(name)
    const cameBack = nameBehindFilter(found).some((copy) => drafts.has(copy) || known.has(copy))
    const made = draft ? eventsOf(found, draft, cameBack) : []
    for (const event of made) events.push({ line, event, domains: [] })
    if (made.length === 0) passed++
  }
  const remember = new Map<string, LogSession>()
  const forget: string[] = []
  for (const [name, draft] of drafts) {
    if (!draft.isGone) remember.set(name, sessionOf(draft))
    else if (known.has(name)) forget.push(name)
  }
  return { events, rejected, ignored: passed, remember, forget }
}

const sessionOf = ({ returnPath, messageId, deferred }: Draft): LogSession => ({ returnPath, messageId, deferred: [...deferred.values()] })

/** What is known of each message before its deliveries are looked at: files of several services may come in any order. */
function draftsOf(lines: readonly NumberedLine[], known: ReadonlyMap<string, LogSession>): ReadonlyMap<string, Draft> {
  const drafts = new Map<string, Draft>()
  for (const { name, parsed: line } of lines) {
    const draft = drafts.get(name) ?? draftFrom(known.get(name))
    drafts.set(name, draft)
    const { fact } = line
    if (fact.kind === 'queued') draft.messageId = fact.messageId.slice(0, 998) || null
    else if (fact.kind === 'active' || fact.kind === 'expired') draft.returnPath = fact.from.slice(0, 320) || null
    else if (fact.kind === 'removed') draft.isGone = true
  }
  return drafts
}

const draftFrom = (session: LogSession | undefined): Draft => ({
  returnPath: session?.returnPath ?? null,
  messageId: session?.messageId ?? null,
  deferred: new Map(session?.deferred.map((waiting) => [waiting.recipient, waiting])),
  isGone: false,
})

/** The events of a line; moves recipients in and out of the draft's waiting list. Mail that comes back from a filter makes none. */
function eventsOf(line: PostfixLine, draft: Draft, cameBack: boolean): readonly FeedbackEvent[] {
  const { fact } = line
  const session = { returnPath: draft.returnPath, messageId: draft.messageId, deferred: [] }
  if (fact.kind === 'expired') {
    const waiting = [...draft.deferred.values()]
    draft.deferred.clear()
    return waiting.map((recipient) => expiredEvent(line, recipient, session))
  }
  if (fact.kind !== 'delivery') return []
  const { delivery } = fact
  if (meaningOf(delivery.status) === 'deferred') {
    if (draft.deferred.size < maxDeferred) draft.deferred.set(delivery.to, waitingRecipient(delivery))
  } else draft.deferred.delete(delivery.to)
  const event = cameBack ? undefined : deliveryEvent(line, delivery, session)
  return event ? [event] : []
}
