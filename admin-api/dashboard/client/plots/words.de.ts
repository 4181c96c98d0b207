/** German: plots of single subjects, and what changed. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  changes: 'Änderungen',
  changesInTime: (count) => (count === 1 ? '1 Änderung in dieser Zeit' : `${number(count)} Änderungen in dieser Zeit`),
  paused: (name) => `${name} angehalten`,
  live: (name) => `${name} live`,
  sandbox: (name) => `${name} in der Sandbox`,
  changed: (name) => `${name} geändert`,
  deleted: (name) => `${name} gelöscht`,
  rulesChanged: 'Routing geändert',
  failoverChanged: 'Failover geändert',
  before: (label) => `${label}, Zeit davor`,
  complained: 'als Spam gemeldet',
  showWebhooks: 'Webhooks zeigen',
  showSuppressions: 'Sperren zeigen',
  showLogins: 'SMTP-Logins zeigen',
  otherReasons: 'andere Gründe',
  funnel: { views: 'Aufrufe', starts: 'Begonnen', submissions: 'Eingänge', spam: 'Spam' },
  burnDown: 'Übrige Credits',
  perDayAndAhead: (days) => `am Ende jedes Tages (UTC) und ${number(days)} Tage voraus`,
  showWebsites: 'Websites zeigen',
  balance: 'Guthaben',
  projection: 'wie in den letzten 7 Tagen',
  usedUp: 'aufgebraucht',
  longerThan: (days) => `mehr als ${number(days)} Tage`,
  until: (date) => `bis ${date}`,
  creditChange: (amount) => `${amount} Credits`,
  showSubmissions: 'Eingänge zeigen',
  perDayOf: (days) => `pro Tag (UTC), letzte ${number(days)} Tage`,
  ofNewest: (count) => `der neuesten ${number(count)} Formulare`,
  cell: (time, attempts, errors, p95) => `${time}: ${attempts} Versuche, ${errors} gescheitert, p95 ${p95}`,
  lastDayInCells: 'letzte 24 h, in Schritten von 5 Minuten',
}
