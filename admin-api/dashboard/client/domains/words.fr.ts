/** French: sending domains. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  unchecked: (domain) => `Publiez ces enregistrements pour ${domain}, puis vérifiez-les.`,
  rotate: 'Renouveler les clés DKIM',
  rotateQuestion: (domain: string) => `Nouvelles clés DKIM pour ${domain} ?`,
  rotateText:
    'Les anciennes clés signent jusqu’à ce que les enregistrements des nouvelles soient publiés et vérifiés. Gardez ensuite les anciens quelques jours, pour le courrier encore en route.',
  rotated: 'Publiez les enregistrements des nouvelles clés, puis vérifiez de nouveau.',
  spfLookups: (n) => `Requêtes SPF : ${number(n)} sur 10 au plus`,
}
