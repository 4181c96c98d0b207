/** Waits are registered by name while they last, and end with the test. */
import test from '#test'
import { endWaits, waitFor, waiting, waitsInProgress } from '../support/waits.ts'

test.serial('waitFor(): asks until there is an answer', async (t) => {
  let asked = 0
  t.is(await waitFor('the third answer', () => (++asked === 3 ? asked : undefined)), 3)
  t.deepEqual(waitsInProgress(), [])
})

test.serial('endWaits(): rejects each wait in progress by name', async (t) => {
  const waits = [waiting('the first', new Promise(() => {})), waitFor('the second', () => false)]
  t.deepEqual(waitsInProgress(), ['the first', 'the second'])
  endWaits()
  for (const [index, name] of ['the first', 'the second'].entries())
    await t.throwsAsync(async () => waits[index], { message: `the test ended during a wait: ${name}` })
  t.deepEqual(waitsInProgress(), [])
})
