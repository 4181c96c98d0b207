/** Tests of the arguments of a run: wrong arguments are refused before anything is installed or built. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from '#test'
import { chooseModules, readRunArguments } from './choice.ts'
import { RunError } from './exit.ts'
import { claimCheckout } from './run/only-run.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')

test('readRunArguments(): refuses unknown options, unknown lanes and wrong combinations', (t) => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--fast'], /Unknown option '--fast'[^]*\nUsage: npm test/],
    [['--lane'], /--lane[^]*\nUsage: npm test/],
    [['--lane', 'quick'], /^There is no lane "quick"\. The lanes are exact, real, browser, measured\.$/],
    [['--full', 'test/tidy.test.ts'], /^Paths cannot be combined with --full or --lane\.\nUsage/],
    [['--log', '--lane', 'exact'], /^--log records whole runs only: leave out paths and --lane\.\nUsage/],
  ]
  for (const [args, message] of cases) t.throws(() => readRunArguments(args), { instanceOf: RunError, message })
  t.deepEqual(readRunArguments(['--lane', 'exact', '--full']), { isFull: true, isLogged: false, lane: 'exact', files: [] })
})

test('chooseModules(): refuses other paths than test modules', (t) => {
  for (const path of ['test/gone.test.ts', 'test/run.ts', 'build/test/exact-1.test.ts', '../a.test.ts', 'test/core'])
    t.throws(() => chooseModules(root, { isFull: false, lane: undefined, files: [path] }), {
      instanceOf: RunError,
      message: `There is no test module ${path}. Give paths of files test/**/*.test.ts.`,
    })
  const { selected } = chooseModules(root, { isFull: false, lane: undefined, files: ['./test/tidy.test.ts'] })
  t.deepEqual(
    selected.map(({ path }) => path),
    ['test/tidy.test.ts'],
  )
})

test('claimCheckout(): refuses a second run until the first process ends', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'postern-claim-'))
  t.teardown(() => rm(root, { recursive: true }))
  {
    using _ = claimCheckout(root)
    t.throws(() => claimCheckout(root), { instanceOf: RunError, message: new RegExp(`^Process ${String(process.pid)} runs tests`) })
  }
  const { pid } = spawnSync('true')
  await writeFile(join(root, 'build/run.pid'), String(pid))
  t.notThrows(() => claimCheckout(root)[Symbol.dispose]())
})

test('programs: wrong arguments end with exit code 2 and the next step', (t) => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['test/run.ts', 'test/gone.test.ts'], /^There is no test module test\/gone\.test\.ts\. /],
    [['test/suite/stress.ts', '--runs', '0'], /^--runs takes a whole number from 1, not "0"\.\nUsage: /],
    [['test/suite/stress.ts', '--load', 'abc'], /^--load takes a whole number from 0, not "abc"\.\nUsage: /],
    [['test/suite/stress.ts', '--seed', 'x'], /^--seed takes a whole number from 0, not "x"\.\nUsage: /],
    [['test/suite/stress.ts', '--lane', 'quick'], /^There is no lane "quick"\. /],
    [['test/suite/one.ts', 'test/gone.test.ts'], /^There is no test module test\/gone\.test\.ts\. /],
    [['test/suite/one.ts'], /^Usage: npm run test:one FILE/],
  ]
  for (const [args, message] of cases) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
    t.deepEqual([status, stdout], [2, ''], args.join(' '))
    t.regex(stderr, message)
  }
})
