/** Everything that is told of a trace, in one timeline. */
import { engagementEntries } from './engagement.ts'
import type { TraceStory } from './read.ts'
import { reportEntries } from './report-entries.ts'
import { timelineOf, type TimelineEntry } from './timeline.ts'

/** What was decided and tried, what was reported afterwards, and who opened or clicked. */
export const storyEntries = ({ trace, attempts, reports, engagement }: TraceStory): TimelineEntry[] => [
  ...timelineOf(trace, attempts),
  ...reportEntries(trace, reports),
  ...engagementEntries(trace, engagement),
]
