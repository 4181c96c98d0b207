/** Complete timeline of a trace. */
import { actEntries } from './act-entries.ts'
import { engagementEntries } from './engagement.ts'
import { noticeEntries } from './notice-entries.ts'
import type { TraceStory } from './trace-reader.ts'
import { reportEntries } from './report-entries.ts'
import { inOrder, timelineOf, type TimelineEntry } from './timeline.ts'

/** Joins decisions, attempts, reports, opens, clicks and notices, sorted by time. */
export const storyEntries = ({ trace, attempts, reports, engagement }: TraceStory): TimelineEntry[] =>
  inOrder([
    ...actEntries(trace),
    ...timelineOf(trace, attempts),
    ...reportEntries(trace, attempts, reports),
    ...engagementEntries(trace, engagement),
    ...noticeEntries(trace),
  ])
