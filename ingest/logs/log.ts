/**
 * Logs of mail servers as shippers send them, a group of lines at a time: memory does not grow with the log, and what a line
 * needs from lines of earlier groups or requests is asked for by name and handed back to be kept.
 */
import type { LogGroup } from './log-group.ts'
import { lineGroups, type LineGroup } from './log-lines.ts'
import { readPostfixGroup } from './postfix-log.ts'
import { readStalwartGroup } from './stalwart-log.ts'

export const logSources = ['stalwart', 'postfix'] as const
export type LogSource = (typeof logSources)[number]

const readers: Readonly<Record<LogSource, (group: LineGroup) => LogGroup>> = { stalwart: readStalwartGroup, postfix: readPostfixGroup }

/** Reads a log. Each group must be read, and what it remembers kept, before the next one is asked for. */
export async function* readLog(source: LogSource, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LogGroup> {
  for await (const group of lineGroups(bytes)) yield readers[source](group)
}
