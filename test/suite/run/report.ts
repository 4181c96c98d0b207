/** Output of `npm test`: areas at the start, figures and failures at the end, and files with the titles and costs of all tests. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { areaOf, type AreaState, type ModuleFacts } from '../areas.ts'
import { unstableLine, unstablePath } from './gate.ts'
import { nameOf, type Test } from '../process/plan.ts'
import type { SuiteResult } from './run-lanes.ts'
import { built } from './shards.ts'

export const areasLines = (states: readonly AreaState[]): readonly string[] =>
  states.map(({ name, runs, why }) => `${runs ? 'runs' : 'skips'}: ${name} (${why})`)

/** Titles of all tests of a run, with lane and outcome. */
export const titlesPath = `${built}/titles.tsv`
/** Processor milliseconds of each module of a run; `npm run test:durations` adds them to `durations.json`. */
export const costsPath = `${built}/costs.json`

export function writeTitles(root: string, { passed, failures, costs }: SuiteResult): void {
  const lines = [
    ...passed.map((test) => [test.lane, 'passed', nameOf(test)]),
    ...failures.map((test) => [test.lane, 'failed', nameOf(test)]),
  ]
  writeFileSync(
    join(root, titlesPath),
    lines
      .map((line) => `${line.join('\t')}\n`)
      .toSorted()
      .join(''),
  )
  writeFileSync(
    join(root, costsPath),
    JSON.stringify(Object.fromEntries([...costs].toSorted(([one], [other]) => one.localeCompare(other)))),
  )
}

/** Log of whole runs; `npm test -- --log` adds a line. */
const runsPath = 'test/suite/runs.tsv'

/** Adds a line: time, commit, load average, seconds, processor seconds, passed, failed, unstable tests. */
export function logRun(root: string, { passed, failures, unstable, figures }: SuiteResult): void {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' })
  const commit = (stdout ?? '').trim() || 'without Git'
  const sum = (of: (one: SuiteResult['figures'][number]) => number): string => figures.reduce((total, one) => total + of(one), 0).toFixed(0)
  const cells = [
    ...[new Date().toISOString().slice(0, 16), commit, (loadavg()[1] ?? 0).toFixed(1)],
    ...[sum(({ seconds }) => seconds), sum(({ processorSeconds }) => processorSeconds)],
    ...[String(passed.length), failures.map(nameOf).join(', ') || '0', unstable.map(nameOf).join(', ') || '0'],
  ]
  appendFileSync(join(root, runsPath), `${cells.join('\t')}\n`)
}

/** Processor seconds of each area that ran. */
function areaLines({ costs }: SuiteResult, modules: readonly ModuleFacts[]): readonly string[] {
  const sums = new Map<string, number>()
  for (const module of modules) {
    const area = areaOf(module)
    const ms = costs.get(module.path)
    if (area !== undefined && ms !== undefined) sums.set(area, (sums.get(area) ?? 0) + ms)
  }
  return [...sums].map(([area, ms]) => `of these ${area}: ${(ms / 1000).toFixed(0)} processor seconds`)
}

/** Counts skipped tests by the peers that they need. */
function skippedLines(skipped: readonly Test[]): readonly string[] {
  const reasons = Map.groupBy(skipped, ({ title }) => /\((needs .+)\)$/.exec(title)?.[1] ?? 'without a reason')
  return [...reasons].map(([reason, tests]) => `${String(tests.length)} skipped: ${reason}`)
}

/** The last lines of a run: figures, skipped tests, failures, unstable tests, and the sum. */
export function closingLines(result: SuiteResult, modules: readonly ModuleFacts[], failed: number): readonly string[] {
  const { passed, failures, unstable, figures } = result
  return [
    '',
    ...figures.map(
      ({ lane, modules, tests, seconds, processorSeconds }) =>
        `${lane}: ${String(tests)} tests in ${String(modules)} modules, ${seconds.toFixed(0)} s, ${processorSeconds.toFixed(0)} processor seconds`,
    ),
    ...areaLines(result, modules),
    ...skippedLines(result.skipped),
    ...failures.map((failure) => `failed: ${nameOf(failure)} (${failure.reason})`),
    ...unstable.map((failure) => `unstable: ${nameOf(failure)} (${failure.reason})`),
    ...(unstable.length > 0 ? [`Add to ${unstablePath}:`, ...unstable.map((failure) => unstableLine(failure, Date.now()))] : []),
    `${String(passed.length)} passed, ${String(failed)} failed`,
  ]
}
