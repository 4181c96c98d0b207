import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { parseJsonBody } from '../../../admin-api/bodies/json/json-body.ts'
import { findJsonFault } from '../../../admin-api/bodies/json/json-fault.ts'

const parse = (text: string, maxDepth = 32) => parseJsonBody(Buffer.from(text), { maxDepth, maxValues: 2_000_000 })

test('parseJsonBody() parses like JSON.parse and skips a byte order mark', (t) => {
  for (const text of ['{"a":[1,2,{"b":"]}\\"\\\\"}]}', '"é😀"', ' [ ] ', '-1.5e3', 'null']) t.deepEqual(parse(text), JSON.parse(text))
  t.deepEqual(parse('\uFEFF{"a":1}'), { a: 1 })
})

test('parseJsonBody() counts brackets outside strings only', (t) => {
  t.deepEqual(parse('[[["[[[[\\"[[[["]]]', 3), [[['[[[["[[[[']]])
  t.throws(() => parse('[[[[]]]]', 3), { instanceOf: Refusal, message: 'body: nests deeper than 3 levels' })
  t.throws(() => parse('[{"a":[{}]}]', 3), { message: 'body: nests deeper than 3 levels' })
  t.deepEqual(parse('[[],[],[],[]]', 2), [[], [], [], []])
})

test('parseJsonBody() refuses a million open brackets before parsing', (t) => {
  t.throws(() => parse('['.repeat(1_000_000)), { message: 'body: nests deeper than 32 levels' })
})

const faults: readonly (readonly [text: string, offset: number, expected: string])[] = [
  ['', 0, 'a value'],
  ['{', 1, 'a field name in double quotes or "}"'],
  ['{"a":1,}', 7, 'a field name in double quotes'],
  ["{'a':1}", 1, 'a field name in double quotes or "}"'],
  ['{"a" 1}', 5, '":"'],
  ['{"a":1 "b":2}', 7, '"," or "}"'],
  ['[1 2]', 3, '"," or "]"'],
  ['[1,]', 3, 'a value'],
  ['[}', 1, 'a value or "]"'],
  ['{"a":[1,2}', 9, '"," or "]"'],
  ['nul', 0, 'a value'],
  ['1 2', 2, 'the end of the body'],
  ['[01]', 2, '"," or "]"'],
  ['"abc', 4, 'the closing double quote'],
  ['"a\nb"', 2, 'no control character inside text; write it as an escape such as \\n'],
  ['"a\\xb"', 2, 'a known escape such as \\n, \\" or \\u00e9'],
  ['{"a":{"b":[true,false,{"c":NaN}]}}', 27, 'a value'],
]

for (const [text, offset, expected] of faults) {
  test(`findJsonFault() finds the fault of ${JSON.stringify(text)}`, (t) => {
    t.throws(() => JSON.parse(text))
    t.deepEqual(findJsonFault(text), { offset, expected })
  })
}

test('findJsonFault() agrees with the parser on every damaged text', (t) => {
  const good = '{"a":[1,-2.5e+3,true,null,"x\\u00e9\\n"],"b":{"c":{}},"d":[[]]}'
  let broken = 0
  for (let at = 0; at < good.length; at++) {
    for (const put of ['', '}', ',', '"', '\\', '0', ' :']) {
      const text = good.slice(0, at) + put + good.slice(at + 1)
      if (isJson(text)) continue
      broken++
      const { offset } = findJsonFault(text)
      t.true(offset >= 0 && offset <= text.length, text)
      t.false(isJson(text.slice(0, offset) + text.slice(offset)), text)
    }
  }
  t.true(broken > 100)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
