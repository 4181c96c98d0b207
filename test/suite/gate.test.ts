/** Tests of the gate: which failures are repeated, and how long a test counts as unstable. */
import test from '#test'
import { isRepeatedlyUnstable, repeatable, staleUnstable, unstableTests } from './run/gate.ts'

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
