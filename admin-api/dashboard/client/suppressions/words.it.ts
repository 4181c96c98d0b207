/** Italian: suppressions. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  suppressOne: 'Blocca un indirizzo',
  importTitle: 'Importa indirizzi',
  importNow: 'Bloccali',
  importButton: 'Importa',
  file: 'File',
  fileHint: 'CSV con una colonna email, come la scrive l’esportazione, o un indirizzo per riga.',
  pasted: 'O incolla qui le righe',
  toTake: 'indirizzi da bloccare',
  repeated: 'compaiono più volte',
  without: 'righe senza indirizzo vengono tralasciate',
  tooMany: (most: string) => `indirizzi sono troppi; al massimo ${most} alla volta`,
  imported: (n: number) => (n === 1 ? '1 indirizzo è ora bloccato' : `${number(n)} indirizzi sono ora bloccati`),
  reportOf: (added: number, known: number, refused: number) =>
    `Aggiunti: ${number(added)}; già presenti: ${number(known)}; rifiutati: ${number(refused)}.`,
  wouldAdd: 'sono nuovi nell’elenco',
  wouldKeep: 'ci sono già',
  wouldRefuse: 'sarebbero rifiutati',
  removedAll: (n: number) => (n === 1 ? '1 indirizzo riceve di nuovo posta.' : `${number(n)} indirizzi ricevono di nuovo posta.`),
  change: 'Modifica',
  changeNamed: (email: string) => `Modifica ${email}`,
  changed: (email: string) => `Il blocco di ${email} è salvato.`,
  until: 'Bloccato fino a, nel tuo orario',
  untilHint: 'Vuoto per sempre',
}
