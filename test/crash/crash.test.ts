/** The crash test of `npm test`: few rounds with a fixed seed. */
import test from '#test'
import { seedOf } from '../support/seeded.ts'
import { crashTest } from './crash-test.ts'

test('crash test: no acknowledged mail is lost and no refused mail is sent', async (t) => {
  const seed = seedOf(1)
  t.log(`seed ${String(seed)}; again by: node test/crash/run.ts --seed ${String(seed)} --rounds 6 --seconds 2`)
  const report = await crashTest({ seed, rounds: 6, seconds: 2 })
  t.log(report.summary)
  t.deepEqual(report.problems.slice(0, 20), [], report.problems[0] ?? '')
})
