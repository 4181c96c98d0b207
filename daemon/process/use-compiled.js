// @ts-check
/** Where compiled code is kept, and whose is run. JavaScript, as `postern.js` needs it before all else. */
import { statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * Where compiled code lies in a data folder.
 * @param {string} dataDir
 */
export const compiledFolder = (dataDir) => join(dataDir, 'compiled')

/**
 * Takes the code that earlier starts compiled, and keeps what this one compiles. Code in a folder that others can write to is not run.
 * Throws when there is no such folder.
 * @param {string} dataDir
 */
export function useCompiled(dataDir) {
  const folder = statSync(dataDir)
  const isOurs = process.getuid === undefined || (folder.uid === process.getuid() && (folder.mode & 0o022) === 0)
  if (folder.isDirectory() && isOurs) enableCompileCache(compiledFolder(dataDir))
}
