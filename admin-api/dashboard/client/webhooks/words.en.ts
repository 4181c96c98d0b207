/** English: webhook endpoints. */
export const en = {
  edit: 'Change endpoint',
  pause: 'Pause',
  resume: 'Resume',
  pausedNow: 'The endpoint is paused; its events wait.',
  resumedNow: 'The endpoint takes events again.',
  saved: 'The endpoint is saved.',
  remove: 'Delete endpoint',
  removeEffect: 'Events that wait for it are not delivered any more; its log goes with it.',
  success: 'Succeeded, last 24 h',
  failures: 'Failed attempts, last 24 h',
  parked: 'Parked, last 24 h',
  verify: 'How a receiver checks the signature',
  ofAttempts: (n: number) => (n === 1 ? 'of 1 attempt' : `of ${String(n)} attempts`),
} as const
