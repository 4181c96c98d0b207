/**
 * Logs of mail servers as shippers send them, a group of lines at a time: memory does not grow with the log, and what a line
 * needs from lines of earlier groups or requests is asked for by name and handed back to be kept.
 */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { lineGroups, type LineGroup } from './log-lines.ts'
import { readPostfixGroup } from './postfix-log.ts'
import { readStalwartGroup } from './stalwart-log.ts'

/** An inflated log may be this long, in octets: a million lines and more. */
export const logBytesMax = 512 * 1024 * 1024

export const logSources = ['stalwart', 'postfix'] as const
export type LogSource = (typeof logSources)[number]

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

/** A recipient whose delivery was put off, with the last reason. */
export interface DeferredRecipient {
  readonly recipient: string
  readonly originalRecipient: string | null
  readonly diagnostic: string | null
  readonly remoteMta: string | null
  readonly remoteIp: string | null
}

/** What is known of one message in a server's queue: its other lines tell it. Plain data, at most some 100 KiB. */
export interface LogSession {
  readonly returnPath: string | null
  readonly messageId: string | null
  readonly deferred: readonly DeferredRecipient[]
}

export interface LogReading {
  readonly events: readonly LineEvent[]
  readonly rejected: readonly RejectedLine[]
  /** Lines and records that do not concern us, empty lines among them. */
  readonly ignored: number
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

const readers: Readonly<Record<LogSource, (group: LineGroup) => LogGroup>> = { stalwart: readStalwartGroup, postfix: readPostfixGroup }

/** Reads a log. Each group must be read, and what it remembers kept, before the next one is asked for. */
export async function* readLog(source: LogSource, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LogGroup> {
  for await (const group of lineGroups(bytes)) yield readers[source](group)
}
