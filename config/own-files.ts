/** Files that belong to the program: beside its sources, or within the single binary, where the same paths lead to them. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'

/** Everything runs from one file, whose path is the folder of the program. */
const isSingleBinary = isSea()
const names: ReadonlySet<string> = new Set(isSingleBinary ? getAssetKeys() : [])

/** Throws when there is no such file. */
export const ownFile = (path: string): Buffer => (isSingleBinary ? within(path) : readFileSync(path))

export const hasOwnFile = (path: string): boolean => (isSingleBinary ? names.has(relative(process.execPath, path)) : existsSync(path))

/** Rejects when there is no such file. */
export const readOwnFile = async (path: string): Promise<Buffer> => (isSingleBinary ? within(path) : readFile(path))

/** When it was last changed; of a single binary all files are as old as the commit that it was made of. */
export async function ownFileTime(path: string): Promise<Date> {
  return isSingleBinary ? new Date(madeOf()?.committedAt ?? 0) : (await stat(path)).mtime
}

/** What a single binary was made of. */
export interface MadeOf {
  readonly commit: string
  /** ISO 8601, in UTC. */
  readonly committedAt: string
}

/** Undefined where the program runs from its sources. */
export const madeOf = (): MadeOf | undefined =>
  isSingleBinary ? (JSON.parse(within(join(process.execPath, 'made-of.json')).toString('utf8')) as MadeOf) : undefined

const within = (path: string): Buffer => Buffer.from(getRawAsset(relative(process.execPath, path)))

const native = new Map<string, unknown>()

/**
 * Makes a package's native code ready within the single binary, and does nothing elsewhere. The system loads it from a file, which is
 * written into the folder and removed at once. Throws when the folder may not hold programs.
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
 * What `loadNativeCode` made ready.
 * @public for what `daemon/packaging/bundle.ts` puts in the place of a package's own loader
 */
export const nativeCode = (name: string): unknown => native.get(name)
