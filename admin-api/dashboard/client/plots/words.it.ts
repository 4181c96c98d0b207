/** Italian: plots of single subjects, and what changed. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  changes: 'Modifiche',
  changesInTime: (count) => (count === 1 ? '1 modifica in questo periodo' : `${number(count)} modifiche in questo periodo`),
  paused: (name) => `${name} sospesa`,
  live: (name) => `${name} attiva`,
  sandbox: (name) => `${name} in sandbox`,
  changed: (name) => `${name} modificata`,
  deleted: (name) => `${name} eliminata`,
  rulesChanged: 'instradamento modificato',
  failoverChanged: 'ripiego modificato',
  before: (label) => `${label}, periodo precedente`,
  complained: 'segnalati come spam',
  showWebhooks: 'Mostra i webhook',
  showSuppressions: 'Mostra i blocchi',
  showLogins: 'Mostra gli accessi SMTP',
  otherReasons: 'altri motivi',
  funnel: { views: 'visualizzazioni', starts: 'inizi', submissions: 'moduli ricevuti', spam: 'spam' },
  showSubmissions: 'Mostra i moduli ricevuti',
  perDayOf: (days) => `al giorno (UTC), ultimi ${number(days)} giorni`,
  cell: (time, attempts, errors, p95) => `${time}: ${attempts} tentativi, ${errors} falliti, p95 ${p95}`,
  lastDayInCells: 'ultime 24 h, a passi di 5 minuti',
}
