/** French: plots of single subjects, and what changed. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  changes: 'Changements',
  changesInTime: (count) =>
    count < 2 ? `${number(count)} changement dans cette période` : `${number(count)} changements dans cette période`,
  paused: (name) => `${name} suspendue`,
  live: (name) => `${name} en service`,
  sandbox: (name) => `${name} en sandbox`,
  changed: (name) => `${name} modifiée`,
  deleted: (name) => `${name} supprimée`,
  rulesChanged: 'routage modifié',
  failoverChanged: 'basculement modifié',
  before: (label) => `${label}, période précédente`,
  complained: 'signalés comme spam',
  showWebhooks: 'Afficher les webhooks',
  showSuppressions: 'Afficher les blocages',
  showLogins: 'Afficher les accès SMTP',
  otherReasons: 'autres raisons',
  funnel: { views: 'vues', starts: 'débuts', submissions: 'formulaires reçus', spam: 'spam' },
  burnDown: 'Crédits restants',
  perDayAndAhead: (days) => `à la fin de chaque jour (UTC), et ${number(days)} jours à venir`,
  showWebsites: 'Afficher les sites web',
  balance: 'solde',
  projection: 'comme ces 7 derniers jours',
  usedUp: 'épuisés',
  longerThan: (days) => `plus de ${number(days)} jours`,
  until: (date) => `jusqu’au ${date}`,
  creditChange: (amount) => `${amount} crédits`,
  showSubmissions: 'Afficher les formulaires reçus',
  perDayOf: (days) => `par jour (UTC), derniers ${number(days)} jours`,
  ofNewest: (count) => `des ${number(count)} formulaires les plus récents`,
  cell: (time, attempts, errors, p95) => `${time} : ${attempts} tentatives, ${errors} échouées, p95 ${p95}`,
  lastDayInCells: 'dernières 24 h, par tranches de 5 minutes',
}
