/** English: plots of single subjects, and what changed. */
import { number } from '../parts/time.ts'

export const en = {
  changes: 'Changes',
  changesInTime: (count: number) => (count === 1 ? '1 change in this time' : `${number(count)} changes in this time`),
  paused: (name: string) => `${name} paused`,
  live: (name: string) => `${name} live`,
  sandbox: (name: string) => `${name} in the sandbox`,
  changed: (name: string) => `${name} changed`,
  deleted: (name: string) => `${name} deleted`,
  rulesChanged: 'routing changed',
  failoverChanged: 'failover changed',
  before: (label: string) => `${label}, period before`,
  complained: 'complained',
  showWebhooks: 'Show webhooks',
  showSuppressions: 'Show suppressions',
  showLogins: 'Show SMTP logins',
  otherReasons: 'other reasons',
  funnel: { views: 'views', starts: 'starts', submissions: 'submissions', spam: 'spam' },
  showSubmissions: 'Show submissions',
  perDayOf: (days: number) => `per day (UTC), last ${number(days)} days`,
  cell: (time: string, attempts: string, errors: string, p95: string) => `${time}: ${attempts} attempts, ${errors} failed, p95 ${p95}`,
  lastDayInCells: 'last 24 h, in steps of 5 minutes',
} as const
