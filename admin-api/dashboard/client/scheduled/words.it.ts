/** Italian: messages that wait for their time. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  scheduledFailed: 'Impossibile leggere gli invii programmati',
  noScheduled: 'Nulla è programmato',
  noScheduledText: 'Un messaggio con send_at attende qui la sua ora, anche dopo un riavvio.',
  scheduledSay: (n, at) =>
    n === 1 ? `Un messaggio attende. Parte il ${at}.` : `${number(n)} messaggi attendono. Il prossimo parte il ${at}.`,
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
  sendNow: 'Invia ora',
  sendNowQuestion: 'Inviare ora questo messaggio?',
  sendNowEffect: (to: string, at: string) => `Il messaggio a ${to} parte ora invece che ${at}. Non si può annullare.`,
  sentNow: 'Il messaggio parte ora.',
  canceledMany: (n: number) => (n === 1 ? '1 invio è annullato.' : `${number(n)} invii sono annullati.`),
  cancelManyQuestion: (n: number) => (n === 1 ? 'Annullare 1 invio?' : `Annullare ${number(n)} invii?`),
  cancelManyEffect: 'Nessuno parte alla sua ora, né più tardi.',
  reschedule: 'Sposta',
  rescheduleTitle: 'Un altro orario per questo invio',
  rescheduleText: (subject: string) => `Il messaggio «${subject}» parte invece a quest’ora.`,
  newTime: 'Parte alle, nel tuo orario',
  newTimeHint: 'Al massimo 3 giorni in anticipo',
  rescheduled: (at: string) => `Il messaggio parte il ${at}.`,
}
