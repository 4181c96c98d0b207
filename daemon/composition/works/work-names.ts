/** Names of shared works that are woken without a write, equal in all daemons. See `shared-works.ts`. */
export const workNames = {
  earlyReports: 'early reports',
  inspectScoring: 'deliverability tests',
  queueActs: 'acts on the queue',
  removals: 'removals',
  replays: 'replays',
} as const
