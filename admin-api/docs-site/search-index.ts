/** The search index, created when the site is built: an entry for each section of a chapter. The browser only searches it. */
import MiniSearch from 'minisearch'
import type { Chapter } from './chapters/chapters.ts'
import { referenceFolder } from './chapters/reference.ts'
import { searchOptions, type Found } from './search-options.ts'

/** In characters; later text of a section is not found. Only lists of settings are longer. */
const maxText = 6000
/** In characters. People search operations by name and description; their many fields have similar names. */
const maxReference = 400
const maxExcerpt = 140

export function searchIndex(chapters: readonly Chapter[]): string {
  const index = new MiniSearch<Found & { readonly id: number; readonly text: string }>(searchOptions)
  const documents = chapters.flatMap(({ entry, title, section, sections }) =>
    (isError(entry.path) ? [{ heading: undefined, text: sections.map(({ text }) => text).join(' ') }] : sections).map(
      ({ heading, text }) => ({
        path: entry.path,
        anchor: heading?.anchor ?? '',
        title,
        heading: heading?.title ?? '',
        section,
        text: text.slice(0, entry.path.startsWith(`${referenceFolder}/`) ? maxReference : maxText),
        excerpt: excerptOf(text),
      }),
    ),
  )
  index.addAll(documents.map((document, id) => ({ ...document, id })))
  return JSON.stringify(index)
}

/** Error pages have the same section names, so each page is one entry. */
const isError = (path: string): boolean => path.startsWith('errors/')

function excerptOf(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  return plain.length <= maxExcerpt ? plain : `${plain.slice(0, plain.lastIndexOf(' ', maxExcerpt))} …`
}
