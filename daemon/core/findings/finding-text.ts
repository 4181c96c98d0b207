/** Title, summary and remedy of a finding in a language. English replaces missing translations. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { codedMessage } from '#config/texts/coded-message.ts'
import { localeOf, monthText } from '#config/texts/formats.ts'
import type { FindingParams } from './finding.ts'
import type { FindingKind } from './kinds.ts'

export interface FindingText {
  readonly title: string
  /** One sentence or two. */
  readonly summary: string
  /** What to do. */
  readonly fix: string
}

export function findingText(
  { kind, params }: { readonly kind: FindingKind; readonly params: FindingParams },
  language = 'en',
): FindingText {
  const values = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, shownValue(name, value, language)]))
  const texts = (['titles', 'summaries', 'fixes'] as const).map((part) => textIn(language, part, kind, values))
  const [title = '', summary = '', fix = ''] = texts
  return { title, summary, fix }
}

/** Values whose name ends in `At` are times. Texts show them in UTC. Shares have a point as decimal sign. A month is `2026-11`. */
function shownValue(name: string, value: string | number, language: string): string | number {
  if (typeof value === 'number' && name.endsWith('At')) return new Date(value).toISOString()
  if (name === 'month') return monthText(String(value), language)
  const isShare = name === 'percent' && value !== 'none' && language !== 'en'
  return isShare ? new Intl.NumberFormat(localeOf(language)).format(Number(value)) : value
}

function textIn(language: string, part: 'titles' | 'summaries' | 'fixes', kind: FindingKind, params: FindingParams): string {
  // findings of an earlier version can lack values
  const found = codedMessage(catalogIn('findings', language)[part], kind, params, language === 'en' ? 'none' : undefined)
  return found ?? (language === 'en' ? '' : textIn('en', part, kind, params))
}
