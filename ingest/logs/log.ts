/**
 * Reads logs of mail servers, one group of lines at a time, so that memory does not grow with the log. A line may need facts from earlier
 * groups or requests. The reader requests them by name, and returns facts to store.
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

/** Reads a log. Read each group and store its `remember` before the next group is requested. */
export async function* readLog(source: LogSource, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LogGroup> {
  for await (const group of lineGroups(bytes)) yield readers[source](group)
}
