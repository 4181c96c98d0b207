/** Generates the types of catalogs from the English ones: `node admin-api/catalogs/generate-types.ts`, which `npm run generate` runs. */
import { globSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parametersType } from '#config/texts/parameter-types.ts'
import { readCatalog } from './catalog-files.ts'

/** The generated files, each written separately, since knip reads the names here as written files. */
const files = {
  config: new URL('../../config/catalogs/config-catalogs.ts', import.meta.url),
  dashboard: new URL('dashboard/dashboard-catalogs.ts', import.meta.url),
  pages: new URL('pages/pages-catalogs.ts', import.meta.url),
} as const

/** Text of the generated files by their path. */
export const catalogTypes = (): ReadonlyMap<string, string> =>
  new Map([
    typesIn(files.config, 'ConfigCatalogs', 'Messages', ["import type { Messages } from '../texts/message-tree.ts'"]),
    typesIn(files.dashboard, 'Catalogs', 'Messages', ["import type { Messages } from '#config/texts/message-tree.ts'"]),
    typesIn(files.pages, 'PageCatalogs', 'PageMessages', [
      "import type { Html } from '../../pages/layout/html.ts'",
      "import type { Markup, PageMessages } from '../page-catalog-types.ts'",
    ]),
  ])

function typesIn(url: URL, type: string, messages: string, imports: readonly string[]): readonly [path: string, text: string] {
  const path = fileURLToPath(url)
  const folder = join(dirname(path), 'en')
  const names = globSync('*.json', { cwd: folder }).map((file) => basename(file, '.json'))
  const lines = names.sort().map((name) => {
    const parameters = parametersType(readCatalog(join(folder, `${name}.json`)), url === files.pages) ?? 'unknown'
    return `  readonly '${name}': ${messages}<typeof import('./en/${name}.json'), ${parameters}>`
  })
  const head = '/** Written by `npm run generate` from the English catalogs; not to be edited. */'
  return [path, [head, ...imports, '', `export interface ${type} {`, ...lines, '}', ''].join('\n')]
}

if (import.meta.main) for (const [path, text] of catalogTypes()) writeFileSync(path, text)
