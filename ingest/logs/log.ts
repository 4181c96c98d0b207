/**
 * Logs of mail servers as shippers send them, a group of lines at a time: memory does not grow with the log, and what a line
 * needs from lines of earlier groups or requests is asked for by name and handed back to be kept.
 */
import type { LogGroup } from './log-group.ts'
import { lineGroups, type LineGroup } from './log-lines.ts'
import { eximLog } from './exim-log.ts'
import { postfixLog } from './postfix-log.ts'
import { readStalwartGroup } from './stalwart/stalwart-log.ts'

export const logSources = ['stalwart', 'postfix', 'exim'] as const
export type LogSource = (typeof logSources)[number]

const readers: Readonly<Record<LogSource, (group: LineGroup) => LogGroup>> = {
  stalwart: readStalwartGroup,
  postfix: (group) => postfixLog.readGroup(group),
  exim: (group) => eximLog.readGroup(group),
}

/** Reads a log. Each group must be read, and what it remembers kept, before the next one is asked for. */
export async function* readLog(source: LogSource, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LogGroup> {
  for await (const group of lineGroups(bytes)) yield readers[source](group)
}
