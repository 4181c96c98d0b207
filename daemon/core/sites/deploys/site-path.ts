/** Paths of files in a site: what they may be, and which files are never served. */

export const deployLimits = {
  files: 5000,
  bytes: 100 * 1_048_576,
  fileBytes: 25 * 1_048_576,
  pathBytes: 512,
  /** Of all paths together. */
  allPathBytes: 524_288,
  /** Deploys of a site that are kept. */
  kept: 10,
  /** Deploys of a site that are on their way at a time. */
  uploading: 5,
} as const

// controls, line ends and the marks that turn text around; a backslash is a slash to some.
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\\]/u
const encodedTrick = /%(?:2e|2f|5c|00)/i

/** What is wrong with the path of a file, completing "The path …"; undefined for a good one. */
export function pathProblem(path: string): string | undefined {
  if (path === '' || path.endsWith('/')) return 'names no file'
  if (Buffer.byteLength(path) > deployLimits.pathBytes) return `is longer than ${deployLimits.pathBytes} bytes`
  if (!path.isWellFormed()) return 'is not UTF-8'
  if (forbidden.test(path)) return 'has a backslash or a control character'
  if (encodedTrick.test(path)) return 'has an encoded dot, slash or backslash'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute; paths begin at the folder of the site'
  const segments = path.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return 'has an empty segment, or one of dots'
  if (segments.some((segment) => segment !== segment.trim() || segment.endsWith('.'))) return 'has a segment that ends with a blank or dot'
  return undefined
}

/** Files that systems and tools leave in folders, and whatever begins with a dot but `.well-known`. */
export function isIgnored(path: string): boolean {
  return path
    .split('/')
    .some((segment) => (segment.startsWith('.') && segment !== '.well-known') || segment === '__MACOSX' || segment === 'Thumbs.db')
}

export const redirectsFile = '_redirects'
export const headersFile = '_headers'

/** What says how the site is served, and is not served itself. */
export const isRuleFile = (path: string): boolean => path === redirectsFile || path === headersFile

/** The folder around a whole site, as archives of a folder have it; empty where there is none. */
export function outerFolder(paths: readonly string[]): string {
  const [first = ''] = paths
  const folder = first.slice(0, first.indexOf('/') + 1)
  if (folder === '' || paths.includes('index.html')) return ''
  return paths.includes(`${folder}index.html`) && paths.every((path) => path.startsWith(folder)) ? folder : ''
}
