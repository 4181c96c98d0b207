/** A release changes the form of a store while no daemon of an earlier release works with it, which would go on to write the old one. */
import { setTimeout as wait } from 'node:timers/promises'
import type { StoreKv } from '../engine/store-kv.ts'
import { StoreUnavailable } from '../kv.ts'
import { formOf, whyNewer, type StoreForm } from './store-form.ts'

/** A daemon that was killed is taken out meanwhile. */
const goneMs = 15_000
const pauseMs = 500

/** To be called in turn, before anything is written. Throws `StoreUnavailable` when others still work after `maxWaitMs`. */
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
