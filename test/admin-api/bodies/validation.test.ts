import test from '#test'
import * as z from 'zod'
import { Refusal, type FieldProblem } from '#core/refusals.ts'
import { growsLinearly } from '../../support/measure/growth.ts'
import { check } from '../../../admin-api/bodies/validation.ts'

const schema = z.strictObject({
  from: z.string().min(1).max(10),
  to: z.union([z.string(), z.array(z.string()).max(2, 'at most 2 recipients')]).optional(),
  html: z.string().optional(),
  reply_to: z.string().optional(),
  count: z.number().int().min(1).max(5).optional(),
  mode: z.enum(['live', 'sandbox']).optional(),
  agree: z.literal(true).optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  match: z.union([z.strictObject({ from: z.string() }), z.strictObject({ domain: z.string() })]).optional(),
  part: z.discriminatedUnion('type', [z.strictObject({ type: z.literal('a') }), z.strictObject({ type: z.literal('b') })]).optional(),
  headers: z.record(z.string().regex(/^X-/, 'must begin with X-'), z.string()).optional(),
  attachments: z.array(z.strictObject({ filename: z.string(), content: z.base64() })).optional(),
  code: z.string().regex(/^c/).optional(),
})

function problems(value: unknown): readonly FieldProblem[] {
  try {
    check(schema, value, 'body')
  } catch (error) {
    if (error instanceof Refusal && error.code === 'validation_failed') return error.details?.['fields'] as FieldProblem[]
    throw error
  }
  return []
}

const cases: readonly (readonly [title: string, value: unknown, ...expected: string[]])[] = [
  ['a missing field', {}, 'from: is required'],
  ['an empty field', { from: '' }, 'from: must not be empty'],
  ['text above the maximum length', { from: 'x'.repeat(11) }, 'from: at most 10 characters'],
  ['a wrong type', { from: 'a', html: 5 }, 'html: expected text, got a number'],
  ['null in a required field', { from: null }, 'from: is required'],
  ['null in a list', { from: 'a', to: ['b', null] }, 'to[1]: expected text, got null'],
  ['null in an unknown field', { from: 'a', nothing: null }, 'nothing: is not a known field'],
  ['a value of neither type of a union', { from: 'a', to: 5 }, 'to: expected text or a list, got a number'],
  ['an entry of a list', { from: 'a', to: ['b', 5] }, 'to[1]: expected text, got a number'],
  ['a custom message of the schema', { from: 'a', to: ['b', 'c', 'd'] }, 'to: at most 2 recipients'],
  ['a fraction', { from: 'a', count: 1.5 }, 'count: expected a whole number, got 1.5'],
  ['a number below the minimum', { from: 'a', count: 0 }, 'count: at least 1'],
  ['a number above the maximum', { from: 'a', count: 6 }, 'count: at most 5'],
  ['a value outside an enum', { from: 'a', mode: 'dead' }, 'mode: must be one of live, sandbox'],
  ['a fixed value', { from: 'a', agree: false }, 'agree: must be true'],
  ['a time', { from: 'a', at: 'tomorrow' }, 'at: must be a time such as 2026-11-21T13:00:00Z'],
  ['the intended variant of a union', { from: 'a', match: { domain: 5 } }, 'match.domain: expected text, got a number'],
  ['an unknown variant', { from: 'a', part: { type: 'c' } }, 'part.type: must be one of a, b'],
  ['a key of a record', { from: 'a', headers: { Bcc: 'x' } }, 'headers.Bcc: must begin with X-'],
  ['a nested field', { from: 'a', attachments: [{ filename: 'x', content: '*' }] }, 'attachments[0].content: must be base64'],
  ['a schema without a custom message', { from: 'a', code: 'x' }, 'code: has the wrong form'],
  ['a misspelt field', { from: 'a', htlm: 'x' }, 'htlm: is not a known field; did you mean html?'],
  [
    'two unknown fields',
    { from: 'a', replyTo: 'x', qqqqqqq: 1 },
    'replyTo: is not a known field; did you mean reply_to?',
    'qqqqqqq: is not a known field',
  ],
  ['a value instead of an object', 'text', 'body: expected an object, got text'],
  ['a list instead of an object', [], 'body: expected an object, got a list'],
  ['a hostile field name', { from: 'a', ['a\r\n\u001b[1m']: 1 }, 'a???[1m: is not a known field'],
]

for (const [title, value, ...expected] of cases) {
  test(`check() names ${title}`, (t) => {
    t.deepEqual(
      problems(value).map(({ path, message }) => `${path}: ${message}`),
      expected,
    )
  })
}

test('check() describes the first invalid field in the message and names some others', (t) => {
  const body = z.strictObject({ to: z.string(), from: z.string(), text: z.string(), size: z.int().optional() })
  const message = (value: object): string => t.throws(() => check(body, value, 'body'), { instanceOf: Refusal }).message
  t.is(message({ to: 'a', from: 'b' }), 'text: is required')
  t.is(message({}), 'to: is required; also missing: from, text')
  t.is(message({ size: 'x' }), 'to: is required; also wrong or missing: from, text, size')
  t.is(message({ to: 'a', from: 1, text: 2 }), 'from: expected text, got a number; also wrong: text')
})

test('check() puts at most six fields into the message and at most twenty into the details', (t) => {
  const value = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`unknown_field_${i}`, i]))
  t.throws(() => check(schema, { from: 'a', ...value }, 'body'), {
    instanceOf: Refusal,
    message: /^unknown_field_0: is not a known field; also wrong: unknown_field_1, .*unknown_field_5 and 14 more$/,
  })
  t.is(problems(value).length, 20)
  const long = { from: 'a', ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}${'x'.repeat(5000)}`, i])) }
  const { message } = t.throws(() => check(schema, long, 'body'), { instanceOf: Refusal })
  t.true(message.length < 600, message)
})

test('check() returns a new object with defaults and transforms applied', (t) => {
  const given = { limit: '5' }
  const result = check(z.strictObject({ limit: z.string().transform(Number), all: z.boolean().default(false) }), given, 'query')
  t.deepEqual(result, { limit: 5, all: false })
  t.not<unknown, unknown>(result, given)
})

test('check() suggests names for the first twenty unknown fields only', (t) => {
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`reply_${i}`, 1]))
  t.is(problems(unknown(40_000)).length, 20)
  t.true(growsLinearly((size) => void problems(unknown(size)), 2000))
  const before = process.threadCpuUsage()
  problems(unknown(40_000))
  const { user, system } = process.threadCpuUsage(before)
  t.true(user + system < 1_000_000, `${(user + system) / 1000} ms for 40,000 unknown fields`)
})

const nullable = z.strictObject({
  name: z.string(),
  note: z.string().optional(),
  cleared: z.string().nullable().optional(),
  size: z.int().default(5),
  kind: z.enum(['a', 'b']).optional(),
  to: z.union([z.string(), z.strictObject({ email: z.string(), name: z.string().optional() })]).optional(),
  files: z.array(z.strictObject({ content: z.string(), id: z.string().optional() })).optional(),
  match: z.union([z.strictObject({ from: z.string() }), z.strictObject({ domain: z.string() })]).optional(),
})

test('check() treats null in an optional field as absent, at every depth', (t) => {
  const given = {
    ...{ name: 'x', note: null, cleared: null, size: null, kind: null },
    to: { email: 'a@b.ch', name: null },
    files: [{ content: 'y', id: null }],
    match: { domain: 'b.ch' },
  }
  const copy = structuredClone(given)
  t.deepEqual(check(nullable, given, 'body'), {
    ...{ name: 'x', cleared: null, size: 5 },
    to: { email: 'a@b.ch' },
    files: [{ content: 'y' }],
    match: { domain: 'b.ch' },
  })
  t.deepEqual(given, copy, 'the input is unchanged')
  t.deepEqual(check(nullable, { name: 'x', to: null, files: null, match: null }, 'body'), { name: 'x', size: 5 })
})

test('check() keeps __proto__ as a plain field while it removes nulls', (t) => {
  const given: unknown = JSON.parse('{"name":"x","note":null,"__proto__":{"size":9}}')
  t.throws(() => check(nullable, given, 'body'), { message: /__proto__: is not a known field/ })
})

test('check() removes nulls in linear time', (t) => {
  const list = z.strictObject({ rows: z.array(z.strictObject({ a: z.string().optional() })) })
  t.true(growsLinearly((size) => void check(list, { rows: Array.from({ length: size }, () => ({ a: null })) }, 'body'), 5000))
})
