/** German: suppressions. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  importTitle: 'Adressen importieren',
  importNow: 'Sperren',
  importButton: 'Importieren',
  file: 'Datei',
  fileHint: 'CSV mit einer Spalte email, wie der Export sie schreibt, oder eine Adresse je Zeile.',
  pasted: 'Oder Zeilen hier einfügen',
  toTake: 'Adressen zu sperren',
  repeated: 'stehen mehrfach da',
  without: 'Zeilen ohne Adresse werden ausgelassen',
  tooMany: (most: string) => `Adressen sind zu viele; höchstens ${most} auf einmal`,
  imported: (n: number) => (n === 1 ? '1 Adresse ist jetzt gesperrt' : `${String(n)} Adressen sind jetzt gesperrt`),
  reportOf: (added: number, known: number, refused: number) =>
    `${String(added)} hinzugefügt, ${String(known)} waren schon da, ${String(refused)} abgelehnt:`,
  wouldAdd: 'sind neu auf der Liste',
  wouldKeep: 'stehen schon darauf',
  wouldRefuse: 'würden abgelehnt',
  removedAll: (n: number) => (n === 1 ? '1 Adresse bekommt wieder Post.' : `${String(n)} Adressen bekommen wieder Post.`),
}
