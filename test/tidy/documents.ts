/** Markdown that can be followed: every relative link leads somewhere, and a layer's README links each page of its decisions. */
import { posix } from 'node:path'
import type { Document } from './source.ts'

/** Relative links whose file, folder or heading is not there. `paths` are all files of the repository. */
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

/** Pages of `decisions/` folders that lack a part or a link from the README of their layer, and READMEs that tell decisions beside them. */
export function decisions(documents: readonly Document[]): string[] {
  const pages = documents.filter(({ path }) => posix.basename(posix.dirname(path)) === 'decisions')
  const layers = new Set(pages.map(({ path }) => posix.dirname(posix.dirname(path))))
  return [...pages.flatMap(pageFaults), ...[...layers].flatMap((layer) => layerFaults(layer, pages, documents))]
}

/** The parts of a page, in this order. */
const parts = [/^# \S.*\n/, /^Date: 20\d\d-\d\d-\d\d$/m, /^## Context$/m, /^## Decision$/m, /^## Given up$/m]

function pageFaults({ path, text }: Document): string[] {
  const places = parts.map((part) => text.search(part))
  const inOrder = places.every((place, index) => place >= 0 && place >= (places[index - 1] ?? 0))
  const empty = text.split(/^## .*$/m).some((part) => part.trim() === '')
  return [
    ...(/^\d{4}-[a-z\d]+(-[a-z\d]+)*\.md$/.test(posix.basename(path)) ? [] : [`${path} is not named NNNN-title.md`]),
    ...(inOrder && !empty
      ? []
      : [`${path} needs a title, a line "Date: YYYY-MM-DD", and under "Context", "Decision" and "Given up" some words`]),
  ]
}

/** A page is linked from the README of its layer, or of the folder below it that the decision is about. */
function layerFaults(layer: string, pages: readonly Document[], documents: readonly Document[]): string[] {
  const readmes = documents.filter(({ path }) => path.startsWith(`${layer}/`) && posix.basename(path) === 'README.md')
  if (!readmes.some(({ path }) => path === `${layer}/README.md`)) return [`${layer} has decisions and no README.md`]
  const linked = new Set(readmes.flatMap((readme) => linksOf(readme).map((link) => posix.join(posix.dirname(readme.path), link))))
  const own = pages.map(({ path }) => path).filter((path) => posix.dirname(path) === `${layer}/decisions`)
  const numbers = own.map((path) => posix.basename(path).slice(0, 4))
  return [
    ...own.filter((path) => !linked.has(path)).map((path) => `no README.md of ${layer} links ${path}`),
    ...own.filter((_, index) => numbers.indexOf(numbers[index] ?? '') < index).map((path) => `${path} has the number of another`),
    ...readmes
      .filter(
        (readme) => linksOf(readme).some((link) => /(^|\/)decisions\/\d/.test(link)) && /^[-*] +(\*\*)?20\d\d-\d\d/m.test(readme.text),
      )
      .map(({ path }) => `${path} tells a dated decision, which belongs on a page in ${layer}/decisions/`),
  ]
}

/** The relative targets of the links of a document; what stands in code is no link. */
function linksOf({ text }: Document): string[] {
  const prose = text.replace(/^(```|~~~)[^]*?^\1.*$/gm, '').replace(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s*(\S+)/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
  return targets.filter((target) => !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(target))
}

/** The anchors of the headings of a document, made as GitHub makes them. */
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
