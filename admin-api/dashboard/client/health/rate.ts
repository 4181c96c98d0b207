/** Rates of recipients and of attempts as text. */
import { percentFrom } from '#config/watch/limits.ts'
import { texts } from '../texts/texts.ts'
import { number, percent } from '../parts/time.ts'

/** Returns `2.3 %`, or `7 of 43` for few recipients, whose percentage says little. A dash without recipients. */
export function rate(part: number, all: number, places?: number): string {
  if (all === 0) return '–'
  return all < percentFrom ? `${number(part)} ${texts().of({ limit: number(all) })}` : percent(part / all, places)
}
