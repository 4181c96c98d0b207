/** German: the list of traces. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  density: 'Post über die Zeit',
  relayed: 'weitergeleitet',
  captured: 'abgefangen',
  below: 'gescheitert oder zurückgekommen, unter der Linie',
  counted: (n: string, from: string, to: string) => `${n} Sendungen, ${from} bis ${to}`,
  now: 'jetzt',
  since: 'Von',
  until: 'Bis',
  span: 'Gezeigte Zeit',
  hours: '24 h',
  days: (n: number) => `${String(n)} T`,
  wholeTime: 'Ganze Zeit',
  densityFailed: 'Die Zahlen konnten nicht gelesen werden',
  save: 'Als CSV speichern',
  loaded: (n: string) => `${n} Traces geladen`,
}
