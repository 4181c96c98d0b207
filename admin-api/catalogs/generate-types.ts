/** Writes the types of catalogs from those of English: `node admin-api/catalogs/generate-types.ts`, which `npm run generate` runs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parametersType } from '#config/words/parameter-types.ts'
import { catalogFolder, catalogNames, readCatalog } from './catalog-files.ts'

/** The generated file of each folder of catalogs, each by itself, as knip takes what is named here for written files. */
const files = {
  dashboard: new URL('dashboard/dashboard-catalogs.ts', import.meta.url),
} as const

/** Text of the generated files by the name of their folder. */
export const catalogTypes = (): Readonly<Record<keyof typeof files, string>> => ({ dashboard: typesOf(catalogFolder('dashboard')) })

function typesOf(folder: string): string {
  const lines = catalogNames(folder).map((name) => {
    const parameters = parametersType(readCatalog(join(folder, 'en', `${name}.json`))) ?? 'unknown'
    return `  readonly '${name}': Messages<typeof import('./en/${name}.json'), ${parameters}>`
  })
  return [
    '/** Written by `npm run generate` from the English catalogs; not to be edited. */',
    "import type { Messages } from '#config/words/message-tree.ts'",
    '',
    'export interface Catalogs {',
    ...lines,
    '}',
    '',
  ].join('\n')
}

if (import.meta.main) for (const [name, text] of Object.entries(catalogTypes())) writeFileSync(files[name as keyof typeof files], text)
