/** Files of the program, next to its sources or inside the single binary, under the same paths. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'

/** The program runs from one file. The path of that file serves as its folder. */
const isSingleBinary = isSea()
/** The command line as people call it. In a checkout, only npx finds the program. */
export const commandName = isSingleBinary ? 'postern' : 'npx postern'

const names: ReadonlySet<string> = new Set(isSingleBinary ? getAssetKeys() : [])

/** Throws if the file does not exist. */
export const ownFile = (path: string): Buffer => (isSingleBinary ? within(path) : readFileSync(path))

export const hasOwnFile = (path: string): boolean => (isSingleBinary ? names.has(relative(process.execPath, path)) : existsSync(path))

/** Rejects if the file does not exist. */
export const readOwnFile = async (path: string): Promise<Buffer> => (isSingleBinary ? within(path) : readFile(path))

/** Returns the time of the last change. For a single binary, this is the time of its commit for all files. */
export async function ownFileTime(path: string): Promise<Date> {
  return isSingleBinary ? new Date(madeOf()?.committedAt ?? 0) : (await stat(path)).mtime
}

/** Source of a single binary. */
export interface MadeOf {
  readonly commit: string
  /** ISO 8601, in UTC. */
  readonly committedAt: string
}

/** Undefined if the program runs from its sources. */
export const madeOf = (): MadeOf | undefined =>
  isSingleBinary ? (JSON.parse(within(join(process.execPath, 'made-of.json')).toString('utf8')) as MadeOf) : undefined

const within = (path: string): Buffer => Buffer.from(getRawAsset(relative(process.execPath, path)))

const native = new Map<string, unknown>()

/**
 * Loads the native code of a package inside the single binary; otherwise does nothing. The system needs a file, which is written into the
 * folder and removed at once. Throws if the folder forbids programs.
 */
export function loadNativeCode(name: string, folder: string): void {
  if (!isSingleBinary || native.has(name)) return
  const file = join(folder, `${name}.${String(process.pid)}.node`)
  const loaded = { exports: {} }
  try {
    writeFileSync(file, within(join(process.execPath, `${name}.node`)), { mode: 0o500, flag: 'wx' })
    process.dlopen(loaded, file)
  } finally {
    rmSync(file, { force: true })
  }
  native.set(name, loaded.exports)
}

/**
 * Returns the code that `loadNativeCode` loaded.
 * @public for the loader that `daemon/packaging/bundle.ts` puts in place of a package's own loader
 */
export const nativeCode = (name: string): unknown => native.get(name)
