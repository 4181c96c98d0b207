/** Every top-level folder explains itself: a README.md with a Decisions list and a table that names each of its files. */
import { posix } from 'node:path'
import type { Document, Source, Tree } from './source.ts'

/** The folders that must have one. */
export const documented = ['admin-api', 'config', 'daemon', 'daemon/core', 'ingest', 'protocols', 'store', 'test'] as const

/** Folders without a README.md, READMEs without Decisions, files that no table names, and rows that name files long gone. */
export const readmes = (tree: Pick<Tree, 'sources' | 'documents'>, folders: readonly string[] = documented): string[] =>
  folders.flatMap((folder) => judge(folder, tree))

function judge(folder: string, { sources, documents }: Pick<Tree, 'sources' | 'documents'>): string[] {
  const readme = documents.find(({ path }) => path === `${folder}/README.md`)
  if (!readme) return [`${folder} has no README.md`]
  const named = filesNamed(readme)
  const here = sources.filter(({ path }) => posix.dirname(path) === folder).map(({ path }) => posix.basename(path))
  return [
    ...(/^#+ +Decisions\b/m.test(readme.text) ? [] : [`${readme.path} has no "Decisions" heading`]),
    ...here.filter((file) => !named.has(file)).map((file) => `${readme.path} has no table row for ${file}`),
    ...[...named]
      .filter((file) => !exists(folder, file, sources))
      .map((file) => `${readme.path} has a row for ${file}, which is not there`),
  ]
}

/** The TypeScript files named in the first cell of a table row. */
function filesNamed({ text }: Document): Set<string> {
  const firstCells = [...text.matchAll(/^\|([^|\n]*)\|/gm)].map((match) => match[1] ?? '')
  return new Set(firstCells.flatMap((cell) => cell.match(/[\w.-][\w./-]*\.ts\b/g) ?? []))
}

const exists = (folder: string, file: string, sources: readonly Source[]): boolean =>
  sources.some(({ path }) => path === posix.join(folder, file) || path === file)
