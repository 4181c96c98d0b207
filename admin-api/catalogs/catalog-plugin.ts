/** Compiles catalogs for browsers while esbuild bundles the scripts that import them. */
import { basename, dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'
import { localeOf } from '#config/texts/formats.ts'
import { messageModule, runtimeFolder } from '#config/texts/message-module.ts'
import { readCatalog } from './catalog-files.ts'

/** Reads `<folder>/<language>/<name>.json`. English replaces each message that the language lacks. */
export const catalogPlugin: Plugin = {
  name: 'catalogs',
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]catalogs[\\/](?:(?:dashboard|pages)[\\/])?[a-z]{2}[\\/][\w-]+\.json$/ }, ({ path }) => {
      const language = basename(dirname(path))
      const english = readCatalog(join(dirname(dirname(path)), 'en', basename(path)))
      const contents = messageModule(english, language === 'en' ? undefined : readCatalog(path), localeOf(language), localeOf('en'))
      return { contents, loader: 'js', resolveDir: dirname(runtimeFolder()) }
    })
  },
}
