// @ts-check
/** Where compiled code is kept, and whose is run. JavaScript, as it is needed before all else. */
import { readFileSync, statSync } from 'node:fs'
import * as modules from 'node:module'
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
  if (folder.isDirectory() && isOurs) modules.enableCompileCache(compiledFolder(dataDir))
}

/**
 * Already for the command line. The configuration is read later, so that only a data folder counts that is there; a wrong guess costs
 * time and nothing else. A configuration that comes through a pipe can be read only once.
 */
export function useCompiledEarly() {
  if (process.argv[2] !== 'serve') return
  try {
    const { POSTERN_DATA_DIR: wanted, POSTERN_CONFIG: file } = process.env
    useCompiled(wanted?.trim() || (file && statSync(file).isFile() && JSON.parse(readFileSync(file, 'utf8')).dataDir) || 'data')
  } catch {
    // a first start, or a fault that the command line will explain
  }
}
