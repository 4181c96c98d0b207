/** JSON rows read one at a time, compared with JSON.parse of the whole document. */
import test from '#test'
import { readJsonRows } from '#ingest/rows/json-rows.ts'
import { Seeded } from '../../support/seeded.ts'
import { inPieces, listOf } from './pieces.ts'

const rowsOf = async (text: string | Uint8Array, seeded?: Seeded) =>
  (await listOf(readJsonRows(inPieces(text, seeded)))).flat().map((row) => ('fields' in row ? row.fields : row.problem))

function randomValue(seeded: Seeded, depth: number): unknown {
  const simple = ['a', 'ü"\\}]', '💌,{[', '', 1, -2.5e3, true, null, '\u2028\n']
  if (depth === 0 || seeded.chance(0.5)) return seeded.pick(simple)
  if (seeded.chance(0.5)) return Array.from({ length: seeded.between(0, 3) }, () => randomValue(seeded, depth - 1))
  return Object.fromEntries(Array.from({ length: seeded.between(0, 3) }, (_, i) => [`k"${i}]`, randomValue(seeded, depth - 1)]))
}

test('readJsonRows() agrees with JSON.parse() for any layout and pieces', async (t) => {
  const seeded = new Seeded('json')
  for (let round = 0; round < 600; round++) {
    const rows = Array.from({ length: seeded.between(0, 4) }, (_, i) => ({ i, value: randomValue(seeded, 3) }))
    const indent = seeded.pick([0, 1, '\t'])
    const text = JSON.stringify(seeded.chance(0.5) ? rows : { rows }, null, indent)
    const blanks = seeded.pick(['', ' \r\n', '\t'])
    t.deepEqual(await rowsOf(`${seeded.pick(['', '\ufeff'])}${blanks}${text}${blanks}`, seeded), rows as never, text)
  }
})

test('readJsonRows() reports rows that are not objects and continues', async (t) => {
  const wrong = 'the row must be an object such as {"email": "ada@example.ch"}'
  t.deepEqual(await rowsOf('[1, "x", null, [], {"email":"a"}, true]'), [wrong, wrong, wrong, wrong, { email: 'a' }, wrong])
})

test('readJsonRows() refuses other documents and names the place', async (t) => {
  const notRows = 'must be an array of rows, or {"rows": […]} and nothing else'
  const behind = 'is not JSON rows: unexpected text after the array'
  const cases: readonly (readonly [string, string])[] = [
    ['', notRows],
    ['"x"', notRows],
    ['{"data":[]}', notRows],
    [`{${' '.repeat(2000)}`, notRows],
    ['{"rows":[{}]', behind],
    ['{"rows":[{}]}}', behind],
    ['[{}]}', behind],
    ['{"rows":[], "more":1}', behind],
    ['[{}] []', behind],
    ['[{}', 'is not JSON: it ends too early, after row 0'],
    ['[{},', 'is not JSON: it ends too early, after row 1'],
    ['[', 'is not JSON: it ends too early, after row 0'],
    ['[{},]', 'is not JSON: row 2 is invalid'],
    ['[,{}]', 'is not JSON: row 1 is invalid'],
    ['[{"a":1},{a:1}]', 'is not JSON: row 2 is invalid'],
    [`[{"a":"${'x'.repeat(70_000)}`, 'row 1 is longer than 65536 characters; look for a bracket or quote that is not closed'],
  ]
  for (const [text, message] of cases) {
    await t.throwsAsync(rowsOf(text), { message }, text.slice(0, 50))
    if (text.length < 100) await t.throwsAsync(rowsOf(text, new Seeded(text)), { message }, text)
  }
  await t.throwsAsync(rowsOf(Buffer.from([0x5b, 0xff])), { message: /^must be UTF-8 text/ })
})
