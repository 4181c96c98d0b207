/** French: messages that wait for their time. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  scheduledFailed: 'Les envois programmés n’ont pas pu être lus',
  noScheduled: 'Rien n’est programmé',
  noScheduledText: 'Un message envoyé avec send_at attend ici son heure, même après un redémarrage.',
  scheduledSay: (n, at) =>
    n === 1 ? `Un message attend. Il part le ${at}.` : `${number(n)} messages attendent. Le prochain part le ${at}.`,
  scheduledText: 'Aucun ne part trop tôt ; une annulation confirmée l’emporte.',
  when: 'Départ',
  recipient: 'À',
  subject: 'Objet',
  waiting: 'en attente',
  canceled: 'annulé',
  canceledAt: (at) => `annulé ${at}`,
  cancelSend: 'Annuler',
  cancelQuestion: 'Annuler cet envoi ?',
  cancelEffect: (to, at) => `Le message à ${to} ne partira ni à ${at} ni plus tard.`,
  keepIt: 'Garder',
  cancelNow: 'Annuler l’envoi',
  canceledNow: 'L’envoi est annulé.',
  sendNow: 'Envoyer maintenant',
  sendNowQuestion: 'Envoyer ce message maintenant ?',
  sendNowEffect: (to: string, at: string) => `Le message à ${to} part maintenant au lieu de ${at}. C’est irrévocable.`,
  sentNow: 'Le message part maintenant.',
  canceledMany: (n: number) => (n < 2 ? `${number(n)} envoi est annulé.` : `${number(n)} envois sont annulés.`),
  cancelManyQuestion: (n: number) => (n < 2 ? `Annuler ${number(n)} envoi ?` : `Annuler ${number(n)} envois ?`),
  cancelManyEffect: 'Aucun ne part à son heure, ni plus tard.',
  reschedule: 'Reporter',
  rescheduleTitle: 'Une autre heure pour cet envoi',
  rescheduleText: (subject: string) => `Le message « ${subject} » part à cette heure à la place.`,
  newTime: 'Départ, à votre heure',
  newTimeHint: 'Au plus 3 jours à l’avance',
  rescheduled: (at: string) => `Le message part le ${at}.`,
}
