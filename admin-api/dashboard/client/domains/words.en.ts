/** English: sending domains. */
import { number } from '../parts/time.ts'
export const en = {
  unchecked: (domain: string) => `Publish these records for ${domain}, then check them.`,
  rotate: 'Rotate DKIM keys',
  rotateQuestion: (domain: string) => `New DKIM keys for ${domain}?`,
  rotateText:
    'The old keys sign until the records of the new ones are published and checked. Keep the old records for a few days after that, for mail that is still under way.',
  rotated: 'Publish the records of the new keys, then check again.',
  spfLookups: (n: number) => `SPF look-ups: ${number(n)} of at most 10`,
} as const
