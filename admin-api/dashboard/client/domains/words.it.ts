/** Italian: sending domains. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  unchecked: (domain) => `Pubblica questi record per ${domain}, poi controllali.`,
  rotate: 'Rinnova le chiavi DKIM',
  rotateQuestion: (domain: string) => `Nuove chiavi DKIM per ${domain}?`,
  rotateText:
    'Le vecchie chiavi firmano finché i record delle nuove non sono pubblicati e verificati. Tieni poi i vecchi record ancora qualche giorno, per la posta in viaggio.',
  rotated: 'Pubblica i record delle nuove chiavi, poi controlla di nuovo.',
  spfLookups: (n) => `Interrogazioni SPF: ${number(n)} su 10 al massimo`,
}
