/** Waits for tasks in flight, and not for later ones. */
import test from '#test'
import { InFlight } from '#core/submission/accept/in-flight.ts'

/** Returns whether a promise has settled, once everything that was ready to run has run. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise(setImmediate)
  return settled
}

test('settled(): resolves immediately without tasks', async (t) => {
  const inFlight = new InFlight()
  t.true(await hasSettled(inFlight.settled()))
  inFlight.begin()()
  t.true(await hasSettled(inFlight.settled()))
})

test('settled(): waits for earlier tasks, but not for later ones', async (t) => {
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

test('settled(): also waits for the tasks of an earlier call', async (t) => {
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
