/** Searches the index of the documentation. Loaded with the index at the first search. */
import MiniSearch from 'minisearch'
import type { Found } from '../search-options.ts'
import { searchOptions } from '../search-options.ts'

const maxFound = 12
/** Limit of results from one chapter, so that a long chapter does not fill the list. */
const maxOfChapter = 3

const index = MiniSearch.loadJSON<Found>(globalThis.docsIndex ?? '', searchOptions)
globalThis.docsIndex = undefined

globalThis.docsSearch = {
  find(words) {
    const all = index.search(words) as unknown as readonly Found[]
    const seen = new Map<string, number>()
    const found: Found[] = []
    for (const one of all) {
      const before = seen.get(one.path) ?? 0
      seen.set(one.path, before + 1)
      if (before < maxOfChapter) found.push(one)
      if (found.length === maxFound) break
    }
    return found
  },
}
