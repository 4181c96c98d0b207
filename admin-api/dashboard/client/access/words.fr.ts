/** French: details of keys and logins. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  settings: 'Réglages pour un programme',
  host: 'Serveur',
  ports: 'Ports',
  password: 'Mot de passe',
  passwordOnce: 'Montré une fois à la création ; renouvelez-le pour un nouveau.',
  recipe: 'Programme',
  limits: 'Ce qu’il peut faire',
  edit: 'Modifier les réglages',
  saved: 'L’identifiant est enregistré.',
  headerFrom: 'Vérifie aussi le champ From',
  size: 'Message le plus grand',
  sizeBytes: 'Message le plus grand, en octets',
  asService: 'comme le service',
  clicks: 'Suit les clics',
  opens: 'Suit les ouvertures',
  on: 'oui',
  off: 'non',
  would: 'Ce qui arriverait à son courrier',
  emptyNone: 'Vide : pas de limite propre',
  until: 'Valable jusqu’au (UTC)',
  emptyNever: 'Une date comme 2027-12-31 ; vide : toujours',
  trackingHint: 'Tous les forfaits n’ont pas le suivi ; l’enregistrement le dit.',
  createdBy: 'Créée par',
  lastLogin: 'Dernière connexion',
}
