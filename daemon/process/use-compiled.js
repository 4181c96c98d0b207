// @ts-check
/** Enables the cache of compiled code in the data folder. JavaScript, because it runs before all other modules. */
import { readFileSync, statSync } from 'node:fs'
import * as modules from 'node:module'
import { join } from 'node:path'

/**
 * Returns the folder of compiled code in a data folder.
 * @param {string} dataDir
 */
export const compiledFolder = (dataDir) => join(dataDir, 'compiled')

/**
 * Uses code that earlier starts compiled, and stores new code. Ignores a folder that others can write to. Throws if the folder does not
 * exist.
 * @param {string} dataDir
 */
export function useCompiled(dataDir) {
  const folder = statSync(dataDir)
  const isOurs = process.getuid === undefined || (folder.uid === process.getuid() && (folder.mode & 0o022) === 0)
  if (folder.isDirectory() && isOurs) modules.enableCompileCache(compiledFolder(dataDir))
}

/**
 * Enables the cache for the command line, before the configuration is read. Only an existing data folder counts; a wrong guess only costs
 * time. A configuration in a pipe cannot be read twice.
 */
export function useCompiledEarly() {
  if (process.argv[2] !== 'serve') return
  try {
    const { POSTERN_DATA_DIR: wanted, POSTERN_CONFIG: file } = process.env
    useCompiled(wanted?.trim() || (file && statSync(file).isFile() && JSON.parse(readFileSync(file, 'utf8')).dataDir) || 'data')
  } catch {
    // a first start, or an error that the command line reports later
  }
}
