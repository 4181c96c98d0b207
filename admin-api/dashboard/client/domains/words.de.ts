/** German: sending domains. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  unchecked: (domain) => `Trage diese Einträge für ${domain} ein und prüfe sie dann.`,
  rotate: 'DKIM-Schlüssel wechseln',
  rotateQuestion: (domain: string) => `Neue DKIM-Schlüssel für ${domain}?`,
  rotateText:
    'Die alten Schlüssel signieren, bis die Einträge der neuen veröffentlicht und geprüft sind. Lass die alten Einträge danach noch einige Tage stehen, für Post, die noch unterwegs ist.',
  rotated: 'Veröffentliche die Einträge der neuen Schlüssel und prüfe dann nochmals.',
  spfLookups: (n) => `SPF-Abfragen: ${number(n)} von höchstens 10`,
}
