import test from '#test'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import { Seeded } from '../support/seeded.ts'

const seeded = new Seeded('tuples')
const edges = [
  0,
  1,
  -1,
  255,
  256,
  -255,
  -256,
  65_535,
  65_536,
  2 ** 32,
  -(2 ** 32),
  2 ** 48 - 1,
  2 ** 48,
  -(2 ** 48),
  2 ** 53 - 1,
  1 - 2 ** 53,
]
const letters = ['\0', '\u0001', '\0\0', 'a', 'b', 'é', '漢', '😀', '\uffff', '\u007f', 'ÿ']

function randomElement(): Element {
  switch (seeded.between(0, 4)) {
    case 0:
      return seeded.pick(edges)
    case 1:
      return Math.round((seeded.fraction() - 0.5) * 2 ** seeded.between(1, 53)) || 0
    case 2:
      return Buffer.from(Array.from({ length: seeded.between(0, 5) }, () => seeded.pick([0, 1, 0xfe, 0xff, 0x61])))
    default:
      return Array.from({ length: seeded.between(0, 4) }, () => seeded.pick(letters)).join('')
  }
}
const randomTuple = (): Element[] => Array.from({ length: seeded.between(0, 4) }, randomElement)

const rank = (element: Element): number => (typeof element === 'number' ? 2 : typeof element === 'string' ? 1 : 0)
function compareElements(a: Element, b: Element): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (typeof a === 'number') return a - Number(b)
  return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))
}
function compareTuples(a: readonly Element[], b: readonly Element[]): number {
  for (const [i, element] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = compareElements(element, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}
const plain = (elements: readonly Element[]): unknown[] => elements.map((e) => (e instanceof Uint8Array ? Buffer.from(e) : e))

test('pack() orders keys as their tuples, element by element', (t) => {
  for (let i = 0; i < 50_000; i++) {
    const a = randomTuple()
    const b = seeded.chance(0.5) ? [...a.slice(0, seeded.between(0, a.length)), ...randomTuple()] : randomTuple()
    const order = Math.sign(Buffer.compare(pack(a), pack(b)))
    if (order !== Math.sign(compareTuples(a, b))) t.fail(`${JSON.stringify(a)} against ${JSON.stringify(b)} gives ${order}`)
  }
  t.pass()
})

test('unpack(): returns the tuple of pack()', (t) => {
  for (let i = 0; i < 20_000; i++) {
    const tuple = randomTuple()
    if (Buffer.compare(pack(unpack(pack(tuple))), pack(tuple)) !== 0) t.fail(JSON.stringify(tuple))
    if (i < 2000) t.deepEqual(plain(unpack(pack(tuple))), plain(tuple))
  }
  for (const number of edges) t.deepEqual(unpack(pack([number])), [number])
})

test('pack(): accepts keys longer than its buffer', (t) => {
  const long = ['漢'.repeat(5000), Buffer.alloc(9000), `${'\0'.repeat(3000)}!`, -5, 'end']
  t.deepEqual(plain(unpack(pack(long))), long)
})

test('pack(): later calls do not change earlier keys', (t) => {
  const first = pack(['first', 1])
  pack(['other', 2, 'x'.repeat(500)])
  t.deepEqual(unpack(first), ['first', 1])
})

test('pack(): refuses numbers that are not safe integers', (t) => {
  for (const number of [0.5, NaN, Infinity, 2 ** 53]) t.throws(() => pack([number]), { instanceOf: TypeError })
  t.throws(() => unpack(Buffer.of(0x30, 1, 2)), { instanceOf: TypeError })
})

test('within() spans exactly the longer tuples', (t) => {
  const { start, end } = within(['a', 1])
  const inside = (...elements: Element[]): boolean => {
    const key = pack(elements)
    return Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0
  }
  t.true(inside('a', 1, ''))
  t.true(inside('a', 1, -(2 ** 53) + 1))
  t.true(inside('a', 1, 2 ** 53 - 1, 'more'))
  t.true(inside('a', 1, Buffer.of()))
  t.true(inside('a', 1, Buffer.of(0xff, 0xff)))
  for (const other of [['a', 1], ['a', 2], ['a', 0, 'x'], ['a', '1', 'x'], ['a\0', 1, 'x'], ['b']]) t.false(inside(...other), String(other))
})
