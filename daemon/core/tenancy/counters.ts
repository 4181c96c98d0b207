/** The keys of usage counters, and the UTC windows they count in. */
import type { Element } from '#store/tuple.ts'

/** The UTC date of a time. Kept from call to call, because every send asks for it. */
export function dayOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000)
  if (day !== kept.day) kept = { day, text: new Date(ms).toISOString().slice(0, 10) }
  return kept.text
}
let kept = { day: NaN, text: '' }
export const monthOf = (ms: number): string => dayOf(ms).slice(0, 7)
export const minuteOf = (ms: number): number => Math.floor(ms / 60_000)

export const sendCounter = (organizationId: string, projectId: string, day: string): readonly Element[] => [
  organizationId,
  'counter',
  'sends',
  projectId,
  day,
]
export const organizationSendCounter = (organizationId: string, day: string): readonly Element[] => [
  organizationId,
  'counter',
  'plan_sends',
  day,
]
export const captureCounter = (organizationId: string, projectId: string, month: string): readonly Element[] => [
  organizationId,
  'counter',
  'captures',
  projectId,
  month,
]
export const rateCounter = (organizationId: string, submitter: string, minute: number): readonly Element[] => [
  organizationId,
  'counter',
  'rate',
  submitter,
  minute,
]
