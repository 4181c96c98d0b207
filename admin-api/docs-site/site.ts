/** The whole site as files, for the daemon under `/docs` or for any web server. */
import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import type { BuiltFile } from '../dashboard/place-files.ts'
import { chapterPage } from './chapter-page.ts'
import { readManual } from './chapters/chapters.ts'
import { root } from './chapters/contents.ts'
import type { Site, SiteFiles } from './frame.ts'
import { downloadsFolder, type Addresses } from './chapters/links.ts'
import { llmsFull, llmsTxt } from './llms.ts'
import { searchIndex } from './search-index.ts'
import { startPage } from './start-page.ts'

export interface MadeSite {
  /** Pages by path under `/docs/`; the start page is ``. */
  readonly pages: ReadonlyMap<string, string>
  /** Markdown of the chapters. */
  readonly sources: ReadonlyMap<string, string>
  /** Files that pages load, with names that change with the content, and downloads. */
  readonly files: readonly BuiltFile[]
  readonly llms: string
  readonly llmsFull: string
}

export async function makeSite(addresses: Addresses): Promise<MadeSite> {
  const manual = readManual(addresses)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const [names, files] = await madeFiles(searchIndex(manual.chapters))
  const site: Site = { manual, addresses, files: names, version }
  const markdownOf = (path: string): string => addresses.page(path, '').replace(/(?:\.html)?$/, '.md')
  return {
    pages: new Map([['', startPage(site)], ...manual.chapters.map((chapter) => [chapter.entry.path, chapterPage(site, chapter)] as const)]),
    sources: new Map(manual.chapters.map(({ entry, source }) => [entry.path, source])),
    files,
    llms: llmsTxt(manual, markdownOf),
    llmsFull: llmsFull(manual, markdownOf),
  }
}

const here = (path: string): string => join(import.meta.dirname, path)

async function madeFiles(index: string): Promise<readonly [SiteFiles, readonly BuiltFile[]]> {
  const { outputFiles } = await build({
    entryPoints: {
      theme: here('../dashboard/client/shell/theme.ts'),
      docs: here('client/docs.ts'),
      search: here('client/search.ts'),
      style: here('docs.css'),
    },
    outdir: here('built'),
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
    tsconfig: here('../dashboard/client/tsconfig.json'),
    write: false,
    logLevel: 'warning',
  })
  const icon = readFileSync(here('../pages/assets/icon.svg'))
  const files: BuiltFile[] = [
    ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
    ...globSync('*', { cwd: join(root, downloadsFolder) }).map((name) => [name, readFileSync(join(root, downloadsFolder, name))] as const),
    named('icon.svg', icon),
    named('index.js', `self.docsIndex=${JSON.stringify(index).replaceAll('\u2028', '\\u2028')}`),
  ]
  const find = (start: string): string => files.find(([name]) => name.startsWith(`${start}-`))?.[0] ?? ''
  const names = {
    theme: find('theme'),
    script: find('docs'),
    style: find('style'),
    icon: find('icon'),
    search: find('search'),
    index: find('index'),
  }
  return [names, files]
}

function named(name: string, content: Uint8Array | string): BuiltFile {
  const dot = name.lastIndexOf('.')
  return [`${name.slice(0, dot)}-${hash('sha256', content).slice(0, 16)}${name.slice(dot)}`, content]
}
