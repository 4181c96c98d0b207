/** The shards, their guards and the gate, each on a small example. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import type { Unstable } from './run/gate.ts'
import type { TestLane } from './lanes.ts'
import { nameOf } from './process/plan.ts'
import { Progress } from './run/progress.ts'
import { runLanes, type SuiteResult } from './run/run-lanes.ts'
import { ShardWriter } from './run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')
const example = (name: string): string => `test/suite/examples/${name}.ts`

/** Runs examples as `npm test` runs modules, all of them in one process. */
async function runExamples(
  t: ExecutionContext,
  lane: TestLane,
  names: readonly string[],
  unstable: readonly Unstable[] = [],
): Promise<SuiteResult> {
  const notes = await mkdtemp(join(tmpdir(), 'postern-suite-'))
  await mkdir(join(root, 'build'), { recursive: true })
  const folder = relative(root, await mkdtemp(join(root, 'build/suite-')))
  t.teardown(() => Promise.all([notes, join(root, folder)].map((path) => rm(path, { recursive: true, force: true }))))
  const output: string[] = []
  const surroundings = {
    ...{ root, writer: new ShardWriter(root, folder), progress: new Progress((text) => output.push(text)), unstable },
    environment: { FAILS_ONCE_FOLDER: notes },
  }
  const modules = names.map((name) => ({ path: example(name), lane }))
  return runLanes(surroundings, modules, 1, (paths) => [paths])
}

const outcomes = ({ passed, failures }: SuiteResult): object => ({
  passed: passed.map(({ module, title }) => `${module} ${title}`),
  failed: failures.map(({ module, title, reason }) => `${module} ${title}: ${reason}`),
})

test('shard: a test that leaves something fails by name, and the next one is not blamed', async (t) => {
  const { passed, failures } = await runExamples(t, 'exact', ['leaves'])
  t.deepEqual(
    passed.map(({ title }) => title),
    ['nothing'],
  )
  const reasons = new Map(failures.map(({ title, reason }) => [title, reason]))
  const expected = {
    'a listener': /leaves a listening server/,
    'a daemon': /leaves an open daemon/,
    'a variable': /leaves a changed process\.env \(LEFT_BY_A_TEST\)/,
    'a replaced clock': /leaves a replaced Date\.now/,
    'a folder': /leaves the temporary folder postern-left-/,
    'a rejection': /leaves a rejection that nobody handles: Error: nobody looks/,
  }
  t.deepEqual([...reasons.keys()].toSorted(), Object.keys(expected).toSorted())
  for (const [title, pattern] of Object.entries(expected)) t.regex(reasons.get(title) ?? '', pattern, title)
})

test('runner: the death of a process fails its test, and the modules after it run', async (t) => {
  t.deepEqual(outcomes(await runExamples(t, 'exact', ['dies', 'passes'])), {
    passed: [`${example('dies')} before the end`, `${example('passes')} it passes`],
    failed: [`${example('dies')} the end: the process died while the test ran`],
  })
})

test('gate: a test that passes when it is repeated is unstable, and a failed ledger is not repeated', async (t) => {
  const result = await runExamples(t, 'real', ['fails-once'])
  t.deepEqual(outcomes(result), {
    passed: [`${example('fails-once')} a wait that was too short`],
    failed: [
      'a lost mail: ledger: a mail is lost',
      'mail of another tenant: ledger: a tenant got mail of another',
      'a doubled mail, and a variable that is left: ledger: a mail is doubled',
      'mail of another tenant, and a disposal that fails: ledger: a tenant got mail of another',
    ].map((failure) => `${example('fails-once')} ${failure}`),
  })
  t.deepEqual(
    result.unstable.map(({ title, reason }) => `${title}: ${reason}`),
    ['a wait that was too short: the wait was too short'],
  )
})

test('gate: a test that was unstable within seven days is red', async (t) => {
  const name = nameOf({ module: example('fails-once'), title: 'a wait that was too short' })
  const now = Date.now()
  const daysAgo = (days: number): string => new Date(now - days * 24 * 3600 * 1000).toISOString().slice(0, 10)
  for (const [days, red] of [
    [2, 5],
    [9, 4],
  ] as const) {
    const { failures } = await runExamples(t, 'real', ['fails-once'], [{ day: daysAgo(days), name, reason: 'the wait was too short' }])
    t.is(failures.length, red, `${String(days)} days ago`)
  }
})

test('gate: a failure in the exact lane is not repeated', async (t) => {
  const { failures, unstable } = await runExamples(t, 'exact', ['fails-once'])
  t.deepEqual([failures.length, unstable.length], [5, 0])
})
