/** Names of shared works that are woken by what is no write, the same in all daemons: see `shared-works.ts`. */
export const workNames = {
  earlyReports: 'early reports',
  inspectScoring: 'deliverability tests',
  queueActs: 'acts on the queue',
  removals: 'removals',
  replays: 'replays',
} as const
