/** Opens the store that the configuration names: the folder, or a database. */
import { join } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import type { GroupOptions } from '#store/engine/group-commit.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import type { ObjectOptions } from '#store/postgresql/objects/large-values.ts'
import type { StoreUse } from '#store/postgresql/ownership.ts'
import { LevelKv, type LevelOptions } from '#store/level/level-kv.ts'
import { requireUnmoved } from '#store/level/moved.ts'
import { StoreInUse } from '#store/kv.ts'
import { Ballast, freeBytes } from './observability/admission/admission.ts'
import { exitCodes } from './process/lifecycle.ts'
import { hasStore, storeFolder } from './process/data-folder.ts'
import { readOperatorFile } from './process/operator-file.ts'
import { fileHolder } from './process/port-holder.ts'
import { StartRefused } from './process/start-refused.ts'

type Place = Pick<Config, 'dataDir' | 'store'>

/**
 * For one process at a time, or for daemons together where the store is a database. A command, which has the store alone, opens no damaged
 * folder. Throws `StoreUnavailable` when another process has it, it cannot be opened, or a daemon would use it that was moved elsewhere.
 */
export async function openStore(place: Place, options: GroupOptions = {}, use: StoreUse = 'alone'): Promise<StoreKv> {
  const { dataDir, store } = place
  const { address } = store
  if (address === null) {
    if (use === 'together') await requireUnmoved(storeFolder(dataDir))
    return openFolder(place, { ...options, mustBeWhole: use === 'alone' })
  }
  const { PostgresKv } = await import('#store/postgresql/postgres-kv.ts') // only those who have one pay for it
  return PostgresKv.open(address, { ...options, use, large: await objectsOf(store) })
}

/** The file that gives room back when a full disk keeps the store from opening. */
export const ballastOf = ({ dataDir, store }: Place): Ballast =>
  new Ballast(join(dataDir, 'ballast'), store.ballastBytes, () => freeBytes(dataDir))

/** Gives the ballast back if the disk is full. A refusal names the process that has the folder. */
async function openFolder(place: Place, options: LevelOptions): Promise<StoreKv> {
  const { dataDir } = place
  const folder = storeFolder(dataDir)
  try {
    return await ballastOf(place).openStore(() => LevelKv.open(folder, options))
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error
    throw new StoreInUse(folder, error.lockFile, (await fileHolder(error.lockFile)) ?? (await daemonOf(dataDir)), { cause: error })
  }
}

/** The daemon that the data folder names, for systems that do not tell who has a file open. */
async function daemonOf(dataDir: string): Promise<string | undefined> {
  const access = await readOperatorFile(dataDir).catch(() => undefined)
  return access && `a daemon (pid ${access.pid})`
}

/** Where large values of a database stand apart; undefined when they do not. Throws `StoreUnavailable`. */
export async function objectsOf({ objects, objectBytes }: Config['store']): Promise<ObjectOptions | undefined> {
  if (objects === null) return undefined
  const { objectStoreAt } = await import('#store/postgresql/objects/address.ts')
  return { objects: objectStoreAt(objects, process.env), leastBytes: objectBytes }
}

/** Throws `StartRefused` when nothing was stored in the folder; whether a database holds something shows when it is opened. */
export async function requireStore({ dataDir, store: { address } }: Place): Promise<void> {
  if (address !== null || (await hasStore(dataDir))) return
  throw new StartRefused(
    `There is no data in ${dataDir}; start the daemon once, or set POSTERN_DATA_DIR to the folder that it uses.`,
    exitCodes.failed,
  )
}
