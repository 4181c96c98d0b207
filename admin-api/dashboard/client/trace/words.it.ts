/** Italian: one trace. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  waitsForApproval: 'Attende l’approvazione di un membro.',
  lookAndDecide: 'Guarda e decidi',
  lookOnly: 'Guarda',
  noMessage: 'Non c’è alcun messaggio da mostrare.',
  saveMessage: 'Salva come .eml',
  openTrace: 'Apri la sua traccia',
  capturedFirst: 'Il messaggio catturato',
  labels: 'Tag e metadati',
  share: 'Condividi…',
  shareTitle: 'Condividi questa traccia',
  shareText: 'Chi ha il link vede questo e nient’altro, senza accedere.',
  shareFailed: 'Impossibile leggere la vista condivisa',
  leftOut: 'Tralasciato',
  leftOutText: 'oggetto, mittente, contenuto, indirizzi interi, copie nascoste, reclami, aperture e clic, e quanto detto dai server',
  copyLink: 'Copia il link',
  openLink: 'Apri il link',
  provider: 'Fornitore',
  diagnose: 'Diagnostica',
  hideDiagnosis: 'Nascondi la diagnosi',
}
