/** Size and names of files: short, and named for their contents. */
import { posix } from 'node:path'
import type { Source } from './source.ts'

/** Limits of the house. Depth counts folders below the top-level one. */
export const limits = { fileLines: 400, functionLines: 70, folderDepth: 3, folderFiles: 15 } as const

// Names that do not describe the contents, so that such a file collects everything.
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

/** Folders with too many source files for an overview. */
export const folderSize = (sources: readonly Source[]): string[] =>
  [...Map.groupBy(sources, ({ path }) => posix.dirname(path))]
    .filter(([, files]) => files.length > limits.folderFiles)
    .map(([folder, files]) => `${folder} has ${files.length} files, over ${limits.folderFiles}; give it a second level`)

/** File and folder names that are empty words, or not kebab-case. */
export function names(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path }) => {
    const parts = path.replace(/\.tsx?$/, '').split('/')
    const empty = parts.flatMap((part) => part.split(/[-.]/)).find((word) => emptyNames.test(word))
    if (empty) return [`${path}: "${empty}" does not describe the contents; use the noun of the file`]
    const odd = parts.find((part) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(part))
    return odd ? [`${path}: "${odd}" is not kebab-case`] : []
  })
}
