/** What a group of log lines is read into, and what is remembered between groups. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { IgnoredLine, IgnoredReason } from '#core/ingest-sources/ignored-lines.ts'

/** An event and the number of its line, from 1. */
export interface LineEvent {
  readonly line: number
  readonly event: FeedbackEvent
  /** Domains that a complaint without a recipient is about; empty for everything else. */
  readonly domains: readonly string[]
}

export interface RejectedLine {
  readonly line: number
  readonly reason: string
}

/** Why a line has no news of a message: it is ignored, or cannot be read. */
export type NoNews = { readonly ignored: IgnoredReason } | { readonly rejected: string }

export const hasNews = <T extends object>(found: T | NoNews): found is T => !('ignored' in found || 'rejected' in found)

/** A recipient whose delivery was put off, with the last reason. */
export interface DeferredRecipient {
  readonly recipient: string
  readonly originalRecipient: string | null
  readonly diagnostic: string | null
  readonly remoteMta: string | null
  readonly remoteIp: string | null
}

/** What is known of one message in a server's queue from its other lines. Plain data, at most some 100 KiB. */
export interface LogSession {
  readonly returnPath: string | null
  readonly messageId: string | null
  readonly deferred: readonly DeferredRecipient[]
}

export interface LogReading {
  readonly events: readonly LineEvent[]
  readonly rejected: readonly RejectedLine[]
  /** Lines and records that report no outcome, empty lines among them. */
  readonly ignored: readonly IgnoredLine[]
  /** To be kept for a day, in place of what was kept under the same name. */
  readonly remember: ReadonlyMap<string, LogSession>
  /** Messages that left the queue. */
  readonly forget: readonly string[]
}

/** Lines that were taken apart and wait for what is remembered. */
export interface LogGroup {
  readonly lines: number
  /** Names of the sessions, unique for one source of logs, that `read` wants to know; at most one for each record. */
  readonly needs: readonly string[]
  readonly read: (known: ReadonlyMap<string, LogSession>) => LogReading
}
