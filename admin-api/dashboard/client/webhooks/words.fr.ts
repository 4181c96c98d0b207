/** French: webhook endpoints. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  edit: 'Modifier le point d’accès',
  pause: 'Suspendre',
  resume: 'Reprendre',
  pausedNow: 'Le point d’accès est suspendu ; ses événements attendent.',
  resumedNow: 'Le point d’accès reçoit de nouveau des événements.',
  saved: 'Le point d’accès est enregistré.',
  remove: 'Supprimer le point d’accès',
  removeEffect: 'Les événements en attente ne sont plus livrés ; son journal part avec lui.',
  success: 'Réussis, dernières 24 h',
  failures: 'Tentatives échouées, dernières 24 h',
  parked: 'Mis de côté, dernières 24 h',
  latency: 'Latence p50, dernières 24 h',
  waitingNow: 'En attente d’une nouvelle tentative',
  parkedNow: 'Mis de côté maintenant',
  strip: 'Dernières 24 heures',
  verify: 'Comment un récepteur vérifie la signature',
  format: 'Format',
  formatUnsigned: 'Ce service ne signe rien : mettez un identifiant dans l’adresse, https://user:password@…',
  formatKey: 'Il signe avec une paire de clés ; la page du point d’accès montre la clé publique.',
  formatSns: 'Il signe avec un certificat qui se trouve ici ; les récepteurs qui n’acceptent que les hôtes d’AWS le refusent.',
  formatSecret: 'Il signe avec le secret.',
  formatLacks: 'Il n’a pas d’événement pour auto_suppressed.',
  verificationKey: 'Clé de vérification',
  carries: 'Porte',
  ofAttempts: (n: number) => (n < 2 ? `sur ${number(n)} tentative` : `sur ${number(n)} tentatives`),
  lastDay: '24 h',
  unpark: 'Relancer la livraison',
  unparked: 'La livraison n’est plus mise de côté : son calendrier recommence.',
  parkedShort: 'Mis de côté',
  lastCode: 'Dernier code',
  noneFits: 'Aucune livraison ne correspond aux filtres',
  noneFitsYet: 'Aucune parmi les plus récentes ; les anciennes ne sont pas encore parcourues.',
  noneFitsText: 'Sans eux, la liste montre chaque livraison.',
  redeliveredAll: (n: number) =>
    n < 2 ? `${number(n)} événement est livré de nouveau.` : `${number(n)} événements sont livrés de nouveau.`,
  itsMail: 'Le message dont il s’agit',
}
