/** The words of an alert, from its event: a title, a paragraph for each finding, and the link. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { AlertEvent } from './alert-event.ts'

export interface AlertText {
  readonly title: string
  readonly paragraphs: readonly string[]
  readonly url: string
  /** Label of a button with the URL. */
  readonly button: string
  readonly level: 'error' | 'warning' | 'over' | 'test'
}

export function alertText({ test, data }: AlertEvent, language: string): AlertText {
  const texts = catalogIn('mails', language).alertMessage
  const { organization_name: organization, url, open, over, more_open: moreOpen, more_over: moreOver } = data
  const shared = { url, button: texts.button }
  if (test) return { ...shared, title: texts.test({ organization }), paragraphs: [texts.testText({ organization })], level: 'test' }
  const [first] = open
  const level = first === undefined ? 'over' : first.severity === 'error' ? 'error' : 'warning'
  const [ended] = over
  const title = first
    ? texts.subject({ severity: level, organization, title: titleOf(first), more: open.length + moreOpen - 1 })
    : texts.over({ organization, title: ended ? titleOf(ended) : '', more: over.length + moreOver - 1 })
  return {
    ...{ ...shared, title, level },
    paragraphs: [
      ...open.map((one) => line([texts.finding({ severity: one.severity, title: titleOf(one) }), one.summary, one.fix])),
      ...(moreOpen > 0 ? [texts.more({ count: moreOpen })] : []),
      ...over.map((one) => texts.findingOver({ title: titleOf(one), ...lasted(one.opened_at, one.over_at) })),
      ...(moreOver > 0 ? [texts.moreOver({ count: moreOver })] : []),
    ],
  }
}

/** The operator reads the name of the organization first. */
const titleOf = ({ organization, title }: Pick<AlertEvent['data']['open'][number], 'organization' | 'title'>): string =>
  organization ? `${organization.name}: ${title}` : title

const line = (sentences: readonly string[]): string => sentences.filter((sentence) => sentence !== '').join(' ')

/** Returns the duration in the unit that readers count in. */
function lasted(from: string, to: string): { readonly count: number; readonly unit: 'minutes' | 'hours' | 'days' } {
  const minutes = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 60_000))
  if (minutes < 120) return { count: minutes, unit: 'minutes' }
  const hours = Math.round(minutes / 60)
  return hours < 48 ? { count: hours, unit: 'hours' } : { count: Math.round(hours / 24), unit: 'days' }
}

/** Returns the text as one block, with the URL at its end, cut to a number of characters or octets by `measure`. */
export function blockOf(
  parts: readonly string[],
  url: string,
  max: number,
  measure: (text: string) => number = (text) => text.length,
): string {
  const end = url === '' ? '' : `\n\n${url}`
  const whole = parts.join('\n\n')
  if (measure(whole + end) <= max) return whole + end
  const characters = [...whole]
  let kept = characters.length
  while (kept > 0 && measure(`${characters.slice(0, kept).join('')}…${end}`) > max) kept = Math.floor(kept * 0.95)
  return `${characters.slice(0, kept).join('')}…${end}`
}
