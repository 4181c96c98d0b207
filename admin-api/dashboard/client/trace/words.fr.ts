/** French: one trace. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  waitsForApproval: 'Il attend l’approbation d’un membre.',
  lookAndDecide: 'Voir et décider',
  lookOnly: 'Voir',
  noMessage: 'Il n’y a pas de message à montrer.',
  saveMessage: 'Enregistrer en .eml',
  openTrace: 'Ouvrir sa trace',
  capturedFirst: 'Le message retenu',
  share: 'Partager…',
  shareTitle: 'Partager cette trace',
  shareText: 'Qui a le lien voit ceci et rien d’autre, sans se connecter.',
  shareFailed: 'La vue partagée n’a pas pu être lue',
  leftOut: 'Laissé de côté',
  leftOutText:
    'objet, expéditeur, contenu, adresses entières, copies cachées, plaintes, ouvertures et clics, et ce qu’ont dit les serveurs',
  copyLink: 'Copier le lien',
  openLink: 'Ouvrir le lien',
  provider: 'Fournisseur',
  diagnose: 'Diagnostiquer',
  diagnosis: 'Diagnostic',
  diagnosisFailed: 'Le diagnostic n’a pas pu être fait',
  diagnosisOf: 'Destinataire',
  hideDiagnosis: 'Masquer le diagnostic',
  evidence: 'Indices',
  notChecked: 'Non vérifié',
  nothingFound: 'Rien ne s’oppose à la remise.',
  stage: 'Étape',
  category: 'Cause',
  sameReply: 'Même réponse ces dernières 24 heures',
  retryUseful: 'Un autre essai peut aider.',
  retryUseless: 'Un autre essai n’aide pas.',
}
