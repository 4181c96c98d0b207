/** Each finding is reported at most once a day, and once when it is resolved. */
import test from '#test'
import { inWords } from '#core/doctor/report.ts'
import { observed } from '#core/findings/finding.ts'
import { dayOf, toTell, type Reported } from '#core/doctor/telling.ts'
import { column } from '../../support/column.ts'

const spf = inWords(observed('domain.spf', 'example.ch'))
const notice = inWords(observed('backup.none', ''))

/** A store of rows, and the reports that a check makes from it. */
function book() {
  const reported = new Map<string, Reported>()
  return (day: string, ...open: (typeof spf)[]) => {
    const { standing, over, rows } = toTell(open, reported, day)
    for (const [name, row] of rows) {
      if (row) reported.set(name, row)
      else reported.delete(name)
    }
    return { standing: column(standing, 'id'), over: column(over, 'id'), rows: reported.size }
  }
}

test('a finding is reported daily while it persists, and once when it is resolved', (t) => {
  const look = book()
  t.deepEqual(look('1', spf), { standing: ['domain.spf'], over: [], rows: 1 })
  t.deepEqual(look('1', spf), { standing: [], over: [], rows: 1 })
  t.deepEqual(look('2', spf), { standing: ['domain.spf'], over: [], rows: 1 })
  t.deepEqual(look('2'), { standing: [], over: ['domain.spf'], rows: 1 })
  t.deepEqual(look('2'), { standing: [], over: [], rows: 1 })
  t.deepEqual(look('3'), { standing: [], over: [], rows: 0 }, 'then its row is deleted')
})

test('reports: a finding that recurs within a day is reported and resolved once', (t) => {
  const look = book()
  look('1', spf)
  t.deepEqual(look('1').over, ['domain.spf'])
  t.deepEqual(look('1', spf).standing, [])
  t.deepEqual(look('1').over, [])
  t.deepEqual(look('1', spf).standing, [])
  t.deepEqual(look('2', spf).standing, ['domain.spf'])
  t.deepEqual(look('2').over, ['domain.spf'])
})

test('reports: notices are not reported', (t) => {
  const look = book()
  t.deepEqual(look('1', notice), { standing: [], over: [], rows: 0 })
  t.deepEqual(look('1', spf, notice).standing, ['domain.spf'])
})

test('days are UTC days', (t) => {
  t.is(dayOf(Date.UTC(2030, 0, 15, 23, 59)), '2030-01-15')
  t.is(dayOf(Date.UTC(2030, 0, 16)), '2030-01-16')
})
