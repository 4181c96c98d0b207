/** The index of the search, made when the site is built: an entry for each section of a chapter. The browser only looks things up. */
import MiniSearch from 'minisearch'
import type { Chapter } from './chapters/chapters.ts'
import { referenceFolder } from './chapters/reference.ts'
import { searchOptions, type Found } from './search-options.ts'

/** Words of a section beyond these are not found; a section is not that long, a list of settings is. */
const maxText = 6000
/** An operation is looked for by its name and what it does; its fields are many and named alike. */
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

/** Its sections are named alike on all of these pages, so that the page is one place. */
const isError = (path: string): boolean => path.startsWith('errors/')

function excerptOf(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  return plain.length <= maxExcerpt ? plain : `${plain.slice(0, plain.lastIndexOf(' ', maxExcerpt))} …`
}
