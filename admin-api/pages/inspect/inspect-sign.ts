/** The round sign of a result, which differs in shape and color. */
import type { CheckStatus } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import type { ReportTexts } from './report-texts.ts'

const paths: Readonly<Record<CheckStatus, string>> = {
  pass: 'm4.5 8.5 2.5 2.5 4.5-5.5',
  warn: 'M8 4.5v4.2M8 11.4v.1',
  fail: 'm5.4 5.4 5.2 5.2m0-5.2-5.2 5.2',
  na: 'M5 8h6',
}
export const sign = (status: CheckStatus, { signs }: ReportTexts): Html =>
  html`<svg class="sign" viewBox="0 0 16 16" role="img" aria-label="${signs[status]}">
    <circle cx="8" cy="8" r="8" fill="currentColor" />
    <path d="${paths[status]}" fill="none" class="stroke" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
  </svg>`
