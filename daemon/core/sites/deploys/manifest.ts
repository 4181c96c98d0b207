/** Manifest of a deploy: its files by path with their digests. Validated before any file is accepted. */
import { invalid, type FieldProblem } from '../../refusals.ts'
import { deployLimits, isIgnored, pathProblem } from './site-path.ts'

export interface ManifestFile {
  readonly path: string
  /** In hexadecimal. */
  readonly sha256: string
  readonly size: number
}

const maxProblems = 50

/** Path and size of a file whose octets are not yet available. */
interface NamedFile {
  readonly path: string
  readonly size: number
}

/** Throws `validation_failed` with all problems. */
export function requireManifest(files: readonly ManifestFile[]): void {
  const sizes = new Map<string, number>()
  const isOdd = ({ sha256, size }: ManifestFile): boolean => (sizes.get(sha256) ?? size) !== size || (sizes.set(sha256, size), false)
  requireFiles(files)
  const odd = files.filter(isOdd).slice(0, maxProblems)
  if (odd.length > 0)
    throw invalid(odd.map(({ path }) => ({ path: `files.${shown(path)}`, message: 'has the digest of another file but a different size' })))
}

/** Checks paths and sizes of a deploy. Throws `validation_failed`. */
export function requireFiles(files: readonly NamedFile[]): void {
  if (files.length === 0) throw invalid([{ path: 'files', message: 'has no file that can be served' }])
  if (files.length > deployLimits.files)
    throw invalid([{ path: 'files', message: `has ${files.length} files; a deploy may have ${deployLimits.files}` }])
  const problems: FieldProblem[] = []
  const known = new Map<string, string>()
  let [bytes, pathBytes] = [0, 0]
  for (const file of files) {
    const { path, size } = file
    bytes += size
    pathBytes += Buffer.byteLength(path)
    const folded = foldedPath(path)
    const message = problemOf(file, known.get(folded))
    known.set(folded, path)
    if (message !== undefined) problems.push({ path: `files.${shown(path)}`, message })
    if (problems.length === maxProblems) break
  }
  if (problems.length > 0) throw invalid(problems)
  if (bytes > deployLimits.bytes) throw invalid([{ path: 'files', message: 'has more than 100 MiB' }])
  if (pathBytes > deployLimits.allPathBytes) throw invalid([{ path: 'files', message: 'has paths of more than 512 KiB together' }])
}

function problemOf({ path, size }: NamedFile, same: string | undefined): string | undefined {
  const problem = pathProblem(path)
  if (problem !== undefined) return problem
  if (isIgnored(path)) return 'is never served; leave it out'
  if (same !== undefined) return `is the same file as ${JSON.stringify(shown(same))} on systems that ignore case`
  return size > deployLimits.fileBytes ? 'has more than 25 MiB' : undefined
}

/**
 * Returns a comparable form of a path. Paths with equal forms are the same file on file systems with case folding and Unicode composition.
 */
export const foldedPath = (path: string): string => path.normalize('NFC').toLowerCase()

const shown = (path: string): string => (path.length > 100 ? `${path.slice(0, 100)}…` : path).replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')

/** Returns the digests of a deploy with their paths. */
export function pathsByDigest(files: readonly ManifestFile[]): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  for (const { sha256, path } of files) {
    const known = paths.get(sha256)
    if (known) known.push(path)
    else paths.set(sha256, [path])
  }
  return paths
}
