/** Names of invoice lines in the current language. */
import type { LineWords } from '#config/plans/line-words.ts'
import { loaded } from '../words/catalog.ts'

export const lineWords = loaded<LineWords>(
  'invoice-lines',
  (language) => import(`../../../../config/catalogs/${language}/invoice-lines.json`),
)
