/** Writes the types of catalogs from those of English: `node admin-api/catalogs/generate-types.ts`, which `npm run generate` runs. */
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parametersType } from '#config/words/parameter-types.ts'
import { catalogFolder, readCatalog } from './catalog-files.ts'

/** The generated files, each by itself, as knip takes what is named here for written files. */
const files = {
  dashboard: new URL('dashboard/dashboard-catalogs.ts', import.meta.url),
  pages: new URL('pages/pages-catalogs.ts', import.meta.url),
} as const

/** Text of the generated files by the name of their folder. */
export const catalogTypes = (): Readonly<Record<keyof typeof files, string>> => ({
  dashboard: typesOf('dashboard', 'Catalogs', (tree, parameters) => `Messages<${tree}, ${parameters}>`, [
    "import type { Messages } from '#config/words/message-tree.ts'",
  ]),
  pages: typesOf('pages', 'PageCatalogs', (tree, parameters) => `PageMessages<${tree}, ${parameters}>`, [
    "import type { Html } from '../../pages/layout/html.ts'",
    "import type { Markup, PageMessages } from '../page-catalog-types.ts'",
  ]),
})

function typesOf(folder: string, type: string, messages: (tree: string, parameters: string) => string, imports: readonly string[]): string {
  const names = globSync('*.json', { cwd: join(catalogFolder(folder), 'en') }).map((file) => basename(file, '.json'))
  const lines = names.sort().map((name) => {
    const parameters = parametersType(readCatalog(join(catalogFolder(folder), 'en', `${name}.json`)), folder === 'pages') ?? 'unknown'
    return `  readonly '${name}': ${messages(`typeof import('./en/${name}.json')`, parameters)}`
  })
  const head = '/** Written by `npm run generate` from the English catalogs; not to be edited. */'
  return [head, ...imports, '', `export interface ${type} {`, ...lines, '}', ''].join('\n')
}

if (import.meta.main) for (const [name, text] of Object.entries(catalogTypes())) writeFileSync(files[name as keyof typeof files], text)
