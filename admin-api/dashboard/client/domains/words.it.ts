/** Italian: sending domains. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  unchecked: (domain) => `Pubblica questi record per ${domain}, poi controllali.`,
  rotate: 'Rinnova le chiavi DKIM',
  rotateQuestion: (domain: string) => `Nuove chiavi DKIM per ${domain}?`,
  rotateText:
    'Le vecchie chiavi firmano finché le voci delle nuove non sono pubblicate e verificate. Tieni poi le vecchie voci ancora qualche giorno, per la posta in viaggio.',
  rotated: 'Pubblicate le voci delle nuove chiavi, poi verificate di nuovo.',
  spfLookups: (n) => `Interrogazioni SPF: ${number(n)} su 10 al massimo`,
}
