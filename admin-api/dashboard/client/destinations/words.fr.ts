/** French: the evidence for a promotion. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  collect: 'Réunir les indices',
  collecting: 'En cours',
  collectedAt: (at: string) => `Réunis ${at}`,
  asSandbox: 'dans le bac à sable',
  asLive: 'en service',
  notCollected: 'Aucun indice n’est encore réuni.',
  evidenceFailed: 'Les indices n’ont pas pu être lus',
  connection: 'Connexion',
  score: 'Test de délivrabilité',
  noTest: 'aucun test',
  scoreOf: (score: number, grade: string) => `${String(score)} sur 100, note ${grade}`,
  showReport: 'Voir le rapport',
  of: (n: number) => (n === 1 ? 'Sur 1 message' : `Sur ${String(n)} messages`),
  notLookedUp: 'non cherché',
  testHint: 'D’un message envoyé par ce fournisseur',
}
