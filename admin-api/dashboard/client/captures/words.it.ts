/** Italian: captured mail. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  release: 'Rilascia…',
  releaseTitle: 'Rilasciare questo messaggio',
  releaseText: 'Lascia il servizio così com’è, e i destinatari lo ricevono. Non si può annullare.',
  releaseTo: 'Destinazione',
  recipients: 'Destinatari',
  andMore: (n: number) => `e altri ${number(n)}`,
  releaseNow: (n: number) => (n === 1 ? 'Invia a 1 destinatario' : `Invia a ${number(n)} destinatari`),
  wouldSkip: (n: number) => `${number(n)} bloccati e saltati:`,
  wouldRefuse: 'Sarebbe rifiutato:',
  noLive: 'Nessuna destinazione è attiva',
  noLiveText: 'Attiva prima una destinazione; la posta esce solo da quelle attive.',
  destinationsFailed: 'Non è stato possibile leggere le destinazioni',
  releasedNow: 'Il messaggio è rilasciato.',
  releasedAt: (at: string) => `Rilasciato ${at}.`,
  itsTrace: 'La sua traccia',
  unread: 'non letto',
  markUnread: 'Segna come non letto',
  aboutInbox: 'Questa casella',
  notifies: 'Avvisa',
  notifiesNone: 'nessun indirizzo',
  lastNotified: 'Ultimo avviso',
  never: 'mai',
  waitFor: 'Attendere il prossimo messaggio',
  clear: 'Svuota la casella',
  clearText:
    'I messaggi catturati spariscono con le loro tracce, quindi non c’è nulla da svuotare. Con retention_days della casella restano meno a lungo.',
  keptFor: 'Conservati',
  asPlan: 'finché il piano conserva le tracce',
  days: (n: number) => (n === 1 ? '1 giorno' : `${number(n)} giorni`),
  editInbox: 'Modifica casella',
  inboxSaved: 'La casella è salvata.',
  keptDays: 'Giorni dopo i quali la posta la lascia',
  keptDaysHint: 'Vuoto la tiene quanto il piano',
  endInbox: 'Elimina casella',
  endInboxEffect: 'La casella scompare; i suoi messaggi restano nella casella generale.',
  messagesIn: 'messaggi',
  latest: 'Ultimo:',
}
