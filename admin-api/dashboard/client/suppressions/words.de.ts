/** German: suppressions. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  suppressOne: 'Adresse sperren',
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
  imported: (n: number) => (n === 1 ? '1 Adresse ist jetzt gesperrt' : `${number(n)} Adressen sind jetzt gesperrt`),
  reportOf: (added: number, known: number, refused: number) =>
    `${number(added)} hinzugefügt, ${number(known)} waren schon da, ${number(refused)} abgelehnt:`,
  wouldAdd: 'sind neu auf der Liste',
  wouldKeep: 'stehen schon darauf',
  wouldRefuse: 'würden abgelehnt',
  removedAll: (n: number) => (n === 1 ? '1 Adresse bekommt wieder Post.' : `${number(n)} Adressen bekommen wieder Post.`),
  change: 'Ändern',
  changeNamed: (email: string) => `${email} ändern`,
  changed: (email: string) => `Die Sperrung von ${email} ist gespeichert.`,
  until: 'Gesperrt bis, in deiner Zeit',
  untilHint: 'Leer für immer',
}
