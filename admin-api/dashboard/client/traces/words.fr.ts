/** French: the list of traces. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  density: 'Courrier dans le temps',
  relayed: 'relayés',
  captured: 'retenus',
  below: 'échoués ou rejetés, sous la ligne',
  counted: (n: string, from: string, to: string) => `${n} envois, de ${from} à ${to}`,
  now: 'maintenant',
  since: 'De',
  until: 'À',
  span: 'Période montrée',
  hours: '24 h',
  days: (n: number) => `${String(n)} j`,
  wholeTime: 'Toute la période',
  densityFailed: 'Les chiffres n’ont pas pu être lus',
  save: 'Enregistrer en CSV',
  loaded: (n: string) => `${n} traces chargées`,
}
