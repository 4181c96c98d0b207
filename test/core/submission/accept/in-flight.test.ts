/** Waiting for what is under way, and for nothing that begins later. */
import test from '#test'
import { InFlight } from '#core/submission/accept/in-flight.ts'

/** Returns whether a promise has settled, once everything that was ready to run has run. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise(setImmediate)
  return settled
}

test('InFlight.settled() resolves at once when nothing is under way', async (t) => {
  const inFlight = new InFlight()
  t.true(await hasSettled(inFlight.settled()))
  inFlight.begin()()
  t.true(await hasSettled(inFlight.settled()))
})

test('InFlight.settled() waits for all that began before it, and for nothing that began after it', async (t) => {
  const inFlight = new InFlight()
  const [endFirst, endSecond] = [inFlight.begin(), inFlight.begin()]
  const settled = inFlight.settled()
  const endThird = inFlight.begin()
  endSecond()
  t.false(await hasSettled(settled))
  endFirst()
  t.true(await hasSettled(settled))
  endThird()
})

test('InFlight.settled() waits for what an earlier call waits for', async (t) => {
  const inFlight = new InFlight()
  const endFirst = inFlight.begin()
  const first = inFlight.settled()
  const again = inFlight.settled()
  const endSecond = inFlight.begin()
  const last = inFlight.settled()
  endSecond()
  t.deepEqual(await Promise.all([first, again, last].map(hasSettled)), [false, false, false])
  endFirst()
  t.deepEqual(await Promise.all([first, again, last].map(hasSettled)), [true, true, true])
})
