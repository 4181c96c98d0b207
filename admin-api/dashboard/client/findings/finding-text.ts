/** Texts of a finding in the reader's language. The English of the service replaces missing texts. */
import { codedMessage } from '#config/texts/coded-message.ts'
import { monthText } from '#config/texts/formats.ts'
import { decimal, shortTime } from '../parts/time.ts'
import { language } from '../texts/language.ts'
import type { Finding } from '../wire/api.d.ts'
import { kindTexts, texts } from './findings-texts.ts'

interface FindingText {
  readonly title: string
  readonly summary: string
  readonly fix: string
  /** The cause in one line, without the facts that a row shows in its columns. */
  readonly why: string
}

export function textOf({ kind, params, ...given }: Pick<Finding, 'kind' | 'params' | 'title' | 'summary' | 'fix'>): FindingText {
  const { titles, summaries, fixes } = kindTexts()
  const values = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, shownValue(name, value)]))
  const summary = codedMessage(summaries, kind, values) ?? given.summary
  return {
    title: codedMessage(titles, kind, values) ?? given.title,
    summary,
    fix: codedMessage(fixes, kind, values) ?? given.fix,
    why: codedMessage(texts().whys, kind, values) ?? summary,
  }
}

/** Values whose name ends in `At` are times. Shares have a point as decimal sign. A month is `2026-11`. */
function shownValue(name: string, value: string | number): string | number {
  if (name.endsWith('At')) return shortTime(new Date(value).toISOString())
  if (name === 'month') return monthText(String(value), language.value)
  return name === 'percent' && value !== 'none' ? decimal(Number(value), 0, 1) : value
}
