/** How long a message stays in a virtual inbox. */
import type { Inbox } from '../capture.ts'

const dayMs = 86_400_000

/** What was captured before this time is not in the inbox any more; -Infinity when the plan alone decides. */
export const retainedFrom = ({ retentionDays }: Pick<Inbox, 'retentionDays'>, nowMs: number): number =>
  retentionDays === undefined ? -Infinity : nowMs - retentionDays * dayMs
