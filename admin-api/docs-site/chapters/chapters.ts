/** All rendered chapters of the site: chapters of the index, a page for each error, and the API reference. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusals, type RefusalCode } from '#core/refusals.ts'
import { docsFolder, pathOf, readContents, root, type Entry, type Group, type Section } from './contents.ts'
import type { Addresses, Target } from './links.ts'
import { reference } from './reference.ts'
import { renderChapter, type RenderedChapter } from './markdown.ts'

export interface Chapter extends RenderedChapter {
  readonly entry: Entry
  readonly section: string
  readonly group: string
  /** Markdown of the chapter. */
  readonly source: string
}

export interface Manual {
  readonly sections: readonly Section[]
  readonly chapters: readonly Chapter[]
}

export function readManual(addresses: Addresses): Manual {
  const { group: operations, sources } = reference()
  const sections = readContents()
    .map(withErrors)
    .map((section) => (section.title === 'API' ? { ...section, groups: [...section.groups, operations] } : section))
  const files = new Map(sections.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries.map(({ file, path }) => [file, path]))))
  files.set(`${docsFolder}/README.md`, '')
  const chapters = sections.flatMap(({ title: section, groups }) =>
    groups.flatMap(({ title: group, entries }) =>
      entries.map((entry): Chapter => {
        const source = sources.get(entry.file) ?? readFileSync(join(root, entry.file), 'utf8')
        const hrefOf = (target: Target): string | undefined => addressOf(target, entry.path, files, addresses)
        const rendered = renderChapter({ file: entry.file, text: source }, (file) => files.has(file), hrefOf)
        return { ...rendered, entry, section, group, source }
      }),
    ),
  )
  return { sections, chapters }
}

function addressOf(target: Target, from: string, files: ReadonlyMap<string, string>, addresses: Addresses): string | undefined {
  if (target.kind === 'source') return undefined
  if (target.kind === 'outside') return target.href.startsWith('/') ? servedOnly(target.href, addresses) : target.href
  if (target.kind === 'download') return addresses.file(target.name, from)
  const path = files.get(target.file) ?? ''
  return path === from && target.anchor !== '' ? target.anchor : addresses.page(path, from) + target.anchor
}

const servedOnly = (href: string, { service }: Addresses): string | undefined => (service === undefined ? undefined : service + href)

/** Adds the pages of errors to their section, grouped by status. */
function withErrors(section: Section): Section {
  if (section.title !== 'Errors') return section
  const written = globSync('errors/*.md', { cwd: join(root, docsFolder) }).map((name) => `${docsFolder}/${name}`)
  const byStatus = Map.groupBy(written.toSorted(), (file) => statusOf(pathOf(file).slice('errors/'.length)))
  const groups = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, these]): Group => ({ title: String(status), entries: these.map(errorEntry) }))
  return { ...section, groups: [...section.groups, ...groups] }
}

const isCode = (name: string): name is RefusalCode => Object.hasOwn(refusals, name)

function statusOf(code: string): number {
  if (!isCode(code)) throw new Error(`${docsFolder}/errors/${code}.md is the page of no error of the service`)
  return refusals[code].http
}

function errorEntry(file: string): Entry {
  const path = pathOf(file)
  return { path, file, label: path.slice('errors/'.length), wayIn: undefined, about: '' }
}
