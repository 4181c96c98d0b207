/** The size and the names of files: small enough to hold in the head, named for what they hold. */
import { posix } from 'node:path'
import type { Source } from './source.ts'

/** Limits of the house. Depth counts folders below the top-level one. */
export const limits = { fileLines: 400, functionLines: 70, folderDepth: 3, folderFiles: 15 } as const

// Names that say nothing about what a file holds, and so attract everything.
const emptyNames = /^(util|helper|common|manager|service)s?$/

/** Files over the limit of lines. */
export const fileLength = (sources: readonly Source[]): string[] =>
  sources.filter(({ lines }) => lines > limits.fileLines).map(({ path, lines }) => `${path} has ${lines} lines, over ${limits.fileLines}`)

/** Functions over the limit. In tests a suite may hold many tests, so there only a function's own lines count. */
export function functionLength(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, functions }) =>
    functions.flatMap(({ line, lines, ownLines }) => {
      const counted = path.startsWith('test/') ? ownLines : lines
      return counted > limits.functionLines ? [`${path}:${line} function of ${counted} lines, over ${limits.functionLines}`] : []
    }),
  )
}

/** Folders nested too deep. */
export const folderDepth = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path }) => path.split('/').length - 2 > limits.folderDepth)
    .map(({ path }) => `${path} lies more than ${limits.folderDepth} folders below its top-level folder`)

/** Folders with more source files side by side than a reader takes in. */
export const folderSize = (sources: readonly Source[]): string[] =>
  [...Map.groupBy(sources, ({ path }) => posix.dirname(path))]
    .filter(([, files]) => files.length > limits.folderFiles)
    .map(([folder, files]) => `${folder} has ${files.length} files, over ${limits.folderFiles}; give it a second level`)

/** File and folder names that are empty words, or not kebab-case. */
export function names(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path }) => {
    const parts = path.replace(/\.tsx?$/, '').split('/')
    const empty = parts.flatMap((part) => part.split(/[-.]/)).find((word) => emptyNames.test(word))
    if (empty) return [`${path}: "${empty}" says nothing about what is inside; name it for its noun`]
    const odd = parts.find((part) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(part))
    return odd ? [`${path}: "${odd}" is not kebab-case`] : []
  })
}
