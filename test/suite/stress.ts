/**
 * `npm run test:stress -- [--runs 20] [--load 8] [--lane exact] [--seed 1] [FILE…]`: runs test modules many times in random order, while
 * other processes use processor time and flush files. Prints how often each test failed.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Seeded } from '../support/seeded.ts'
import { builtVariable } from '../support/web/built.ts'
import { areaStates } from './areas.ts'
import { buildAll } from './run/builds.ts'
import { chooseModules } from './choice.ts'
import { lanes } from './lanes.ts'
import { nameOf } from './process/plan.ts'
import { Progress } from './run/progress.ts'
import { runLanes, type Spread, type SuiteResult } from './run/run-lanes.ts'
import { startServices } from './run/shared-servers.ts'
import { runnerPorts, ShardWriter } from './run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '20' },
    load: { type: 'string', default: '0' },
    lane: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
})

/** Burns a processor and flushes a file of 64 KiB, as a busy neighbour does. */
const burner = `const { openSync, writeSync, fsyncSync } = require('node:fs')
const file = openSync(process.argv[1], 'w')
for (;;) { for (let n = 0; n < 2e7; n++); writeSync(file, Buffer.alloc(65536), 0, 65536, 0); fsyncSync(file) }`

function burn(folder: string, count: number): readonly ChildProcess[] {
  return Array.from({ length: count }, (_, n) => spawn(process.execPath, ['-e', burner, join(folder, String(n))], { stdio: 'ignore' }))
}

const shuffled =
  (random: Seeded): Spread =>
  (paths, count) => {
    const order = random.shuffle(paths)
    const parts = Math.min(count, order.length)
    return Array.from({ length: parts }, (_, part) => order.filter((_path, index) => index % parts === part))
  }

interface Row {
  red: number
  unstable: number
  readonly reason: string
  readonly seed: number
}

function table(rows: ReadonlyMap<string, Row>, runs: number): readonly string[] {
  if (rows.size === 0) return [`No test failed in ${String(runs)} runs.`]
  const sorted = [...rows].toSorted(([, one], [, other]) => other.red + other.unstable - one.red - one.unstable)
  const line = ([name, { red, unstable, reason, seed }]: [string, Row]): string =>
    `${String(red + unstable)}/${String(runs)} (${String(red)} red)\t${name}\t${reason}\tseed ${String(seed)}`
  return sorted.map(line)
}

/** Failures of many runs. */
class Record {
  readonly rows = new Map<string, Row>()
  redRuns = 0

  add(result: SuiteResult, seed: number): void {
    for (const failure of result.failures) this.#count(nameOf(failure), failure.reason, seed).red += 1
    for (const failure of result.unstable) this.#count(nameOf(failure), failure.reason, seed).unstable += 1
    if (result.failures.length > 0) this.redRuns += 1
  }

  #count(name: string, reason: string, seed: number): Row {
    const row = this.rows.get(name) ?? { red: 0, unstable: 0, reason, seed }
    this.rows.set(name, row)
    return row
  }
}

async function stress(runs: number, firstSeed: number): Promise<Record> {
  const lane = lanes.find((name) => name === values.lane)
  const { modules, chosen } = chooseModules(root, { isFull: false, isLogged: false, lane, files: positionals })
  const selected = chosen(areaStates(root, modules, false))
  const record = new Record()
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    console.log(`Run ${String(seed - firstSeed + 1)} of ${String(runs)}, seed ${String(seed)}`)
    const progress = new Progress((text) => process.stdout.write(text))
    const surroundings = {
      root,
      writer: new ShardWriter(root),
      progress,
      unstable: [],
      environment: { [builtVariable]: '1', ...services.env },
    }
    const result = await runLanes(surroundings, selected, availableParallelism(), shuffled(new Seeded(seed)))
    record.add(result, seed)
    console.log(`${String(result.passed.length)} passed, ${String(result.failures.length)} failed`)
  }
  return record
}

const runs = Number(values.runs)
await buildAll()
process.env['POSTERN_TEST_PORTS'] = runnerPorts
await using services = await startServices()
const folder = mkdtempSync(join(tmpdir(), 'postern-load-'))
const burners = burn(folder, Number(values.load))
try {
  const { rows, redRuns } = await stress(runs, Number(values.seed))
  for (const line of table(rows, runs)) console.log(line)
  console.log(`${String(runs - redRuns)} of ${String(runs)} runs without a failure`)
  process.exitCode = redRuns === 0 ? 0 : 1
} finally {
  for (const child of burners) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
