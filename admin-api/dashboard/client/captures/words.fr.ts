/** French: captured mail. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  release: 'Libérer…',
  releaseTitle: 'Libérer ce message',
  releaseText: 'Il quitte le service tel quel, et les destinataires le reçoivent. Cela ne peut pas être repris.',
  releaseTo: 'Destination',
  recipients: 'Destinataires',
  andMore: (n: number) => `et ${number(n)} autres`,
  releaseNow: (n: number) => (n === 1 ? 'Envoyer à 1 destinataire' : `Envoyer à ${number(n)} destinataires`),
  wouldSkip: (n: number) => `${number(n)} bloqués et omis :`,
  wouldRefuse: 'Il serait refusé :',
  noLive: 'Aucune destination n’est en service',
  noLiveText: 'Mettez d’abord une destination en service ; le courrier ne part que par elles.',
  destinationsFailed: 'Les destinations n’ont pas pu être lues',
  releasedNow: 'Le message est libéré.',
  releasedAt: (at: string) => `Libéré ${at}.`,
  itsTrace: 'Sa trace',
  unread: 'non lu',
  markUnread: 'Marquer comme non lu',
  aboutInbox: 'Cette boîte',
  notifies: 'Avertit',
  notifiesNone: 'aucune adresse',
  lastNotified: 'Averti la dernière fois',
  never: 'jamais',
  waitFor: 'Attendre le prochain message',
  clear: 'Vider la boîte',
  clearText:
    'Les messages retenus disparaissent avec leurs traces, il n’y a donc rien à vider. retention_days de la boîte les garde moins longtemps.',
  keptFor: 'Gardés',
  asPlan: 'aussi longtemps que le plan garde les traces',
  days: (n: number) => (n === 1 ? '1 jour' : `${number(n)} jours`),
  editInbox: 'Modifier la boîte',
  inboxSaved: 'La boîte est enregistrée.',
  keptDays: 'Jours après lesquels le courrier la quitte',
  keptDaysHint: 'Vide : aussi longtemps que le forfait',
  endInbox: 'Supprimer la boîte',
  endInboxEffect: 'La boîte disparaît ; ses messages restent dans la boîte générale.',
  messagesIn: 'messages',
  latest: 'Dernier :',
}
