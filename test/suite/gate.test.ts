/** Tests of the gate: which failures are repeated, and how long a test counts as unstable. */
import test from '#test'
import { fileURLToPath } from 'node:url'
import { isRepeatedlyUnstable, repeatable, staleUnstable, unstableModules, unstableTests } from './run/gate.ts'
import { closingLines } from './run/report.ts'

const failure = { module: 'test/flows/a.test.ts', title: 'a mail', reason: 'it is too late' }
const now = Date.parse('2026-11-29T00:30:00Z')
const isKnown = (day: string): boolean => isRepeatedlyUnstable([{ day, name: 'flows/a › a mail', reason: 'x' }], failure, now)

test('isRepeatedlyUnstable(): counts lines of the last seven days', (t) => {
  const days = ['2026-11-21', '2026-11-22', '2026-11-29', '2026-11-30', 'yesterday', '']
  t.deepEqual(days.map(isKnown), [false, true, true, true, false, false])
})

test('staleUnstable(): reports old, future and malformed lines', (t) => {
  const lines = ['2026-11-14\told\tx', '2026-11-15\tin time\tx', '2026-11-30\tearly\tx', '29.11.2026\tother\tx', '2026-11-29 spaces x']
  const stale = staleUnstable(unstableTests(`# a comment\n\n${lines.join('\n')}\n2026-11-29\tno error`), now)
  t.deepEqual(
    stale.map((line) => /"(.*)"/.exec(line)?.[1]),
    ['2026-11-14 old', '2026-11-30 early', '29.11.2026 other', '2026-11-29 spaces x ', '2026-11-29 no error'],
  )
})

test('repeatable(): excludes ledgers, dead processes, whole modules and broken lanes', (t) => {
  const others = [
    { ...failure, reason: 'ledger: a mail is lost' },
    { ...failure, reason: 'a hook after the tests failed: Error: ledger: a mail is lost' },
    { ...failure, title: '' },
    { ...failure, isFinal: true as const },
  ]
  t.deepEqual(repeatable('real', [failure, ...others]), [failure])
  t.deepEqual(repeatable('exact', [failure]), [])
  t.deepEqual(
    repeatable(
      'real',
      Array.from({ length: 21 }, () => failure),
    ),
    [],
  )
})

test('unstableModules(): names each module once, and none that is gone', (t) => {
  const known = ['suite/gate › one', 'suite/gate › two › three', 'suite/gone › four'].map((name) => ({
    day: '2026-11-29',
    name,
    reason: 'x',
  }))
  t.deepEqual(unstableModules(fileURLToPath(new URL('../..', import.meta.url)), known), ['test/suite/gate.test.ts'])
})

test('closingLines(): end with failures, unstable tests, the line to add, and the sum', (t) => {
  const lane = 'real'
  const passed = [{ module: failure.module, title: 'another mail', lane } as const]
  const unstable = { ...failure, title: 'a late mail' }
  const result = { passed, failures: [{ ...failure, lane } as const], unstable: [unstable], skipped: [], figures: [], costs: new Map() }
  const lines = closingLines(result, [], 1)
  t.deepEqual(
    [...lines.slice(-5, -2), lines.at(-1)],
    [
      'failed: flows/a › a mail (it is too late)',
      'unstable: flows/a › a late mail (it is too late)',
      'Add to test/suite/unstable.txt:',
      '1 passed, 1 failed',
    ],
  )
  t.regex(String(lines.at(-2)), /^\d{4}-\d\d-\d\d\tflows\/a › a late mail\tit is too late$/)
})
