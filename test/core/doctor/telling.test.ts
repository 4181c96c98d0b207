/** Each finding is reported at most once a day, and once when it is resolved. */
import test from '#test'
import { finding } from '#core/doctor/finding.ts'
import { dayOf, toTell, type Reported } from '#core/doctor/telling.ts'
import { column } from '../../support/column.ts'

const spf = finding('domain.spf', 'example.ch', 'SPF.', 'Fix.')
const notice = finding('backup.none', '', 'None.', 'Make one.')

/** A store of rows, and the reports that a check makes from it. */
function book() {
  const reported = new Map<string, Reported>()
  return (day: string, ...found: [check: string, ...(typeof spf)[]][]) => {
    const { standing, over, rows } = toTell(new Map(found.map(([check, ...findings]) => [check, findings])), reported, day)
    for (const [name, row] of rows) {
      if (row) reported.set(name, row)
      else reported.delete(name)
    }
    return { standing: column(standing, 'id'), over: column(over, 'id'), rows: reported.size }
  }
}

test('a finding is reported daily while it persists, and once when it is resolved', (t) => {
  const look = book()
  t.deepEqual(look('1', ['domains', spf]), { standing: ['domain.spf'], over: [], rows: 1 })
  t.deepEqual(look('1', ['domains', spf]), { standing: [], over: [], rows: 1 })
  t.deepEqual(look('2', ['domains', spf]), { standing: ['domain.spf'], over: [], rows: 1 })
  t.deepEqual(look('2', ['domains']), { standing: [], over: ['domain.spf'], rows: 1 })
  t.deepEqual(look('2', ['domains']), { standing: [], over: [], rows: 1 })
  t.deepEqual(look('3', ['domains']), { standing: [], over: [], rows: 0 }, 'then its row is deleted')
})

test('reports: a finding that recurs within a day is reported and resolved once', (t) => {
  const look = book()
  look('1', ['domains', spf])
  t.deepEqual(look('1', ['domains']).over, ['domain.spf'])
  t.deepEqual(look('1', ['domains', spf]).standing, [])
  t.deepEqual(look('1', ['domains']).over, [])
  t.deepEqual(look('1', ['domains', spf]).standing, [])
  t.deepEqual(look('2', ['domains', spf]).standing, ['domain.spf'])
  t.deepEqual(look('2', ['domains']).over, ['domain.spf'])
})

test('reports: an unchecked finding keeps its state; notices are not reported', (t) => {
  const look = book()
  look('1', ['domains', spf])
  t.deepEqual(look('1', ['process', notice]), { standing: [], over: [], rows: 1 })
  t.deepEqual(look('1').over, [])
})

test('days are UTC days', (t) => {
  t.is(dayOf(Date.UTC(2030, 0, 15, 23, 59)), '2030-01-15')
  t.is(dayOf(Date.UTC(2030, 0, 16)), '2030-01-16')
})
