/** Runs `verify` on a store in use. It pauses as long as it works, so that mail is not delayed. */
import { systemClock, type Clock } from '#core/clock.ts'
import { restsBetween } from '#core/event-loop.ts'
import { integrityChecks } from '#core/integrity.ts'
import { Database } from '#store/database.ts'
import type { Entry, Kv, Range } from '#store/kv.ts'
import type { Rest, StoreKv } from '#store/engine/store-kv.ts'
import { verify, type VerifyReport } from '#store/verify/verify.ts'

const workMs = 10

/** Returns pauses for half of the time. */
export const gently = (clock: Clock): Rest => restsBetween(clock, workMs)

export async function verifyGently(kv: StoreKv, clock: Clock = systemClock): Promise<VerifyReport> {
  const database = new Database(resting(kv, clock))
  const damage = await kv.check(gently(clock))
  return await verify(database, { ...integrityChecks(database), missingGroups: kv.missingGroups, damage })
}

/** Wraps a store so that range reads pause. */
function resting(kv: Kv, clock: Clock): Kv {
  return {
    get: (key) => kv.get(key),
    getMany: (keys) => kv.getMany(keys),
    counter: (key) => kv.counter(key),
    counters: (keys) => kv.counters(keys),
    write: (write) => kv.write(write),
    range: (range) => restingRange(kv, range, clock),
    [Symbol.asyncDispose]: () => kv[Symbol.asyncDispose](),
  }
}

async function* restingRange(kv: Kv, range: Range, clock: Clock): AsyncGenerator<Entry> {
  const rest = gently(clock)
  for await (const entry of kv.range(range)) {
    yield entry
    const resting = rest()
    if (resting) await resting
  }
}
