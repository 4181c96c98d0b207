/**
 * Runs the crash test manually: `node test/crash/run.ts --seed 1 --rounds 40 --seconds 5`. With `--several kill,clocks,freeze`, runs that
 * of three daemons with one database and applies these faults in turn.
 */
import { parseArgs } from 'node:util'
import { Postgresql } from '../support/peers/postgresql.ts'
import { crashTest, type CrashReport } from './crash-test.ts'
import { severalCrashes } from './several/several-crashes.ts'
import { blows } from './several/several-site.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
    several: { type: 'string' },
  },
})
const [seed, rounds] = [Number(values.seed), Number(values.rounds)]

async function ofSeveral(names: readonly string[]): Promise<CrashReport> {
  const wanted = blows.filter((blow) => names.includes(blow))
  if (wanted.length < names.length) throw new Error(`--several takes ${blows.join(', ')}`)
  await using postgresql = await Postgresql.start()
  return await severalCrashes({ seed, rounds: Array.from({ length: rounds }, (_, at) => wanted[at % wanted.length]!), postgresql })
}

const report =
  values.several === undefined
    ? await crashTest({ seed, rounds, seconds: Number(values.seconds), say: (line) => console.log(line) })
    : await ofSeveral(values.several.split(','))
for (const problem of report.problems.slice(0, 50)) console.error(problem)
console.log(report.summary)
process.exitCode = report.problems.length === 0 ? 0 : 1
