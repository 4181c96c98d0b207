/**
 * Checks and repairs the files of a store before LevelDB opens them, because LevelDB deletes and rewrites files, including damaged files.
 */
import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import type { Damage } from '../engine/store-kv.ts'
import { DamagedFolder } from '../kv.ts'
import { KnownDamage } from './known-damage.ts'
import { cutOff, tornGroupIn } from './torn-group.ts'

/** Tables up to this total size are compared with their checksums at each start, which takes about 30 ms. */
const quickTableBytes = 16 * 1024 * 1024

export interface CheckedFolder {
  readonly damage: KnownDamage
  readonly mended: readonly string[]
}

/** For commands; changes nothing. Throws `DamagedFolder` for a damaged folder. */
export async function checkedFolder(folder: string): Promise<CheckedFolder> {
  const damage = await KnownDamage.in(folder)
  await damage.check(noRest)
  requireNone(folder, standingIn(damage))
  return { damage, mended: [] }
}

/** For the daemon. Throws `DamagedFolder` for a folder that LevelDB must not open. */
export async function mendedFolder(folder: string, quickBytes = quickTableBytes): Promise<CheckedFolder> {
  const damage = await KnownDamage.in(folder)
  const maxTableBytes = (await damage.isSuspect()) ? undefined : quickBytes
  await damage.check(noRest, maxTableBytes)
  const mended = standingIn(damage).length === 0 ? [] : await whileLocked(folder, () => mend(damage, folder, maxTableBytes))
  await damage.expectCheck()
  return { damage, mended }
}

/** Takes the rows of a torn last group out of LevelDB's log. See `torn-group.ts`. */
export async function dropTornGroup(folder: string): Promise<void> {
  if (!(await tornGroupIn(folder))) return
  await whileLocked(folder, async () => {
    const torn = await tornGroupIn(folder) // a process that had the store open may have completed the group
    if (torn) await cutOff(torn)
  })
}

async function mend(damage: KnownDamage, folder: string, maxTableBytes: number | undefined): Promise<readonly string[]> {
  const mended = await damage.mend(maxTableBytes)
  requireNone(folder, damage.unmended)
  await damage.loseWrites()
  return mended
}

const standingIn = ({ ofFiles }: KnownDamage): readonly Damage[] => ofFiles.filter(({ isGone }) => !isGone)

function requireNone(folder: string, damage: readonly Damage[]): void {
  if (damage.length > 0) throw new DamagedFolder(folder, damage.map(({ sentence }) => sentence)) // prettier-ignore
}

/**
 * Runs work while it holds the lock of LevelDB. It opens a small store whose lock file is a link to the real one, so that LevelDB does not
 * open the real files.
 */
async function whileLocked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const place = join(folder, 'mending')
  await rm(place, { recursive: true, force: true })
  await mkdir(place, { mode: 0o700 })
  await symlink(join('..', 'records', 'LOCK'), join(place, 'LOCK'))
  const lock = new Level(place)
  try {
    await lock.open()
    return await work()
  } finally {
    await lock.close()
    await rm(place, { recursive: true, force: true })
  }
}

const noRest = (): void => {}
