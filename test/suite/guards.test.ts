/** The shards, their guards and the gate, each on a small example. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import type { Unstable } from './run/gate.ts'
import type { TestLane } from './lanes.ts'
import { nameOf } from './process/plan.ts'
import { countedSeconds } from './process/test-deadline.ts'
import { repeat, type Surroundings } from './run/lane-run.ts'
import { Progress } from './run/progress.ts'
import { runLanes, type SuiteResult } from './run/run-lanes.ts'
import { shapes, ShardWriter } from './run/shards.ts'
import { temporaryRoot } from './run/temporary-root.ts'
import { waitFor } from '../support/waits.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')
const example = (name: string): string => `test/suite/examples/${name}.ts`

/** Prepares a run of examples, which write into the folder `notes`. */
async function prepare(t: ExecutionContext): Promise<Surroundings & { readonly notes: string }> {
  const notes = await mkdtemp(join(tmpdir(), 'postern-suite-'))
  const folder = join('build', basename(notes))
  t.teardown(() => Promise.all([notes, join(root, folder)].map((path) => rm(path, { recursive: true, force: true }))))
  const progress = new Progress(() => {})
  const writer = new ShardWriter(root, folder)
  const interrupted = new AbortController().signal
  return { root, writer, progress, unstable: [], environment: { FAILS_ONCE_FOLDER: notes }, interrupted, notes }
}

/** Runs examples as `npm test` runs modules, all of them in one process. */
async function runExamples(
  t: ExecutionContext,
  lane: TestLane,
  names: readonly string[],
  unstable: readonly Unstable[] = [],
): Promise<SuiteResult> {
  const modules = names.map((name) => ({ path: example(name), lane }))
  return runLanes({ ...(await prepare(t)), unstable }, modules, 1, (paths) => [paths])
}

const outcomes = ({ passed, failures }: SuiteResult): object => ({
  passed: passed.map(({ module, title }) => `${module} ${title}`),
  failed: failures.map(({ module, title, reason }) => `${module} ${title}: ${reason}`),
})

test.serial('shard: a test that leaves something fails by name, and the next one is not blamed', async (t) => {
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
    'a rejection': /leaves an unhandled rejection: Error: no test reads it/,
  }
  t.deepEqual([...reasons.keys()].toSorted(), Object.keys(expected).toSorted())
  for (const [title, pattern] of Object.entries(expected)) t.regex(reasons.get(title) ?? '', pattern, title)
})

const deaths = ['while-imported', 'in-before', 'in-test', 'between-tests', 'in-after', 'after-last-test', 'at-exit'] as const

test.serial('runner: a dead process is red, and each test has one outcome', async (t) => {
  const modules = [...deaths.map((name) => `deaths/${name}`), 'passes'].map((name) => ({ path: example(name), lane: 'real' as const }))
  const each = (paths: readonly string[]): readonly (readonly string[])[] => paths.slice(0, -1).map((path) => [path, ...paths.slice(-1)])
  const result = await runLanes(await prepare(t), modules, 1, each)
  const byModule = ({ module }: { readonly module: string }): string => module.replace(/^.*\/|\.ts$/g, '')
  const passed = Map.groupBy(result.passed, byModule)
  const failed = Map.groupBy(result.failures, byModule)
  const outcomeOf = (name: string): readonly string[] => [
    ...(passed.get(name) ?? []).map(({ title }) => `${title} passed`),
    ...(failed.get(name) ?? []).map(({ title, reason }) => `${title}: ${reason}`),
  ]
  const ran = 'the process died while the test ran'
  const missed = 'the process died before the test ran'
  const outside = 'the process died outside of a test'
  const expected: { readonly [Name in (typeof deaths)[number]]: readonly string[] } = {
    'while-imported': [': the process died while the module loaded'],
    'in-before': [`one: ${ran}`, `two: ${missed}`],
    'in-test': ['one passed', `two: ${ran}`, `three: ${missed}`],
    'between-tests': ['one passed', `: ${outside}`, `two: ${missed}`],
    'in-after': [`one: ${ran}`],
    'after-last-test': ['one passed', `: ${outside}`],
    'at-exit': ['one passed'],
  }
  t.deepEqual(Object.fromEntries(deaths.map((name) => [name, outcomeOf(name)])), expected)
  t.deepEqual(outcomeOf('passes'), [...deaths.map(() => 'it passes passed'), `: ${outside}`])
  t.deepEqual(result.unstable, [])
})

test.serial('runner: names a module that cannot run, and runs the other modules', async (t) => {
  t.deepEqual(outcomes(await runExamples(t, 'exact', ['no-tests', 'two-titles', 'passes', 'declares-late'])), {
    passed: [`${example('passes')} it passes`],
    failed: [
      `${example('no-tests')} : the module did not load: it declares no test`,
      `${example('two-titles')} : the module did not load: two tests have the title "the title"`,
      `${example('declares-late')} in time: "too late" was declared after its module was imported.`,
    ],
  })
})

test.serial('runner: a process with only skipped tests is green', async (t) => {
  const { failures, skipped } = await runExamples(t, 'real', ['skips'])
  t.deepEqual([failures, skipped], [[], [{ module: example('skips'), title: 'one (needs the package nothing)' }]])
})

test.serial('runner: a repetition without a test fails', async (t) => {
  const { passed, failures } = await repeat(await prepare(t), 'repeated', shapes.exact, { module: example('passes'), title: 'it is gone' })
  t.deepEqual([passed.length, failures.length], [0, 1])
})

test('deadline: counts only time with a processor, and at least a fifth of all time', (t) => {
  t.is(countedSeconds(60, 0), 60)
  t.is(countedSeconds(60, 45.5), 14.5)
  t.is(countedSeconds(300, 299), 60)
})

test.serial('deadline: ends an import, a test, a hook and a teardown', async (t) => {
  const expected = {
    import: ': the module did not load: the import has not ended after 1 s (no wait has a name)',
    test: 'a test: the test has not ended after 1 s (no wait has a name)',
    after: 'a test: a hook after the tests failed: Error: the test has not ended after 1 s (no wait has a name)',
    teardown: 'a test: the process died while the test ran',
  }
  for (const [phase, failure] of Object.entries(expected)) {
    const surroundings = await prepare(t)
    const environment = { ...surroundings.environment, HANGS: phase }
    const { failures } = await repeat(
      { ...surroundings, environment },
      phase,
      { ...shapes.exact, seconds: 1 },
      { module: example('hangs'), title: 'a test' },
    )
    t.deepEqual(
      failures.map(({ title, reason }) => `${title}: ${reason}`),
      [failure],
    )
  }
})

test.serial('runner: an interruption ends all processes of the run', async (t) => {
  const { notes, ...surroundings } = await prepare(t)
  const interruption = new AbortController()
  const modules = [{ path: example('starts-program'), lane: 'exact' as const }]
  const run = runLanes({ ...surroundings, interrupted: interruption.signal }, modules, 1)
  const pid = Number(await waitFor('the program runs', () => existsSync(join(notes, 'pid')) && readFileSync(join(notes, 'pid'), 'utf8')))
  interruption.abort(new Error('interrupted'))
  await t.throwsAsync(run, { message: 'interrupted' })
  await waitFor('the program ends', () => !existsSync(`/proc/${String(pid)}`))
  const left = readdirSync(temporaryRoot(shapes.exact.needsDisk)).filter(
    (name) => name.startsWith('postern-shard-') && name.includes(basename(notes)),
  )
  t.deepEqual(left, [])
})

test.serial('gate: a test that passes when it is repeated is unstable, and a failed ledger is not repeated', async (t) => {
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

test.serial('gate: finds a failed ledger under any title', async (t) => {
  const { failures, unstable } = await runExamples(t, 'real', ['odd-titles'])
  t.deepEqual(
    failures.map(({ reason }) => reason),
    [6, 17, 19, 13, 14, 3000].map((length) => `ledger: ${String(length)} characters`),
  )
  t.deepEqual(unstable, [])
})

test.serial('gate: a test that was unstable within seven days is red', async (t) => {
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

test.serial('gate: a failure in the exact lane is not repeated', async (t) => {
  const { failures, unstable } = await runExamples(t, 'exact', ['fails-once'])
  t.deepEqual([failures.length, unstable.length], [5, 0])
})
