/** Italian: one trace. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  noMessage: 'Non c’è alcun messaggio da mostrare.',
  saveMessage: 'Salva come .eml',
  openTrace: 'Apri la sua traccia',
  capturedFirst: 'Il messaggio catturato',
  share: 'Condividi…',
  shareTitle: 'Condividere questa traccia',
  shareText: 'Chi ha il link vede questo e nient’altro, senza accedere.',
  shareFailed: 'Non è stato possibile leggere la vista condivisa',
  leftOut: 'Tralasciato',
  leftOutText: 'oggetto, mittente, contenuto, indirizzi interi, copie nascoste, reclami, aperture e clic, e quanto detto dai server',
  copyLink: 'Copia il link',
  openLink: 'Apri il link',
  provider: 'Fornitore',
  diagnose: 'Diagnostica',
  diagnosis: 'Diagnosi',
  diagnosisFailed: 'Non è stato possibile fare la diagnosi',
  diagnosisOf: 'Destinatario',
  hideDiagnosis: 'Nascondi la diagnosi',
  evidence: 'Indizi',
  notChecked: 'Non verificato',
  nothingFound: 'Nulla si oppone alla consegna.',
  stage: 'Passo',
  category: 'Causa',
  sameReply: 'Stessa risposta nelle ultime 24 ore',
  retryUseful: 'Un altro tentativo può aiutare.',
  retryUseless: 'Un altro tentativo non aiuta.',
}
