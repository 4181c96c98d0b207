/** Several daemons lose nothing they acknowledged, whichever of them, or their database, is killed or stopped. */
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { blows, severalCrashes } from './several-crashes.ts'

const test = testWith('postgresql', 'faketime')

test('three daemons lose nothing they acknowledged and relay nothing twice outside the window, with clocks that differ', async (t) => {
  await using postgresql = await Postgresql.start()
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.log(`seed ${seed}`)
  const report = await severalCrashes({ seed, rounds: blows, postgresql })
  t.log(report.summary)
  t.deepEqual(report.problems.slice(0, 20), [])
})
