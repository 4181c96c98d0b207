/** French: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n <= 1 ? `${number(n)} adresse` : `${number(n)} adresses`)
const templates = (n: number): string => (n <= 1 ? `${number(n)} modèle` : `${number(n)} modèles`)

export const fr: Wider<typeof en> = {
  what: 'Ce qui vient avec',
  whats: { addresses: 'Adresses', templates: 'Modèles' },
  say: {
    addresses: 'Emportez les adresses auxquelles un autre service n’envoie plus rien.',
    templates: 'Emportez les modèles d’un autre service.',
  },
  sayText: {
    addresses:
      'Les rejets, plaintes et adresses bloquées deviennent des blocages, les désinscriptions deviennent des retraits là où le service les tenait par liste. Un fichier est d’abord compté, et le reprendre n’ajoute rien deux fois.',
    templates:
      'Leurs variables, valeurs par défaut, conditions et boucles sont traduites, et les programmes les nomment comme avant. Un modèle avec quelque chose sans équivalent est refusé, avec l’endroit.',
  },
  needsRole: {
    addresses: 'Les blocages valent pour toute l’organisation : un propriétaire ou un administrateur les reprend.',
    templates: 'Un rôle qui modifie les modèles les reprend.',
  },
  file: 'Fichier',
  files: 'Fichiers',
  listHint: 'CSV ou JSON comme le service le donne, jusqu’à 256 Mio et deux millions de lignes.',
  templateHint:
    'JSON comme le service le répond, un modèle ou plusieurs ; ou le HTML ou le texte d’un modèle par fichier. Jusqu’à 16 Mio ensemble.',
  service: 'Service',
  recognized: 'Reconnu au fichier',
  kind: 'Ce que contient le fichier',
  bySelf: 'Comme le fichier le dit',
  kinds: {
    bounces: 'Rejets',
    blocks: 'Refus',
    complaints: 'Plaintes',
    unsubscribes: 'Désinscriptions',
    invalid: 'Adresses invalides',
    manual: 'Adresses bloquées à la main',
    allowed: 'Adresses permises',
  },
  list: 'Liste d’où viennent les désinscriptions',
  listNameHint: 'Vide : ce que dit le service. * est toute liste.',
  countFirst: 'Compter ce qui serait repris',
  lookFirst: 'Voir ce qui serait repris',
  takeAddresses: (n) => `Reprendre ${addresses(n)}`,
  takeTemplates: (n) => `Reprendre ${templates(n)}`,
  stop: 'Arrêter',
  result: 'Résultat',
  wouldTake: (n) => (n <= 1 ? `${addresses(n)} serait ajoutée.` : `${addresses(n)} seraient ajoutées.`),
  taken: (n) => (n <= 1 ? `${addresses(n)} ajoutée.` : `${addresses(n)} ajoutées.`),
  goesOn: (row) => (row === 0 ? 'Le fichier est en cours de lecture.' : `Jusqu’à la ligne ${number(row)} pour l’instant.`),
  brokeOff: (row) => `L’import s’est interrompu après la ligne ${number(row)}. Ce qui précède est enregistré.`,
  continueFrom: (row) => `Continuer à la ligne ${number(row)}`,
  fileOf: (service) => `Un fichier de ${service}.`,
  nothingYet: 'Rien n’est encore enregistré.',
  new: 'Nouveaux',
  added: 'Ajoutées',
  alreadyThere: 'Déjà là',
  skipped: 'Passées',
  refused: 'Refus',
  seeAddresses: 'Voir les adresses reprises',
  notTaken: (n) => (n <= 1 ? `${number(n)} ligne n’est pas reprise` : `${number(n)} lignes ne sont pas reprises`),
  results: { skipped: 'passée', refused: 'refusée' },
  lineOf: (line) => `ligne ${line} du fichier`,
  firstOnly: (n) => `Les ${number(n)} premières sont affichées ; postern import suppressions FICHIER les écrit toutes.`,
  subject: 'Objet',
  subjectHint: 'Des modèles qui viennent en HTML ou en texte.',
  replaces: 'Un modèle qui est ici avec un autre contenu reçoit une nouvelle version',
  tooLarge: 'Ces fichiers dépassent 16 Mio ensemble ; reprenez-les par parties.',
  notJson: (name) => `${name} n’est pas du JSON.`,
  wouldTakeTemplates: (n) => (n <= 1 ? `${templates(n)} serait repris.` : `${templates(n)} seraient repris.`),
  takenTemplates: (n) => (n <= 1 ? `${templates(n)} repris.` : `${templates(n)} repris.`),
  created: 'Créés',
  updated: 'Nouvelles versions',
  unchanged: 'Inchangés',
  outcomes: { created: 'créé', updated: 'nouvelle version', unchanged: 'inchangé', refused: 'refusé' },
}
