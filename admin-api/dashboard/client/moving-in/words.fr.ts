/** French: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n <= 1 ? `${number(n)} adresse` : `${number(n)} adresses`)
const templates = (n: number): string => (n <= 1 ? `${number(n)} modèle` : `${number(n)} modèles`)

export const fr: Wider<typeof en> = {
  what: 'Ce qui est importé',
  whats: { addresses: 'Adresses', templates: 'Modèles' },
  say: {
    addresses: 'Reprenez les listes de blocage d’un autre service.',
    templates: 'Reprenez les modèles d’un autre service.',
  },
  sayText: {
    addresses:
      'Les rejets, plaintes et adresses bloquées deviennent des blocages ; les désinscriptions deviennent des retraits là où le service les tenait par liste. Un fichier est compté avant que rien ne soit enregistré, et l’importer à nouveau n’ajoute rien deux fois.',
    templates:
      'Variables, valeurs par défaut, conditions et boucles sont traduites, et les programmes appellent les modèles par le même nom. Un modèle dont un élément n’a pas d’équivalent est refusé, avec l’endroit.',
  },
  needsRole: {
    addresses: 'Les blocages valent pour toute l’organisation : un propriétaire ou un administrateur les importe.',
    templates: 'Un rôle qui modifie les modèles les importe.',
  },
  file: 'Fichier',
  files: 'Fichiers',
  listHint: 'CSV ou JSON tel que le service l’exporte, jusqu’à 256 Mio et deux millions de lignes.',
  templateHint:
    'JSON tel que l’API du service le renvoie, un modèle ou plusieurs ; ou un fichier HTML ou texte par modèle. Jusqu’à 16 Mio ensemble.',
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
  list: 'Liste des désinscriptions',
  listNameHint: 'Vide : ce que dit le service ; * désigne toutes les listes.',
  preview: 'Aperçu de l’import',
  takeAddresses: (n) => `Importer ${addresses(n)}`,
  takeTemplates: (n) => `Importer ${templates(n)}`,
  stop: 'Arrêter',
  result: 'Résultat',
  wouldTake: (n) => (n <= 1 ? `${addresses(n)} serait ajoutée.` : `${addresses(n)} seraient ajoutées.`),
  taken: (n) => (n <= 1 ? `${addresses(n)} ajoutée.` : `${addresses(n)} ajoutées.`),
  goesOn: (row) => (row === 0 ? 'Le fichier est en cours de lecture.' : `${number(row)} lignes pour l’instant.`),
  brokeOff: (row) => (row === 0 ? 'L’import s’est interrompu.' : `Importé jusqu’à la ligne ${number(row)}.`),
  countBrokeOff: 'Le fichier n’a pas été compté jusqu’à la fin.',
  restIsLeft: 'Le reste du fichier n’a pas été lu. Ce qui est enregistré le reste, et l’importer à nouveau n’ajoute rien deux fois.',
  continueFrom: (row) => `Continuer à la ligne ${number(row)}`,
  fileOf: (service) => `Un fichier de ${service}.`,
  nothingYet: 'Rien n’est encore enregistré.',
  new: 'Ajouts',
  added: 'Ajoutées',
  alreadyThere: 'Déjà là',
  skipped: 'Passées',
  refused: 'Refus',
  seeAddresses: 'Voir les adresses importées',
  notTaken: (n) => (n <= 1 ? `${number(n)} ligne n’est pas importée` : `${number(n)} lignes ne sont pas importées`),
  results: { skipped: 'passée', refused: 'refusée' },
  lineOf: (line) => `ligne ${line} du fichier`,
  firstOnly: (n) => `Les ${number(n)} premières sont affichées ; postern import suppressions FICHIER les écrit toutes.`,
  subject: 'Objet',
  subjectHint: 'Des modèles qui viennent en HTML ou en texte.',
  replaces: 'Les modèles présents ici avec un autre contenu reçoivent une nouvelle version',
  tooLarge: 'Ces fichiers dépassent 16 Mio ensemble ; importez-les par parties.',
  notJson: (name) => `${name} n’est pas du JSON.`,
  wouldTakeTemplates: (n) => (n <= 1 ? `${templates(n)} serait importé.` : `${templates(n)} seraient importés.`),
  takenTemplates: (n) => (n <= 1 ? `${templates(n)} importé.` : `${templates(n)} importés.`),
  created: 'Créés',
  updated: 'Nouvelles versions',
  unchanged: 'Inchangés',
  outcomes: { created: 'créé', updated: 'nouvelle version', unchanged: 'inchangé', refused: 'refusé' },
}
