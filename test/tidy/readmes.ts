/** Folders explain themselves on one screen; a layer's README.md has a table that names each of its files. */
import { posix } from 'node:path'
import type { Document, Source, Tree } from './source.ts'

/** The folders that must have a README.md; any other folder may have one. */
export const documented = ['admin-api', 'config', 'daemon', 'daemon/core', 'ingest', 'protocols', 'store', 'test'] as const

/** Folders without a README.md, files that no table names, and rows that name files long gone. */
export function readmes(tree: Pick<Tree, 'sources' | 'documents'>, required: readonly string[] = documented): string[] {
  const others = tree.documents.filter(({ path }) => path.endsWith('/README.md')).map(({ path }) => posix.dirname(path))
  return [...new Set([...required, ...others])].flatMap((folder) => judge(folder, tree))
}

function judge(folder: string, { sources, documents }: Pick<Tree, 'sources' | 'documents'>): string[] {
  const readme = documents.find(({ path }) => path === `${folder}/README.md`)
  if (!readme) return [`${folder} has no README.md`]
  const named = filesNamed(readme)
  const here = sources.filter(({ path }) => posix.dirname(path) === folder).map(({ path }) => posix.basename(path))
  return [
    ...here.filter((file) => !named.has(file)).map((file) => `${readme.path} has no table row for ${file}`),
    ...[...named]
      .filter((file) => !exists(folder, file, sources))
      .map((file) => `${readme.path} has a row for ${file}, which is not there`),
  ]
}

/** One screen. The landing page has a picture and commands, and an index of decisions or of chapters a line for each. */
const linesOf = (path: string): number =>
  path === 'README.md' ? 150 : ['decisions', 'docs'].includes(posix.basename(posix.dirname(path))) ? Infinity : 60

/** READMEs that do not fit on one screen. */
export const longReadmes = (documents: readonly Document[]): string[] =>
  documents
    .filter(({ path }) => posix.basename(path) === 'README.md')
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length, most: linesOf(path) }))
    .filter(({ lines, most }) => lines > most)
    .map(({ path, lines, most }) => `${path} has ${lines} lines, more than ${most}`)

/** The TypeScript files named in the first cell of a table row. */
function filesNamed({ text }: Document): Set<string> {
  const firstCells = [...text.matchAll(/^\|([^|\n]*)\|/gm)].map((match) => match[1] ?? '')
  return new Set(firstCells.flatMap((cell) => cell.match(/[\w.-][\w./-]*\.tsx?\b/g) ?? []))
}

const exists = (folder: string, file: string, sources: readonly Source[]): boolean =>
  sources.some(({ path }) => path === posix.join(folder, file) || path === file)
