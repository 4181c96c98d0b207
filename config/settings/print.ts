/** Prints the effective configuration in the form of the configuration file, with masked secrets. */
import { z } from 'zod'
import type { Config } from './load.ts'
import { schema } from './schema.ts'
import { at, isSection, settings } from './setting-list.ts'

const mask = '********'

/** Returns the configuration as JSON of the configuration file. Asterisks replace secrets that are set. */
export function printConfig({ isDataDirFixed: _, ...config }: Config): string {
  const written: unknown = z.encode(schema, config as z.output<typeof schema>)
  for (const { path } of settings.filter(({ secret }) => secret)) {
    const section = at(written, path.slice(0, -1))
    const key = path.at(-1)!
    if (isSection(section) && section[key] !== null) section[key] = mask
  }
  return JSON.stringify(written, undefined, 2)
}
