/**
 * Reads logs whose lines each contain only some facts of a message, as plain lines or in the records of shippers. Sender, Message-ID and
 * outcome are on different lines. Lines are joined by queue ID, within a group and with the remembered sessions.
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

/** A line of the server about one message. Queue IDs are unique on one host only. */
export interface SessionLine {
  readonly host: string
  readonly queueId: string
}

/** Known facts about a message while lines are joined. */
export interface SessionDraft {
  returnPath: string | null
  messageId: string | null
  readonly deferred: Map<string, DeferredRecipient>
  /** The message left the queue. */
  isGone: boolean
}

/** The functions that read the lines of one kind of server. */
export interface SessionLogKind<L extends SessionLine> {
  /** Name for error messages. */
  readonly name: string
  /** Recognizes a line of the server without a syslog header, if the server has such a form. */
  readonly ownHeader?: RegExp
  /** Undefined if the text is not a log line. */
  readonly readText: (line: ShippedLine) => L | NoNews | undefined
  /** Reads records whose fields a filter extracted from the line. Undefined for other records. */
  readonly readFields?: (record: JsonObject) => L | NoNews | undefined
  /** The queue ID of the copy that a local filter may have returned. */
  readonly idBehindFilter: (line: L) => string | undefined
  readonly learn: (line: L, draft: SessionDraft) => void
  /**
   * The events of a line. Adds recipients to the draft's deferred list or removes them. `cameBack`: a filter returned the message, so the
   * line causes no event.
   */
  readonly eventsOf: (line: L, draft: SessionDraft, cameBack: boolean) => readonly FeedbackEvent[]
  /** True if a line without an event still reports a delivery. */
  readonly isDelivery: (line: L) => boolean
}

interface NumberedLine<L> {
  readonly line: number
  readonly text: string
  /** Name of the line's session. */
  readonly name: string
  readonly parsed: L
}

interface TakenApart<L> {
  readonly lines: readonly NumberedLine<L>[]
  readonly rejected: readonly RejectedLine[]
  readonly ignored: readonly IgnoredLine[]
}

/** Parses a group of lines and joins them with the remembered sessions. */
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

  /** The session of the copy that a filter may have returned. */
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
      return readText(this.#headed(record.text) ?? bare) ?? { rejected: `is not a line of syslog or ${name}` }
    }
    const fields = readFields?.(record.value)
    if (fields) return fields
    const text = lineIn(record.value)
    if (text === undefined) return { rejected: 'has no field message, log, line, msg or MESSAGE' }
    return readText(this.#withinRecord(text, record.value)) ?? { rejected: `contains no line of syslog or ${name}` }
  }

  /** The header of the line takes precedence over the shipper, which may have read it hours later on another host. */
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

  /** Collects the facts about all messages first, and their deliveries later, because files of several services may arrive in any order. */
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

/** A return path or Message-ID to remember: cut to its maximum length, null if empty. */
export const returnPathOf = (text: string): string | null => text.slice(0, 320) || null
export const messageIdOf = (text: string): string | null => text.slice(0, 998) || null
