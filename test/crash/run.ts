/** The crash test by hand: `node test/crash/run.ts --seed 1 --rounds 40 --seconds 5`. */
import { parseArgs } from 'node:util'
import { crashTest } from './crash-test.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
  },
})

const report = await crashTest({
  seed: Number(values.seed),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  say: (line) => console.log(line),
})
for (const problem of report.problems.slice(0, 50)) console.error(problem)
console.log(report.summary)
process.exitCode = report.problems.length === 0 ? 0 : 1
