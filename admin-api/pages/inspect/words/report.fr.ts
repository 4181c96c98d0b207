/** French: the page of a report. */
import { fr as sentences } from './checks.fr.ts'
import { fr as names } from './names.fr.ts'
import type { ReportWords } from './report-words.ts'

export const fr: ReportWords = {
  lang: 'fr',
  waiting: {
    title: 'En attente de votre message',
    text: 'Envoyez un message à cette adresse, comme vous l’envoyez à d’autres :',
    until: ['Le premier message qui arrive avant le', 'est vérifié. Cette page montre le rapport d’elle-même.'],
  },
  expired: {
    title: 'Aucun message n’est arrivé',
    text: ['L’adresse de ce test acceptait le courrier jusqu’au', 'et rien n’est arrivé. Faites un nouveau test et écrivez à son adresse.'],
  },
  failed: { title: 'Le message n’a pas pu être vérifié', text: 'Faites un nouveau test et envoyez le message encore une fois.' },
  scoring: {
    title: 'Votre message est en cours de vérification',
    text: 'Il est arrivé. Le DNS est interrogé sur son expéditeur ; cela prend quelques secondes, puis cette page montre le rapport.',
  },
  nothing: { title: 'Rien ici', text: 'Il n’y a pas de rapport à cette adresse. Vérifiez qu’elle est complète.' },
  score: (score, grade) => `${grade}, ${score} sur 100`,
  gradeOf: (grade) => `note ${grade}`,
  points: (score, grade) => `${score} points sur 100, note ${grade}`,
  verdicts: {
    A: 'Prêt pour la boîte de réception',
    B: 'Bon, avec quelques aspérités',
    C: 'Il peut finir dans les indésirables',
    D: 'Il finira souvent dans les indésirables',
    F: 'Beaucoup de destinataires le refuseront',
  },
  partialVerdict: 'Bon, autant qu’on a pu le vérifier',
  noSubject: '(sans objet)',
  noSender: '(sans expéditeur)',
  nameless: 'un serveur sans nom',
  received: ['De', 'reçu', 'de'],
  counted: { fail: 'échoués', warn: 'à améliorer', pass: 'réussis', na: 'non comptés' },
  signs: { pass: 'Réussi', warn: 'À améliorer', fail: 'Échoué', na: 'Ne compte pas' },
  later: (count) => `${count} de plus sont arrivés ensuite ; seul le premier message est vérifié.`,
  partial: {
    title: 'Le DNS n’a pas répondu à toutes les questions',
    text: 'Ce qu’il a tu ne compte pas, si bien que les points montrent moins qu’ils ne devraient. Ce n’est pas la faute du message : faites un nouveau test dans quelques minutes.',
  },
  capped: (limit) => `Le total ne peut pas dépasser ${limit} pour l’instant`,
  cap: (limit) => `${limit} au plus.`,
  mend: 'À améliorer, par points',
  nothingToMend: 'Il n’y a rien à améliorer. Surveillez combien de lecteurs se plaignent.',
  plus: (points) => `+${points} ${points <= 1 ? 'point' : 'points'}`,
  doThis: 'À faire :',
  all: (count) => `Les ${count} vérifications`,
  doesNotCount: 'ne compte pas',
  of: (points, max) => `${points} sur ${max}`,
  readOn: 'Pour en savoir plus :',
  rules: 'Ce qu’exigent les grands destinataires',
  rulesText:
    'Les règles pour les envois en masse valent dès 5 000 messages par jour ; les respecter aide tout le monde. Un code est la manière dont un destinataire refuse le courrier qui ne respecte pas la règle.',
  misses: (missed, all) => `ne respecte pas ${missed} ${missed <= 1 ? 'règle' : 'règles'} sur ${all}`,
  notKnown: (unknown, all) => (unknown <= 1 ? `${unknown} règle sur ${all} non connue` : `${unknown} règles sur ${all} non connues`),
  allMet: (all) => `les ${all} règles respectées`,
  rule: { met: 'respecté', missed: 'non respecté', unknown: 'inconnu', not_applicable: 'pas pour ce message' },
  bulk: 'envois en masse',
  notCheckable: 'non vérifiable',
  advised: 'conseillé',
  groups: names.groups,
  ...{ checks: names.checks, ruleNames: names.rules, caps: names.caps, problems: names.problems, sentences },
}
