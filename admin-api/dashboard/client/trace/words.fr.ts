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
  capturedFirst: 'Le message capturé',
  labels: 'Étiquettes et métadonnées',
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
  hideDiagnosis: 'Masquer le diagnostic',
}
