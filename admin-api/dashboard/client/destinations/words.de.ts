/** German: the evidence for a promotion. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  collect: 'Belege sammeln',
  collecting: 'Wird gesammelt',
  collectedAt: (at: string) => `Gesammelt ${at}`,
  asSandbox: 'in der Sandbox',
  asLive: 'im Livebetrieb',
  notCollected: 'Noch sind keine Belege gesammelt.',
  evidenceFailed: 'Die Belege konnten nicht gelesen werden',
  connection: 'Verbindung',
  score: 'Zustelltest',
  noTest: 'kein Test',
  scoreOf: (score: number, grade: string) => `${String(score)} von 100, Note ${grade}`,
  showReport: 'Bericht zeigen',
  of: (n: number) => (n === 1 ? 'Von 1 Nachricht' : `Von ${String(n)} Nachrichten`),
  notLookedUp: 'nicht nachgesehen',
  testHint: 'Mit einer Mail, die über diesen Anbieter ging',
}
