/** Messages of server pages. Messages with markup are HTML with escaped parameters. */
import { join } from 'node:path'
import { hasOwnFile } from '#config/own-files.ts'
import { localeOf } from '#config/texts/formats.ts'
import type { MessageTree } from '#config/texts/message-tree.ts'
import { compileTree, isMarkup, type CompiledTree } from '#config/texts/messages.ts'
import { html, Html } from '../pages/layout/html.ts'
import { catalogFolder, readCatalog } from './catalog-files.ts'
import type { PageCatalogs } from './pages/pages-catalogs.ts'

/** Reads and compiles a catalog of pages. English replaces each message that the language lacks. */
export function pageMessages<Name extends keyof PageCatalogs>(name: Name, language: string): PageCatalogs[Name] {
  const path = (one: string): string => join(catalogFolder('pages'), one, `${name}.json`)
  const english = readCatalog(path('en'))
  const translated = language !== 'en' && hasOwnFile(path(language)) ? readCatalog(path(language)) : undefined
  return withMarkup(compileTree(english, translated, localeOf(language), localeOf('en')), english) as unknown as PageCatalogs[Name]
}

type Parameters = Readonly<Record<string, unknown>>

function withMarkup(compiled: CompiledTree, english: MessageTree): Readonly<Record<string, unknown>> {
  const entries = Object.entries(english).map(([name, message]) => {
    const made = compiled[name]
    if (typeof message !== 'string') return [name, withMarkup(made as CompiledTree, message)] as const
    if (!isMarkup(message)) return [name, made] as const
    if (typeof made === 'function') return [name, (given: Parameters) => markup(made(escaped(given)))] as const
    return [name, typeof made === 'string' ? markup(made) : undefined] as const
  })
  return Object.fromEntries(entries)
}

const markup = (text: string): Html => Html.of([text], [])

/** Escapes texts and converts HTML to text. Other values select between texts. */
const escaped = (given: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'string' || value instanceof Html ? html`${value}`.toString() : value,
    ]),
  )
