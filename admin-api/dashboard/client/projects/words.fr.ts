/** Français. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  say: (projects, partitions, sends) =>
    `${projects === 1 ? 'Un projet' : `${number(projects)} projets`}${partitions === 0 ? '' : ` avec ${partitions === 1 ? 'une partition' : `${number(partitions)} partitions`}`} ; ${sends} envois aujourd’hui.`,
  sayText:
    'Un projet a ses propres destinations, clés, traces et captures. Une partition est un projet pour un de vos clients, sous un projet.',
  failed: 'Les projets ne peuvent pas être affichés.',
  none: 'Aucun projet à afficher ici',
  newPartition: 'Nouvelle partition',
  partition: 'Partition',
  partitionOf: 'Partition de',
  theDefault: 'Par défaut',
  policy: 'Sans route',
  policies: { capture: 'capturer', reject: 'refuser', relay_default: 'envoi par défaut' },
  policyHint: 'Ce qui arrive à un envoi auquel ne convient aucune règle ni destination.',
  sendsToday: 'Envois aujourd’hui',
  capturesThisMonth: 'Captures ce mois-ci',
  budget: 'Envois par jour, au plus',
  budgetHint: 'Vide : pas de budget propre ; le forfait de l’organisation limite toujours.',
  captureCap: 'Captures par mois, au plus',
  captureCapHint: 'Vide : ce que comprend le forfait.',
  environmentHint: 'Le courrier auquel ne convient aucune règle va à la première destination active de cet environnement. Vide : aucun.',
  nameHint: 'Par exemple Newsletter ou Boutique.',
  edit: 'Modifier',
  editOf: (name) => `Modifier ${name}`,
  made: (name) => `${name} est créé.`,
  saved: (name) => `${name} est modifié.`,
  created: 'Créé',
  inside: 'Dans ce projet',
  partitions: 'Partitions',
  noPartitions: 'Aucune partition. Chacune aurait ses destinations, ses clés, ses traces et son budget.',
  move: 'Déplacer vers un autre projet',
  moveTitle: 'Déplacer vers un autre projet',
  moveSay: (count) =>
    count === 0 ? 'Choisissez ce qui se déplace' : count === 1 ? 'Un élément se déplace' : `${number(count)} éléments se déplacent`,
  moveText:
    'Le déplacement prend effet aussitôt, et aucun secret ni aucune adresse ne change. Les traces et les messages capturés restent où ils sont.',
  moveTo: 'Vers le projet',
  moveNow: (count) => (count === 0 ? 'Déplacer' : `Déplacer ${number(count)}`),
  moveNothing: 'Ce projet n’a rien qui puisse être déplacé.',
  moveAlone: 'Il n’y a pas d’autre projet.',
  notForOrganization: 'appartient à toute l’organisation',
  chooseAll: 'Tout choisir de ce genre',
  moved: 'déplacé',
  movedCount: (count, name) => `${count < 2 ? `${number(count)} déplacé` : `${number(count)} déplacés`} vers ${name}.`,
  stayed: 'resté',
  kinds: {
    destination: 'Destinations',
    smtp_credential: 'Accès SMTP',
    virtual_inbox: 'Boîtes',
    email_template: 'Modèles',
    webhook_endpoint: 'Webhooks',
    inbound_route: 'Routes entrantes',
    form: 'Formulaires',
    site: 'Sites web',
  },
  deleteProject: 'Supprimer le projet',
  defaultStays: 'Le projet par défaut d’une organisation ne peut pas être supprimé.',
  deleteEffect: 'Ses destinations, règles, modèles, clés, accès, boîtes, captures et traces sont supprimés, aussitôt et pour de bon.',
  deletePartitions: (count) =>
    count === 1 ? 'Une partition est supprimée avec lui.' : `${number(count)} partitions sont supprimées avec lui.`,
  deleteShared: 'Les destinations de toute l’organisation passent au projet par défaut. Les adresses bloquées le restent.',
  discardQueued: 'Abandonner aussi le courrier qui attend encore',
  deleted: (name) => `${name} est supprimé.`,
}
