/** Number of typing mistakes between two texts, and the nearest known name. */
import test from '#test'
import { closest } from '#config/texts/closest.ts'
import { editDistance } from '#config/texts/edit-distance.ts'
import { Seeded } from '../support/seeded.ts'

test('editDistance() counts insertions, deletions, changes and swaps up to its limit', (t) => {
  const rows: readonly (readonly [string, string, number | undefined])[] = [
    ['gmail.com', 'gmail.com', 0],
    ['gmail.com', 'gmial.com', 1],
    ['gmail.com', 'gmal.com', 1],
    ['gmail.com', 'gmaill.com', 1],
    ['gmail.com', 'gnail.com', 1],
    ['gmail.com', 'gmail.co', 1],
    ['gmail.com', 'gmial.co', 2],
    ['gmail.com', 'hotmail.com', undefined],
    ['a', 'ab', 1],
    ['', 'ab', 2],
    ['', 'abc', undefined],
    ['abcd', 'badc', 2],
  ]
  for (const [a, b, distance] of rows) {
    t.is(editDistance(a, b, 2), distance, `${a} ${b}`)
    t.is(editDistance(b, a, 2), distance, `${b} ${a}`)
  }
})

test('editDistance() agrees with the whole table of distances', (t) => {
  const random = new Seeded(7)
  const word = () => Array.from({ length: Math.floor(random.fraction() * 8) }, () => 'abc'[Math.floor(random.fraction() * 3)]).join('')
  for (let i = 0; i < 3000; i++) {
    const [a, b, most] = [word(), word(), i % 4]
    const whole = wholeDistance(a, b)
    t.is(editDistance(a, b, most), whole <= most ? whole : undefined, `${a} ${b} ${most}`)
  }
})

/** The textbook algorithm, with all cells. */
function wholeDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity
      const row = table[i]
      if (row) row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), swap)
    }
  return at(a.length, b.length)
}

test('closest(): allows one mistake per three letters, at most three, in any case', (t) => {
  t.is(closest('LISTN', ['limit', 'listen']), 'listen')
  t.is(closest('LISTNE', ['limit', 'listen']), 'listen')
  t.is(closest('ab', ['abc']), undefined)
  t.is(closest('maxRecipient', ['maxConnections', 'maxRecipients']), 'maxRecipients')
  t.is(closest('abcdefghijklmnop', ['abcdefghijkl']), undefined)
  t.is(closest('anything', []), undefined)
})
