/** Italian: the list of traces. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  density: 'Posta nel tempo',
  relayed: 'inoltrati',
  captured: 'catturati',
  below: 'falliti o respinti, sotto la linea',
  counted: (n: string, from: string, to: string) => `${n} invii, da ${from} a ${to}`,
  now: 'adesso',
  since: 'Da',
  until: 'A',
  span: 'Periodo mostrato',
  hours: '24 h',
  days: (n: number) => `${String(n)} g`,
  wholeTime: 'Tutto il periodo',
  densityFailed: 'Non è stato possibile leggere le cifre',
  save: 'Salva come CSV',
  loaded: (n: string) => `${n} tracce caricate`,
}
