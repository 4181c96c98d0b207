/** Several daemons lose no acknowledged mail, regardless of kills and stops of daemons and database, and of their clocks. */
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { seedOf } from '../../support/seeded.ts'
import { severalCrashes } from './several-crashes.ts'
import { blowsAtDaemons } from './several-site.ts'

const test = testWith('postgresql', 'faketime')

test('three daemons: no acknowledged mail lost or sent twice, with changing clocks', async (t) => {
  await using postgresql = await Postgresql.start()
  const seed = seedOf(1)
  t.log(`seed ${seed}`)
  const report = await severalCrashes({ seed, rounds: [...blowsAtDaemons, 'database', 'fail over', 'clocks'], postgresql })
  t.log(report.summary)
  t.deepEqual(report.problems.slice(0, 20), [], report.problems[0] ?? '')
})
