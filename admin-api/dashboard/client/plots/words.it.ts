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
  failoverChanged: 'failover modificato',
  before: (label) => `${label}, periodo precedente`,
  complained: 'segnalati come spam',
  showWebhooks: 'Mostra i webhook',
  showSuppressions: 'Mostra i blocchi',
  showLogins: 'Mostra gli accessi SMTP',
  otherReasons: 'altri motivi',
  funnel: { views: 'visualizzazioni', starts: 'inizi', submissions: 'moduli ricevuti', spam: 'spam' },
  burnDown: 'Crediti rimasti',
  perDayAndAhead: (days) => `alla fine di ogni giorno (UTC), e ${number(days)} giorni avanti`,
  showWebsites: 'Mostra i siti web',
  balance: 'saldo',
  projection: 'come negli ultimi 7 giorni',
  usedUp: 'esauriti',
  longerThan: (days) => `più di ${number(days)} giorni`,
  until: (date) => `fino al ${date}`,
  creditChange: (amount) => `${amount} crediti`,
  showSubmissions: 'Mostra i moduli ricevuti',
  perDayOf: (days) => `al giorno (UTC), ultimi ${number(days)} giorni`,
  ofNewest: (count) => `dei ${number(count)} moduli più recenti`,
  cell: (time, attempts, errors, p95) => `${time}: ${attempts} tentativi, ${errors} falliti, p95 ${p95}`,
  lastDayInCells: 'ultime 24 h, a passi di 5 minuti',
}
