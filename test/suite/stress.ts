/**
 * `npm run test:stress -- [--runs 20] [--load 8] [--lane exact] [--seed 1] [--unstable] [--log] [FILE…]`: runs test modules many times in
 * random order, while other processes use processor time and flush files. Prints how often each test failed. `--unstable` selects the
 * modules of `unstable.txt`. `--log` adds a line for each whole run to `runs.tsv`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Seeded } from '../support/seeded.ts'
import { builtVariable } from '../support/web/built.ts'
import { buildAll } from './run/builds.ts'
import { chooseModules, readArguments, readLane, type Choice } from './choice.ts'
import { exitWith, interruption, RunError } from './exit.ts'
import { lanes } from './lanes.ts'
import { readUnstable, unstableModules, unstablePath } from './run/gate.ts'
import { nameOf } from './process/plan.ts'
import { Progress } from './run/progress.ts'
import { logRun } from './run/report.ts'
import { claimCheckout } from './run/only-run.ts'
import { runLanes, type Spread, type SuiteResult } from './run/run-lanes.ts'
import { startServices, type Services } from './run/shared-servers.ts'
import { ShardWriter } from './run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')
const usage = `Usage: npm run test:stress -- [--runs 20] [--load 8] [--lane ${lanes.join('|')}] [--seed 1] [--unstable] [--log] [FILE…]`

interface Settings {
  readonly runs: number
  /** How many processes burn processor time. */
  readonly load: number
  /** Of the first run; each later run has the next one. */
  readonly seed: number
  readonly choice: Choice
  readonly isLogged: boolean
}

/** Undefined if no test is listed as unstable. */
function readSettings(args: readonly string[]): Settings | undefined {
  const options = {
    runs: { type: 'string', default: '20' },
    load: { type: 'string', default: '0' },
    lane: { type: 'string' },
    seed: { type: 'string', default: '1' },
    unstable: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
  } as const
  const { values, positionals: given } = readArguments(args, options, usage)
  const number = (name: 'runs' | 'load' | 'seed', least: number): number => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= least && values[name] !== '') return value
    throw new RunError(`--${name} takes a whole number from ${String(least)}, not "${values[name]}".\n${usage}`)
  }
  const lane = readLane(values.lane)
  const files = values.unstable ? unstableModules(root, readUnstable(root)) : given
  if ((given.length > 0 || values.unstable) && lane !== undefined)
    throw new RunError(`Paths and --unstable cannot be combined with --lane.\n${usage}`)
  if (given.length > 0 && values.unstable) throw new RunError(`Paths cannot be combined with --unstable.\n${usage}`)
  if (values.log && (files.length > 0 || values.unstable || lane !== undefined))
    throw new RunError(`--log records whole runs only: leave out paths, --unstable and --lane.\n${usage}`)
  const numbers = { runs: number('runs', 1), load: number('load', 0), seed: number('seed', 0) }
  if (values.unstable && files.length === 0) return undefined
  return { ...numbers, choice: chooseModules(root, { isFull: false, lane, files }), isLogged: values.log }
}

/** Burns a processor and flushes a file of 64 KiB, as a busy neighbour does, until its parent has ended. */
const burner = `const { openSync, writeSync, fsyncSync } = require('node:fs')
const file = openSync(process.argv[1], 'w')
for (const parent = process.ppid; process.ppid === parent;) { for (let n = 0; n < 2e7; n++); writeSync(file, Buffer.alloc(65536), 0, 65536, 0); fsyncSync(file) }`

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

async function stress({ runs, seed: first, choice, isLogged }: Settings, services: Services, interrupted: AbortSignal): Promise<Record> {
  const record = new Record()
  for (let seed = first; seed < first + runs; seed++) {
    console.log(`Run ${String(seed - first + 1)} of ${String(runs)}, seed ${String(seed)}`)
    const progress = new Progress((text) => process.stdout.write(text))
    const environment = { [builtVariable]: '1', ...services.env }
    const surroundings = { root, writer: new ShardWriter(root), progress, unstable: [], environment, interrupted }
    const result = await runLanes(surroundings, choice.selected, availableParallelism(), shuffled(new Seeded(seed)))
    record.add(result, seed)
    if (isLogged) logRun(root, result)
    console.log(`${String(result.passed.length)} passed, ${String(result.failures.length)} failed`)
  }
  return record
}

await exitWith(async () => {
  const settings = readSettings(process.argv.slice(2))
  if (!settings) {
    console.log(`${unstablePath} names no test.`)
    return 0
  }
  using _ = claimCheckout(root)
  const interrupted = interruption()
  await buildAll()
  await using services = await startServices()
  const folder = mkdtempSync(join(tmpdir(), 'postern-load-'))
  const burners = burn(folder, settings.load)
  try {
    const { rows, redRuns } = await stress(settings, services, interrupted)
    for (const line of table(rows, settings.runs)) console.log(line)
    console.log(`${String(settings.runs - redRuns)} of ${String(settings.runs)} runs without a failure`)
    return redRuns === 0 ? 0 : 1
  } finally {
    for (const child of burners) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
