/** French: the audit log. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  title: 'Journal d’audit',
  failed: 'Le journal n’a pas pu être lu',
  empty: 'Rien n’a encore été changé',
  emptyText: 'Qui change un réglage, une clé ou un membre figure ici, avec quoi et quand.',
  nothingMatches: 'Aucune entrée ne correspond',
  nothingMatchesText: 'Il peut y avoir des entrées sans ces filtres.',
  act: 'Action',
  actHint: 'destination.created',
  actor: 'Auteur',
  anyone: 'Tous',
  target: 'Objet',
  targetHint: 'Son identifiant',
  since: 'Du (UTC)',
  until: 'Au (UTC)',
  filter: 'Filtrer',
  time: 'Heure',
  project: 'Projet',
  wholeOrganization: 'toute l’organisation',
  details: 'Détails',
  entry: 'Entrée du journal',
  showEntry: (act) => `Afficher ${act}`,
  sameTarget: 'Tout sur cet objet',
  sameActor: 'Tout par cet auteur',
  address: 'Adresse IP',
  changes: 'Ce qui a changé',
  field: 'Champ',
  before: 'Avant',
  after: 'Après',
}
