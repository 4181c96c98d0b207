/** Complete timeline of a trace. */
import { actEntries } from './act-entries.ts'
import { engagementEntries } from './engagement.ts'
import { noticeEntries } from './notice-entries.ts'
import type { TraceDetails } from './trace-reader.ts'
import { reportEntries } from './report-entries.ts'
import { inOrder, timelineOf, type TimelineEntry } from './send-timeline.ts'

/** Joins decisions, attempts, reports, opens, clicks and notices, sorted by time. */
export const timelineEntries = ({ trace, attempts, reports, engagement }: TraceDetails): TimelineEntry[] =>
  inOrder([
    ...actEntries(trace),
    ...timelineOf(trace, attempts),
    ...reportEntries(trace, attempts, reports),
    ...engagementEntries(trace, engagement),
    ...noticeEntries(trace),
  ])
