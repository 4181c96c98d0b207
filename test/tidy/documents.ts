/** Markdown that can be followed: every relative link has a target, and the index of a layer's decisions links each page. */
import { posix } from 'node:path'
import type { Document } from './source.ts'

/** Relative links whose file, folder or heading is missing. `paths` are all files of the repository. */
export function deadLinks(documents: readonly Document[], paths: readonly string[]): string[] {
  const there = new Set(paths.flatMap((path) => [path, ...foldersOf(path)]))
  const headings = new Map(documents.map((document) => [document.path, anchorsOf(document)]))
  return documents.flatMap((document) =>
    linksOf(document).flatMap((link) => {
      const [target = '', anchor] = link.split('#')
      const path = target === '' ? document.path : posix.join(posix.dirname(document.path), target)
      if (!there.has(path.replace(/\/$/, ''))) return [`${document.path} links to ${link}, which is not there`]
      const anchors = headings.get(path)
      return anchor === undefined || !anchors || anchors.has(anchor)
        ? []
        : [`${document.path} links to ${link}, a heading that is not there`]
    }),
  )
}

/** TypeScript files that a document names with a folder, and that do not exist, such as `capture/readings.ts` after a move. */
export function goneFiles(documents: readonly Document[], paths: readonly string[]): string[] {
  const there = new Set(paths.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))))
  return documents.flatMap(({ path, text }) =>
    [...text.replace(/^(```|~~~)[^]*?^\1.*$/gm, '').matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g)]
      .filter(([, file = '']) => !there.has(file))
      .map(([, file = '']) => `${path} names ${file}, which is not there`),
  )
}

/**
 * Pages of `decisions/` that lack a part or a link from their index, indexes without a link from a README, and READMEs that contain
 * decisions.
 */
export function decisions(documents: readonly Document[]): string[] {
  const readmes = documents.filter(({ path }) => posix.basename(path) === 'README.md')
  const pages = documents.filter((page) => posix.basename(posix.dirname(page.path)) === 'decisions' && !readmes.includes(page))
  const folders = new Set(pages.map(({ path }) => posix.dirname(path)))
  return [
    ...pages.flatMap(pageFaults),
    ...[...folders].flatMap((folder) => indexFaults(folder, pages, readmes)),
    ...readmes
      .filter(({ text }) => /^[-*] +(\*\*)?20\d\d-\d\d/m.test(text))
      .map(({ path }) => `${path} tells a dated decision, which belongs on a page in decisions/`),
  ]
}

/** The parts of a page, in this order. */
const parts = [/^# \S.*\n/, /^Date: 20\d\d-\d\d-\d\d$/m, /^## Context$/m, /^## Decision$/m, /^## (?:Consequences|Given up)$/m]

function pageFaults({ path, text }: Document): string[] {
  const places = parts.map((part) => text.search(part))
  const inOrder = places.every((place, index) => place >= 0 && place >= (places[index - 1] ?? 0))
  const empty = text.split(/^## .*$/m).some((part) => part.trim() === '')
  return [
    ...(/^\d{4}-[a-z\d]+(-[a-z\d]+)*\.md$/.test(posix.basename(path)) ? [] : [`${path} is not named NNNN-title.md`]),
    ...(inOrder && !empty
      ? []
      : [`${path} needs a title, a line "Date: YYYY-MM-DD", and under "Context", "Decision" and "Consequences" some words`]),
  ]
}

/** `README.md` in the folder of the pages is their index. The README of the layer must link to it. */
function indexFaults(folder: string, pages: readonly Document[], readmes: readonly Document[]): string[] {
  const own = pages.map(({ path }) => path).filter((path) => posix.dirname(path) === folder)
  const numbers = own.map((path) => posix.basename(path).slice(0, 4))
  const index = `${folder}/README.md`
  const indexed = linkedFrom(index, readmes)
  const above = posix.join(folder, '../README.md')
  return [
    ...own.filter((path) => !indexed.has(path)).map((path) => `${index} has no link to ${path}`),
    ...own.filter((_, place) => numbers.indexOf(numbers[place] ?? '') < place).map((path) => `${path} has the number of another`),
    ...(linkedFrom(above, readmes).has(index) ? [] : [`${above} has no link to ${index}`]),
  ]
}

const linkedFrom = (path: string, documents: readonly Document[]): Set<string> =>
  new Set(
    documents
      .filter((document) => document.path === path)
      .flatMap(linksOf)
      .map((link) => posix.join(posix.dirname(path), link)),
  )

/** Returns the relative targets of links, except links in code. */
function linksOf({ text }: Document): string[] {
  const prose = text.replace(/^(```|~~~)[^]*?^\1.*$/gm, '').replace(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s*(\S+)/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
  return targets.filter((target) => !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(target))
}

/** Returns the anchors of headings in GitHub's form. */
function anchorsOf({ text }: Document): Set<string> {
  const headings = [...text.replace(/^(```|~~~)[^]*?^\1.*$/gm, '').matchAll(/^#{1,6} +(.+?)[ #]*$/gm)].map((match) => match[1] ?? '')
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function foldersOf(path: string): string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}
