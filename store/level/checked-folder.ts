/** What is done with the files of a store before LevelDB opens them. LevelDB deletes and rewrites files, also damaged ones. */
import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import type { Damage } from '../engine/store-kv.ts'
import { DamagedFolder } from '../kv.ts'
import { KnownDamage } from './known-damage.ts'
import { cutOff, tornGroupIn } from './torn-group.ts'

/** Tables up to this size in all are compared with their checksums at each start, which takes some 30 ms. */
const quickTableBytes = 16 * 1024 * 1024

export interface CheckedFolder {
  readonly damage: KnownDamage
  readonly mended: readonly string[]
}

/** For commands, which change nothing. Throws `DamagedFolder` for a damaged folder. */
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
    const torn = await tornGroupIn(folder) // a process that had the store open may have ended the group
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

/** Holds the lock of LevelDB, which a small store takes through a link, while LevelDB itself is not to open the files. */
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
