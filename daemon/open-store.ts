/** Opens the configured store: the data folder, or a database. */
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
 * Opens the store for one process, or for several daemons with a database. A command uses the store alone and does not open a damaged
 * folder. Throws `StoreUnavailable` if another process uses the store, if it cannot be opened, or if a daemon would use a store that was
 * moved.
 */
export async function openStore(place: Place, options: GroupOptions = {}, use: StoreUse = 'alone'): Promise<StoreKv> {
  const { dataDir, store } = place
  const { address } = store
  if (address === null) {
    if (use === 'together') await requireUnmoved(storeFolder(dataDir))
    return openFolder(place, { ...options, mustBeWhole: use === 'alone' })
  }
  const { PostgresKv } = await import('#store/postgresql/postgres-kv.ts') // loaded only for stores in a database
  return PostgresKv.open(address, { ...options, use, large: await objectsOf(store) })
}

/** File whose deletion lets the store open on a full disk. */
export const ballastOf = ({ dataDir, store }: Place): Ballast =>
  new Ballast(join(dataDir, 'ballast'), store.ballastBytes, () => freeBytes(dataDir))

/** Deletes the ballast if the disk is full. A refusal names the process that uses the folder. */
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

/** Returns the daemon of the operator file, for systems that do not show which process has a file open. */
async function daemonOf(dataDir: string): Promise<string | undefined> {
  const access = await readOperatorFile(dataDir).catch(() => undefined)
  return access && `a daemon (pid ${access.pid})`
}

/** Returns the object storage of a database; undefined without one. Throws `StoreUnavailable`. */
export async function objectsOf({ objects, objectBytes }: Config['store']): Promise<ObjectOptions | undefined> {
  if (objects === null) return undefined
  const { objectStoreAt } = await import('#store/postgresql/objects/address.ts')
  return { objects: objectStoreAt(objects, process.env), leastBytes: objectBytes }
}

/** Throws `StartRefused` if the folder has no data. For a database, opening it shows whether it has data. */
export async function requireStore({ dataDir, store: { address } }: Place): Promise<void> {
  if (address !== null || (await hasStore(dataDir))) return
  throw new StartRefused(
    `There is no data in ${dataDir}; start the daemon once, or set POSTERN_DATA_DIR to the folder that it uses.`,
    exitCodes.failed,
  )
}
