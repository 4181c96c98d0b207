/** Italian: messages that wait for their time. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  scheduledFailed: 'Non è stato possibile leggere gli invii programmati',
  noScheduled: 'Nulla è programmato',
  noScheduledText: 'Un messaggio con send_at attende qui la sua ora, anche dopo un riavvio.',
  scheduledSay: (n, at) => `In attesa: ${String(n)}. Il prossimo parte ${at}.`,
  scheduledText: 'Nessuno parte prima; un annullamento confermato vince.',
  when: 'Parte',
  recipient: 'A',
  subject: 'Oggetto',
  waiting: 'in attesa',
  canceled: 'annullato',
  canceledAt: (at) => `annullato ${at}`,
  cancelSend: 'Annulla',
  cancelQuestion: 'Annullare questo invio?',
  cancelEffect: (to, at) => `Il messaggio a ${to} non parte né alle ${at} né dopo.`,
  keepIt: 'Mantieni',
  cancelNow: 'Annulla l’invio',
  canceledNow: 'L’invio è annullato.',
}
