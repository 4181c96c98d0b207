/** Options of the search index; build and browser must use the same ones. */
import type { Options } from 'minisearch'

/** A search result. */
export interface Found {
  readonly path: string
  readonly anchor: string
  readonly title: string
  readonly heading: string
  readonly section: string
  readonly excerpt: string
}

export const searchOptions: Options = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['path', 'anchor', 'title', 'heading', 'section', 'excerpt'],
  searchOptions: { boost: { title: 3, heading: 2 }, prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), combineWith: 'AND' },
}
