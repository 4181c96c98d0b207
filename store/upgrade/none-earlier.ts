/** Prevents a change of the store's form while a daemon of an earlier release works. That daemon would continue to write the old form. */
import { setTimeout as wait } from 'node:timers/promises'
import type { StoreKv } from '../engine/store-kv.ts'
import { StoreUnavailable } from '../kv.ts'
import { formOf, whyNewer, type StoreForm } from './store-form.ts'

/** Long enough to remove a killed daemon. */
const goneMs = 15_000
const pauseMs = 500

/** Call it in a turn, before any write. Throws `StoreUnavailable` if other daemons still work after `maxWaitMs`. */
export async function requireNoneEarlier(kv: Pick<StoreKv, 'getMany' | 'daemons'>, ours: StoreForm, maxWaitMs = goneMs): Promise<void> {
  if (whyNewer(ours, await formOf(kv)) === undefined) return
  const deadline = performance.now() + maxWaitMs
  while (await kv.daemons.doOthersWork()) {
    if (performance.now() > deadline) {
      throw new StoreUnavailable(
        'Daemons of an earlier release work with the store, and this release changes its form. Stop all of them, then start this release.',
      )
    }
    await wait(pauseMs)
  }
}
