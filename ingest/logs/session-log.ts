/**
 * Logs of mail servers that write of one message in several lines, bare or in the records of shippers. Sender and Message-ID stand on
 * other lines than the outcome, so lines of one queue id are joined, within a group and by what is remembered across groups.
 */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { IgnoredLine } from '#core/ingest-sources/ignored-lines.ts'
import type { JsonObject } from '../events/json-value.ts'
import { hasNews, type DeferredRecipient, type LineEvent, type LogGroup, type LogReading, type NoNews } from './log-group.ts'
import type { LogSession, RejectedLine } from './log-group.ts'
import type { LineGroup } from './log-lines.ts'
import { recordsIn, type LogRecord } from './log-records.ts'
import { lineIn, originOf, type ShippedLine } from './shipped-record.ts'
import { syslogLine } from './syslog-line.ts'

/** A line of the server about one message. Queue ids are unique on one host only. */
export interface SessionLine {
  readonly host: string
  readonly queueId: string
}

/** What is known of a message while lines are joined. */
export interface SessionDraft {
  returnPath: string | null
  messageId: string | null
  readonly deferred: Map<string, DeferredRecipient>
  /** It left the queue. */
  isGone: boolean
}

/** How the lines of one kind of server are read. */
export interface SessionLogKind<L extends SessionLine> {
  /** For sentences about lines that cannot be read. */
  readonly name: string
  /** Matches a line of the server without a syslog header, where its form is sure. */
  readonly ownHeader?: RegExp
  /** Undefined for what is no line of a log. */
  readonly readText: (line: ShippedLine) => L | NoNews | undefined
  /** Records whose fields a filter has taken out of the line; undefined for others. */
  readonly readFields?: (record: JsonObject) => L | NoNews | undefined
  /** The queue id under which a filter beside the server may have given the message back. */
  readonly idBehindFilter: (line: L) => string | undefined
  readonly learn: (line: L, draft: SessionDraft) => void
  /** The events of a line; moves recipients in and out of the draft's waiting list. Mail that comes back from a filter makes none. */
  readonly eventsOf: (line: L, draft: SessionDraft, cameBack: boolean) => readonly FeedbackEvent[]
  /** Whether a line without an event reports a delivery all the same. */
  readonly isDelivery: (line: L) => boolean
}

interface NumberedLine<L> {
  readonly line: number
  readonly text: string
  /** Of its session. */
  readonly name: string
  readonly parsed: L
}

interface TakenApart<L> {
  readonly lines: readonly NumberedLine<L>[]
  readonly rejected: readonly RejectedLine[]
  readonly ignored: readonly IgnoredLine[]
}

/** Takes a group of lines apart and joins them with what is remembered. */
export class SessionLog<L extends SessionLine> {
  readonly #kind: SessionLogKind<L>

  constructor(kind: SessionLogKind<L>) {
    this.#kind = kind
  }

  readGroup({ first, lines }: LineGroup): LogGroup {
    const parts = this.#takeApart(first, lines)
    const needs = [...new Set(parts.lines.flatMap(({ parsed, name }) => [name, ...this.#nameBehindFilter(parsed)]))]
    return { lines: lines.length, needs, read: (known) => this.#join(parts, known) }
  }

  #takeApart(first: number, lines: LineGroup['lines']): TakenApart<L> {
    const parsed: NumberedLine<L>[] = []
    const rejected: RejectedLine[] = []
    const ignored: IgnoredLine[] = []
    for (const [i, text = ''] of lines.entries()) {
      const line = first + i
      for (const record of recordsIn(lines[i])) {
        const found = this.#readRecord(record)
        if (hasNews(found)) parsed.push({ line, text, name: sessionName(found), parsed: found })
        else if ('ignored' in found) ignored.push({ reason: found.ignored, text })
        else rejected.push({ line, reason: found.rejected })
      }
    }
    return { lines: parsed, rejected, ignored }
  }

  /** The session of the copy that a filter may have given back. */
  #nameBehindFilter(line: L): readonly string[] {
    const queueId = this.#kind.idBehindFilter(line)
    return queueId === undefined ? [] : [sessionName({ ...line, queueId })]
  }

  #readRecord(record: LogRecord): L | NoNews {
    if (record.kind === 'empty') return { ignored: 'empty' }
    if (record.kind === 'unreadable') return { rejected: record.reason }
    const { name, readText, readFields } = this.#kind
    if (record.kind === 'text') {
      const bare = { text: record.text, program: null, host: null, time: null }
      return readText(this.#headed(record.text) ?? bare) ?? { rejected: `is no line of syslog or ${name}` }
    }
    const fields = readFields?.(record.value)
    if (fields) return fields
    const text = lineIn(record.value)
    if (text === undefined) return { rejected: 'is no record with the field message, log, line, msg or MESSAGE' }
    return readText(this.#withinRecord(text, record.value)) ?? { rejected: `holds no line of syslog or ${name}` }
  }

  /** The header of the line itself says more than the shipper, which may have read it hours later and on another host. */
  #withinRecord(text: string, record: JsonObject): ShippedLine {
    const inner = this.#headed(text)
    if (inner && inner.program !== null && inner.host !== null && inner.time !== null) return inner
    const outer = originOf(record)
    if (!inner) return { text, ...outer }
    const { program, host, time } = inner
    return { text: inner.text, program: program ?? outer.program, host: host ?? outer.host, time: time ?? outer.time }
  }

  #headed(text: string): ShippedLine | undefined {
    return syslogLine(text, this.#kind.ownHeader)
  }

  #join({ lines, rejected, ignored }: TakenApart<L>, known: ReadonlyMap<string, LogSession>): LogReading {
    const drafts = this.#draftsOf(lines, known)
    const events: LineEvent[] = []
    const passed = [...ignored]
    for (const { line, text, name, parsed } of lines) {
      const draft = drafts.get(name)
      const cameBack = this.#nameBehindFilter(parsed).some((copy) => drafts.has(copy) || known.has(copy))
      const made = draft ? this.#kind.eventsOf(parsed, draft, cameBack) : []
      for (const event of made) events.push({ line, event, domains: [] })
      if (made.length === 0) passed.push({ reason: this.#kind.isDelivery(parsed) ? 'handed_on' : 'no_outcome', text })
    }
    const remember = new Map<string, LogSession>()
    const forget: string[] = []
    for (const [name, draft] of drafts) {
      if (!draft.isGone) remember.set(name, sessionOf(draft))
      else if (known.has(name)) forget.push(name)
    }
    return { events, rejected, ignored: passed, remember, forget }
  }

  /** What is known of each message before its deliveries are looked at: files of several services may come in any order. */
  #draftsOf(lines: readonly NumberedLine<L>[], known: ReadonlyMap<string, LogSession>): ReadonlyMap<string, SessionDraft> {
    const drafts = new Map<string, SessionDraft>()
    for (const { name, parsed } of lines) {
      const draft = drafts.get(name) ?? draftFrom(known.get(name))
      drafts.set(name, draft)
      this.#kind.learn(parsed, draft)
    }
    return drafts
  }
}

const sessionName = ({ host, queueId }: SessionLine): string => `${host.slice(0, 255).toLowerCase()}/${queueId}`

const sessionOf = ({ returnPath, messageId, deferred }: SessionDraft): LogSession => ({
  ...{ returnPath, messageId },
  deferred: [...deferred.values()],
})

const draftFrom = (session: LogSession | undefined): SessionDraft => ({
  returnPath: session?.returnPath ?? null,
  messageId: session?.messageId ?? null,
  deferred: new Map(session?.deferred.map((waiting) => [waiting.recipient, waiting])),
  isGone: false,
})

/** A return path or Message-ID as it is remembered: cut, and null when it is empty. */
export const returnPathOf = (text: string): string | null => text.slice(0, 320) || null
export const messageIdOf = (text: string): string | null => text.slice(0, 998) || null
