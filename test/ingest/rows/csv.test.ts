/** The CSV reader compared with a naive model, and CSV for spreadsheets read back. */
import test from '#test'
import { csvLine, restoredCell } from '#ingest/rows/csv-cells.ts'
import { readCsvRows } from '#ingest/rows/csv-rows.ts'
import { readCsv } from '#ingest/rows/csv.ts'
import { Seeded } from '../../support/seeded.ts'
import { inPieces, listOf } from './pieces.ts'
import { column } from '../../support/column.ts'

const cellsOf = async (text: string | Uint8Array, seeded?: Seeded) =>
  (await listOf(readCsv(inPieces(text, seeded)))).flat().map(({ cells }) => cells)

const alphabet = ['a', 'b', '"', ',', '\r', '\n', '\r\n', ' ', '', 'ü', '💌', '=', "'"]

function randomCell(seeded: Seeded): string {
  return Array.from({ length: seeded.between(0, 5) }, () => seeded.pick(alphabet)).join('')
}

test('readCsv() reads random tables with any quoting, line ends and pieces', async (t) => {
  const seeded = new Seeded('csv')
  for (let round = 0; round < 1500; round++) {
    const width = seeded.between(1, 4)
    const table = Array.from({ length: seeded.between(1, 5) }, () => Array.from({ length: width }, () => randomCell(seeded)))
    const end = seeded.pick(['\r\n', '\n', '\r'])
    const written = table.map((cells) =>
      cells.map((cell, i) => {
        const bare = !/[",\r\n]/.test(cell) && !(width === 1 && i === 0 && cell === '') && seeded.chance(0.5)
        return bare ? cell : `"${cell.replaceAll('"', '""')}"`
      }),
    )
    const mark = seeded.chance(0.2) ? '\ufeff' : ''
    const text = mark + written.map((cells) => cells.join(',')).join(end) + (seeded.chance(0.5) ? end : '')
    t.deepEqual(await cellsOf(text, seeded), table, JSON.stringify(text))
  }
})

/** The same rules on the complete text, with one regular expression for each cell. */
function naive(text: string): (readonly string[])[] | 'open quote' {
  const records: string[][] = []
  let cells: string[] = []
  let at = 0
  for (;;) {
    const [cell = '', quoted, loose = ''] = /^(?:"((?:[^"]|"")*)"(?!"))?([^,\r\n]*)/.exec(text.slice(at)) ?? []
    if (quoted === undefined && text[at] === '"') return 'open quote'
    const taken = quoted === undefined ? loose : quoted.replaceAll('""', '"') + loose
    cells.push(taken)
    at += cell.length
    if (text[at] === ',') {
      at++
      continue
    }
    if (!(cells.length === 1 && cell === '')) records.push(cells)
    cells = []
    if (at >= text.length) return records
    at += text.startsWith('\r\n', at) ? 2 : 1
  }
}

test('readCsv() agrees with a naive model on arbitrary text', async (t) => {
  const seeded = new Seeded('any text')
  let open = 0
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: seeded.between(0, 14) }, () => seeded.pick(['a', '"', ',', '\n', '\r\n', 'é', '""'])).join('')
    // the model accepts any text after a closing quote; this reader must report the record
    if (/"[^,\r\n"]+"/.test(text.replaceAll('""', '')) || /[^,\r\n"]"/.test(text)) continue
    const expected = naive(text)
    if (expected === 'open quote') {
      open++
      await t.throwsAsync(cellsOf(text, seeded), { message: /is never closed$/ }, JSON.stringify(text))
    } else t.deepEqual(await cellsOf(text, seeded), expected, JSON.stringify(text))
  }
  t.true(open > 100)
})

test('readCsv() reports misplaced quotes and reads the next record', async (t) => {
  const records = (await listOf(readCsv(inPieces('a"b,c\n"d" e,f\n"g",h\n')))).flat()
  t.deepEqual(column(records, 'cells'), [
    ['a"b', 'c'],
    ['d e', 'f'],
    ['g', 'h'],
  ])
  t.regex(records[0]?.problem ?? '', /a quote inside an unquoted cell/)
  t.is(records[1]?.problem, 'has text after a closing quote')
  t.is(records[2]?.problem, undefined)
})

test('readCsv() gives equal results for large and small chunks', async (t) => {
  const cells = Array.from({ length: 9000 }, (_, i) => [`ü${i}`, '💌'])
  t.deepEqual(await cellsOf(cells.map((row) => row.join(',')).join('\n')), cells)
})

test('readCsv() refuses an endless record and bytes that are not UTF-8', async (t) => {
  const long = `email\na@b.ch\n"${'x'.repeat(70_000)}`
  await t.throwsAsync(cellsOf(long), { message: 'row 2 is longer than 65536 characters; look for a quote that is not closed' })
  await t.throwsAsync(cellsOf('email\n"a@b.ch\n'), { message: 'a quote in row 1 is never closed' })
  await t.throwsAsync(cellsOf(Buffer.from([0x61, 0x0a, 0xfc, 0x62])), { message: /^must be UTF-8 text/ })
  await t.throwsAsync(cellsOf(Buffer.from([0x61, 0xc3])), { message: /^must be UTF-8 text/ })
})

const rowsOf = async (text: string) => (await listOf(readCsvRows(inPieces(text), 'email'))).flat()

test('readCsvRows() names cells by the header row and omits empty cells', async (t) => {
  const rows = await rowsOf('Email , REASON,,note\r\na@b.ch,"why, so",x,\r\n\r\nc@d.ch\r\n,,,,\r\n')
  t.deepEqual(
    rows.map((row) => ('fields' in row ? { ...row.fields } : row.problem)),
    [
      { email: 'a@b.ch', reason: 'why, so' },
      { email: 'c@d.ch' },
      'the row has 5 cells, but the header row has 4; put cells that contain commas in quotes',
    ],
  )
})

test('readCsvRows() requires a header row with the needed column', async (t) => {
  await t.throwsAsync(rowsOf(''), { message: 'is empty; the first row must contain the column names, including email' })
  await t.throwsAsync(rowsOf('a@b.ch\nc@d.ch\n'), {
    message: 'the first row must contain the column names, separated by commas, including email; found: a@b.ch',
  })
  await t.throwsAsync(rowsOf('email,reason,email\n'), { message: 'the header row contains the column email twice' })
})

test('csvLine() protects cells from running as formulas, restoredCell() reverts it', async (t) => {
  const seeded = new Seeded('cells')
  const hostile = ['=1+1', '+tag@x.ch', '-1', '@x', '\tx', '\rx', '\nx', '＝1', "'=1", "''+x", "'plain", 'a"b', 'a,b', '']
  const letters = ['=', '+', '-', '@', '\t', '\r', "'", 'a', '"', ',']
  const random = Array.from({ length: 2000 }, () => Array.from({ length: 3 }, () => seeded.pick(letters)).join(''))
  for (const cell of [...hostile, ...random]) {
    const [[shown = '', next] = []] = await cellsOf(csvLine([cell, 'end']))
    t.is(next, 'end')
    t.notRegex(shown, /^[=+\-@\t\r\n＝＋－＠]/, JSON.stringify(cell))
    t.is(restoredCell(shown), cell)
  }
  t.is(csvLine([null, 'x']), ',"x"\r\n')
})
