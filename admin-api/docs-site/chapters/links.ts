/** Resolves links of a chapter on the site. In the Markdown they are relative, so that they also work in a repository. */
import { posix } from 'node:path'

/** Addresses of the pages of a site. */
export interface Addresses {
  /** Returns the address of a chapter from the chapter `from`; the start page is ``. */
  page(path: string, from: string): string
  /** Returns the address of a file that is not a page, such as `llms.txt`. */
  file(name: string, from: string): string
  /** Address of the daemon; undefined for a site without a daemon. */
  readonly service: string | undefined
}

/** Addresses under `/docs` of a daemon. */
export const servedAddresses: Addresses = {
  page: (path) => (path === '' ? '/docs' : `/docs/${path}`),
  file: (name) => (name.startsWith('llms') ? `/${name}` : `/docs/files/${name}`),
  service: '',
}

/** Relative addresses between files in any folder. */
export const fileAddresses: Addresses = {
  page: (path, from) => `${above(from)}${path === '' ? 'index' : path}.html`,
  file: (name, from) => `${above(from)}${name.startsWith('llms') ? name : `files/${name}`}`,
  service: undefined,
}

const above = (from: string): string => '../'.repeat(from.split('/').length - 1)

/** Downloads of the site: programs for other machines. */
export const downloadsFolder = 'daemon/packaging/log-shippers'

/** Target of a link: a chapter, an outside address, a download, or a source file, which the site does not contain. */
export type Target =
  | { readonly kind: 'chapter'; readonly file: string; readonly anchor: string }
  | { readonly kind: 'outside'; readonly href: string }
  | { readonly kind: 'download'; readonly name: string }
  | { readonly kind: 'source'; readonly file: string }

/** `file` is the chapter with the link, from the root of the repository. */
export function targetOf(href: string, file: string, isChapter: (file: string) => boolean): Target {
  if (/^[a-z][a-z\d+.-]*:|^\//i.test(href)) return { kind: 'outside', href }
  const [path = '', anchor] = href.split('#')
  const to = path === '' ? file : posix.join(posix.dirname(file), path)
  if (posix.dirname(to) === downloadsFolder) return { kind: 'download', name: posix.basename(to) }
  return isChapter(to) ? { kind: 'chapter', file: to, anchor: anchor === undefined ? '' : `#${anchor}` } : { kind: 'source', file: to }
}
