/** Numbers and times as text. Formats are created once, at their first use. */
import test from '#test'
import { atFirstUse, withCommas } from '#config/texts/formats.ts'

for (const [number, text] of [
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [50_000, '50,000'],
  [1_234_567, '1,234,567'],
] as const) {
  test(`withCommas() writes ${number} as English does`, (t) => {
    t.is(withCommas(number), text)
    t.is(number.toLocaleString('en'), text)
  })
}

test('atFirstUse(): creates a format at its first use, and only once', (t) => {
  let made = 0
  const format = atFirstUse(() => {
    made++
    return new Intl.NumberFormat('en-CH')
  })
  t.is(made, 0)
  t.is(format(), format())
  t.is(made, 1)
})
