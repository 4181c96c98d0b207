/** The result of parsing a group of log lines, and the state that is remembered between groups. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { IgnoredLine, IgnoredReason } from '#core/ingest-sources/ignored-lines.ts'

/** An event and its line number, from 1. */
export interface LineEvent {
  readonly line: number
  readonly event: FeedbackEvent
  /** Domains of a complaint without a recipient; empty for all other events. */
  readonly domains: readonly string[]
}

export interface RejectedLine {
  readonly line: number
  readonly reason: string
}

/** A line without an event: ignored with a reason, or rejected because it is invalid. */
export type NoNews = { readonly ignored: IgnoredReason } | { readonly rejected: string }

export const hasNews = <T extends object>(found: T | NoNews): found is T => !('ignored' in found || 'rejected' in found)

/** A deferred recipient with the last reason. */
export interface DeferredRecipient {
  readonly recipient: string
  readonly originalRecipient: string | null
  readonly diagnostic: string | null
  readonly remoteMta: string | null
  readonly remoteIp: string | null
}

/** State of one message in a server's queue, collected from its other lines. Plain data of at most some 100 KiB. */
export interface LogSession {
  readonly returnPath: string | null
  readonly messageId: string | null
  readonly deferred: readonly DeferredRecipient[]
}

export interface LogReading {
  readonly events: readonly LineEvent[]
  readonly rejected: readonly RejectedLine[]
  /** Lines and records without an outcome, including empty lines. */
  readonly ignored: readonly IgnoredLine[]
  /** Sessions to store for a day. Each replaces the stored session with the same name. */
  readonly remember: ReadonlyMap<string, LogSession>
  /** Sessions of messages that left the queue. */
  readonly forget: readonly string[]
}

/** Parsed lines that wait for remembered sessions. */
export interface LogGroup {
  readonly lines: number
  /** Names of the sessions that `read` needs, unique within one source of logs; at most two for each record. */
  readonly needs: readonly string[]
  readonly read: (known: ReadonlyMap<string, LogSession>) => LogReading
}
