/** Paths of files in a site: valid paths, and files that are never served. */

export const deployLimits = {
  files: 5000,
  bytes: 100 * 1_048_576,
  fileBytes: 25 * 1_048_576,
  pathBytes: 512,
  /** Of all paths together. */
  allPathBytes: 524_288,
  /** Number of ready deploys of a site that remain. */
  kept: 10,
  /** Maximum number of concurrent uploading deploys of a site. */
  uploading: 5,
} as const

// control characters, line separators, bidirectional controls, and backslashes, which some systems treat as slashes
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\\]/u
const encodedTrick = /%(?:2e|2f|5c|00)/i

/** Returns the problem with a file's path, as the end of "The path …"; undefined for a valid path. */
export function pathProblem(path: string): string | undefined {
  if (path === '' || path.endsWith('/')) return 'names no file'
  if (Buffer.byteLength(path) > deployLimits.pathBytes) return `is longer than ${deployLimits.pathBytes} bytes`
  if (!path.isWellFormed()) return 'is not UTF-8'
  if (forbidden.test(path)) return 'has a backslash or a control character'
  if (encodedTrick.test(path)) return 'has an encoded dot, slash or backslash'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute; paths begin at the folder of the site'
  const segments = path.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return 'has an empty segment or a segment of dots'
  if (segments.some((segment) => segment !== segment.trim() || segment.endsWith('.'))) return 'has a segment that ends with a blank or dot'
  return undefined
}

/**
 * Returns whether the file is ignored: files that systems and tools leave in folders, and names with a leading dot except `.well-known`.
 */
export function isIgnored(path: string): boolean {
  return path
    .split('/')
    .some((segment) => (segment.startsWith('.') && segment !== '.well-known') || segment === '__MACOSX' || segment === 'Thumbs.db')
}

export const redirectsFile = '_redirects'
export const headersFile = '_headers'

/** Returns whether the file contains rules for serving the site; such files are not served. */
export const isRuleFile = (path: string): boolean => path === redirectsFile || path === headersFile

/** Returns the folder that contains the whole site, as in archives of a folder; empty if there is no such folder. */
export function outerFolder(paths: readonly string[]): string {
  const [first = ''] = paths
  const folder = first.slice(0, first.indexOf('/') + 1)
  if (folder === '' || paths.includes('index.html')) return ''
  return paths.includes(`${folder}index.html`) && paths.every((path) => path.startsWith(folder)) ? folder : ''
}
