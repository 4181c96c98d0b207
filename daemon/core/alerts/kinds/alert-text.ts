/** The text of an alert, from its event: a title, a paragraph for each finding, and the link. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { AlertEvent } from './alert-event.ts'

export interface AlertText {
  readonly title: string
  readonly paragraphs: readonly string[]
  /** Returns the paragraphs, then shorter forms for chats with a limit. Each form has all findings, or states how many it leaves out. */
  readonly forms: () => IteratorObject<readonly string[], unknown, unknown>
  readonly url: string
  /** Label of a button with the URL. */
  readonly button: string
  readonly level: 'error' | 'warning' | 'over' | 'test'
}

export function alertText({ test, data }: AlertEvent, language: string): AlertText {
  const texts = catalogIn('mails', language).alertMessage
  const { organization_name: organization, url, open, over, more_open: moreOpen, more_over: moreOver } = data
  const shared = { url, button: texts.button }
  if (test) {
    const paragraphs = [texts.testText({ organization })]
    return { ...shared, title: texts.test({ organization }), paragraphs, forms: () => [paragraphs].values(), level: 'test' }
  }
  const [first] = open
  const level = first === undefined ? 'over' : first.severity === 'error' ? 'error' : 'warning'
  const [ended] = over
  const title = first
    ? texts.subject({ severity: level, organization, title: titleOf(first), more: open.length + moreOpen - 1 })
    : texts.over({ organization, title: ended ? titleOf(ended) : '', more: over.length + moreOver - 1 })
  const form = (explained: number, listed: number): readonly string[] => {
    const [more, moreEnded] = [moreOpen + Math.max(0, open.length - listed), moreOver + Math.max(0, over.length - listed)]
    return [
      ...open.slice(0, listed).map((one, index) => {
        const heading = texts.finding({ severity: one.severity, title: titleOf(one) })
        return line(index < explained ? [heading, one.summary, one.fix] : [heading])
      }),
      ...(more > 0 ? [texts.more({ count: more })] : []),
      ...over.slice(0, listed).map((one) => texts.findingOver({ title: titleOf(one), ...lasted(one.opened_at, one.over_at) })),
      ...(moreEnded > 0 ? [texts.moreOver({ count: moreEnded })] : []),
    ]
  }
  const all = Math.max(open.length, over.length)
  return {
    ...{ ...shared, title, level, paragraphs: form(all, all) },
    *forms() {
      for (let explained = open.length; explained >= 0; explained--) yield form(explained, all)
      for (let listed = all - 1; listed >= 1; listed--) yield form(0, listed)
    },
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

/**
 * Returns the first form that has at most `max` characters or octets (by `measure`) as one block, with the URL at its end. If all forms are
 * longer, the last one is cut.
 */
export function blockOf(
  forms: Iterable<readonly string[]>,
  url: string,
  max: number,
  measure: (text: string) => number = (text) => text.length,
): string {
  const end = url === '' ? '' : `\n\n${url}`
  let whole = ''
  for (const form of forms) {
    whole = form.join('\n\n')
    if (measure(whole + end) <= max) return whole + end
  }
  const characters = [...whole]
  let kept = characters.length
  while (kept > 0 && measure(`${characters.slice(0, kept).join('')}…${end}`) > max) kept = Math.floor(kept * 0.95)
  return `${characters.slice(0, kept).join('')}…${end}`
}
