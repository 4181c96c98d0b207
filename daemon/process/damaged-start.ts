/** Handles a failed start with a damaged store: a sentence instead of a stack, and an exit code for supervisors. */
import { ConfigInvalid } from '#config/settings/load.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { DamagedFolder, StoreDamaged, StoreUnavailable } from '#store/kv.ts'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'

/** Returns the error, or a refusal if damage of the store explains it. Checks all files of the store. */
export async function damagedStart(kv: StoreKv, dataDir: string, error: unknown): Promise<unknown> {
  if (error instanceof StartRefused || error instanceof StoreUnavailable || error instanceof ConfigInvalid) return damagedFolder(error)
  const damage = await kv.check(() => {}).catch(() => kv.damage)
  const isMendable = damage.some(({ isGone }) => !isGone)
  const [first] = damage
  if (!first && !(error instanceof StoreDamaged)) return error
  const store = `The store in ${dataDir} is damaged, and the daemon cannot start with it: ${first?.sentence ?? (error as Error).message}`
  if (isMendable)
    return new StartRefused(`${store} The next start repairs this file, or reports the next step.`, exitCodes.crashed, { cause: error })
  const withoutBackup = first ? ' Without a backup, run "postern verify --accept-losses" to continue without these rows.' : ''
  return new StartRefused(`${store} Restore the last good backup.${withoutBackup}`, exitCodes.damaged, { cause: error })
}

/** Returns the refusal to open a damaged folder, with the exit code of the daemon. */
export const damagedFolder = (error: unknown): unknown =>
  error instanceof DamagedFolder ? new StartRefused(error.message, exitCodes.damaged, { cause: error }) : error
