/** Names of invoice lines in the current language. */
import type { LineTexts } from '#config/plans/line-texts.ts'
import { loaded } from '../texts/catalog.ts'

export const lineTexts = loaded<LineTexts>(
  'invoice-lines',
  (language) => import(`../../../../config/catalogs/${language}/invoice-lines.json`),
)
