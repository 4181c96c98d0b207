/** Summary of a deploy report. */
import type { JSX } from 'preact'
import type { SiteDeployReport } from '../wire/api.d.ts'
import { texts } from '../websites/websites-texts.ts'

export function Findings({ report }: { readonly report: SiteDeployReport | null }): JSX.Element {
  const w = texts()
  if (report === null) return <span class="faint">–</span>
  const { broken_links: broken, missing_alt: alt, rules, forms } = report
  const found = [
    [broken.count, w.brokenLinks],
    [alt.count, w.missingAlt],
    [rules.length, w.ruleProblems],
    [forms.length, w.formsFound],
  ] as const
  const text = found.flatMap(([count, say]) => (count > 0 ? [say({ n: count })] : [])).join(' · ')
  if (text === '') return <span class="faint">{w.clean}</span>
  return <span title={text}>{text}</span>
}
