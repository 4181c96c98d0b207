/** English: suppressions. */
import { number } from '../parts/time.ts'
export const en = {
  suppressOne: 'Suppress an address',
  importTitle: 'Import addresses',
  importNow: 'Suppress them',
  importButton: 'Import',
  file: 'File',
  fileHint: 'CSV with a column email, as the export writes it, or an address on each line.',
  pasted: 'Or paste lines here',
  toTake: 'addresses to suppress',
  repeated: 'stand there more than once',
  without: 'lines without an address are left out',
  tooMany: (most: string) => `addresses are too many; at most ${most} at a time`,
  imported: (n: number) => (n === 1 ? '1 address is suppressed now' : `${number(n)} addresses are suppressed now`),
  reportOf: (added: number, known: number, refused: number) =>
    `${number(added)} added, ${number(known)} were there already, ${number(refused)} refused:`,
  wouldAdd: 'are new on the list',
  wouldKeep: 'are on it already',
  wouldRefuse: 'would be refused',
  removedAll: (n: number) => (n === 1 ? '1 address gets mail again.' : `${number(n)} addresses get mail again.`),
  change: 'Change',
  changeNamed: (email: string) => `Change ${email}`,
  changed: (email: string) => `The suppression of ${email} is saved.`,
  until: 'Suppressed until, in your time',
  untilHint: 'Empty for ever',
} as const
