/** Italian: the evidence for a promotion. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  collect: 'Raccogli gli indizi',
  collecting: 'In corso',
  collectedAt: (at: string) => `Raccolti ${at}`,
  asSandbox: 'nella sandbox',
  asLive: 'in esercizio',
  notCollected: 'Nessun indizio è ancora raccolto.',
  evidenceFailed: 'Non è stato possibile leggere gli indizi',
  connection: 'Connessione',
  score: 'Test di recapito',
  noTest: 'nessun test',
  scoreOf: (score: number, grade: string) => `${String(score)} su 100, voto ${grade}`,
  showReport: 'Mostra il rapporto',
  of: (n: number) => (n === 1 ? 'Su 1 messaggio' : `Su ${String(n)} messaggi`),
  notLookedUp: 'non cercato',
  testHint: 'Di un messaggio inviato da questo fornitore',
}
