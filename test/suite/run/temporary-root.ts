/** Chooses where test processes keep their temporary files. */
import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
const tmpfsType = 0x01021994
const leastFreeBytes = 4 * 1024 ** 3

/**
 * Returns the folder in memory for processes that need no disk, if it has 4 GiB left. Flushing a file on a disk costs processor time and
 * makes the other tests wait.
 */
export function temporaryRoot(needsDisk: boolean): string {
  if (needsDisk) return tmpdir()
  try {
    accessSync(inMemory, constants.W_OK)
    const { type, bavail, bsize } = statfsSync(inMemory)
    return type === tmpfsType && bavail * bsize >= leastFreeBytes ? inMemory : tmpdir()
  } catch {
    return tmpdir()
  }
}
