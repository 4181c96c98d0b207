/** Where the links of a chapter lead on the site. In the Markdown they are relative, so that they work wherever it is shown as files. */
import { posix } from 'node:path'

/** How the pages of a site reach one another. */
export interface Addresses {
  /** Of a chapter, seen from the chapter `from`; the start page is ``. */
  page(path: string, from: string): string
  /** Of a file of the site that is no page, such as `llms.txt`. */
  file(name: string, from: string): string
  /** Where the daemon answers. Undefined in files that stand without one. */
  readonly service: string | undefined
}

/** Under `/docs` of a daemon. */
export const servedAddresses: Addresses = {
  page: (path) => (path === '' ? '/docs' : `/docs/${path}`),
  file: (name) => (name.startsWith('llms') ? `/${name}` : `/docs/files/${name}`),
  service: '',
}

/** As files that link to one another, wherever they lie. */
export const fileAddresses: Addresses = {
  page: (path, from) => `${above(from)}${path === '' ? 'index' : path}.html`,
  file: (name, from) => `${above(from)}${name.startsWith('llms') ? name : `files/${name}`}`,
  service: undefined,
}

const above = (from: string): string => '../'.repeat(from.split('/').length - 1)

/** Programs for other machines, which the site offers. */
export const downloadsFolder = 'daemon/packaging/log-shippers'

/** A link of a chapter: to a chapter, to somewhere else, or to a file of the sources, which the site does not have. */
export type Target =
  | { readonly kind: 'chapter'; readonly file: string; readonly anchor: string }
  | { readonly kind: 'outside'; readonly href: string }
  | { readonly kind: 'download'; readonly name: string }
  | { readonly kind: 'source'; readonly file: string }

/** `file`: the chapter with the link, from the root of the repository. */
export function targetOf(href: string, file: string, isChapter: (file: string) => boolean): Target {
  if (/^[a-z][a-z\d+.-]*:|^\//i.test(href)) return { kind: 'outside', href }
  const [path = '', anchor] = href.split('#')
  const to = path === '' ? file : posix.join(posix.dirname(file), path)
  if (posix.dirname(to) === downloadsFolder) return { kind: 'download', name: posix.basename(to) }
  return isChapter(to) ? { kind: 'chapter', file: to, anchor: anchor === undefined ? '' : `#${anchor}` } : { kind: 'source', file: to }
}
