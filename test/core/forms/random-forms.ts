/** Random forms with random data, the same for the same seed. */

type Json = Readonly<Record<string, unknown>>

const options = ['a', 'b', 'c'].map((value) => ({ value, label: value.toUpperCase() }))
const types: Readonly<Record<string, Json>> = {
  ...{
    text: {},
    textarea: {},
    email: {},
    number: { min: 0, max: 9 },
    date: {},
    checkbox: {},
    select: { options },
    checkboxes: { options },
  },
  ...{ rating: { max: 5 }, scale: { max: 10 }, heading: { text: 'H' }, page_break: {}, radio: { options, allow_other: true }, time: {} },
}
const unlabelled = new Set(['heading', 'page_break'])

const conditions: Readonly<Record<string, readonly Json[]>> = {
  text: [{ op: 'eq', value: 'a' }, { op: 'contains', value: 'B' }, { op: 'is_empty' }, { op: 'starts_with', value: 'a' }],
  textarea: [{ op: 'not_empty' }, { op: 'not_contains', value: 'a' }],
  email: [{ op: 'ends_with', value: '.ch' }, { op: 'not_empty' }],
  number: [
    { op: 'gte', value: 3 },
    { op: 'lt', value: 5 },
    { op: 'ne', value: 4 },
  ],
  date: [
    { op: 'before', value: '2030-06-01' },
    { op: 'after', value: '2029-01-01' },
  ],
  time: [{ op: 'before', value: '12:00' }],
  checkbox: [{ op: 'checked' }, { op: 'unchecked' }],
  select: [
    { op: 'eq', value: 'a' },
    { op: 'in', value: ['a', 'b'] },
  ],
  radio: [{ op: 'ne', value: 'b' }],
  checkboxes: [
    { op: 'contains', value: 'b' },
    { op: 'count_gte', value: 2 },
  ],
  rating: [{ op: 'gt', value: 2 }],
  scale: [{ op: 'lte', value: 6 }],
}

const values: readonly unknown[] = [
  ...[
    '',
    'a',
    'b',
    'abc',
    'x y',
    'ada@example.ch',
    '2030-01-01',
    '2031-12-31',
    '09:30',
    '3',
    '7',
    0,
    2,
    5,
    9,
    true,
    false,
    'on',
    ['a'],
    ['a', 'b'],
  ],
  ...[undefined, null, 'z'.repeat(1100), '1,5', { a: 1 }],
]

/** Returns pairs of a definition and the data of a visitor. */
export function randomForms(count: number, seed: number): readonly (readonly [form: Json, data: Json])[] {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const upTo = (max: number): number => Math.floor(random() * max)
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length)] as T

  const conditionOn = (fields: readonly Json[], depth = 0): Json => {
    const field = pick(fields.filter(({ type }) => String(type) in conditions))
    if (depth < 2 && random() < 0.3)
      return pick([
        { all: [conditionOn(fields, depth + 1), conditionOn(fields, depth + 1)] },
        { any: [conditionOn(fields, depth + 1), conditionOn(fields, depth + 1)] },
        { not: conditionOn(fields, depth + 1) },
      ])
    return { field: field['key'], ...pick(conditions[String(field['type'])] ?? []) }
  }

  const one = (): readonly [Json, Json] => {
    const fields = Array.from({ length: 2 + upTo(9) }, (_, at) => {
      const type = at === 0 ? 'text' : pick(Object.keys(types))
      const isAnswered = !unlabelled.has(type)
      return { key: `f${at}`, type, ...(isAnswered && { label: `F${at}`, required: random() < 0.3 }), ...types[type] }
    })
    const rules = Array.from({ length: upTo(4) }, (_, at) => {
      const split = 1 + upTo(fields.length - 1)
      const target = fields[split]
      const pages = fields.filter(({ type }) => type === 'page_break').length + 1
      const then =
        random() < 0.2 && pages > 1
          ? { action: 'jump', page: pick([pages, 'submit']) }
          : {
              action: pick(['show', 'hide', 'require', 'unrequire']),
              target: target?.type === 'page_break' ? `f${split - 1}` : target?.key,
            }
      return { id: `r${at}`, when: conditionOn(fields.slice(0, split)), then: [then] }
    })
    const data = Object.fromEntries(fields.map(({ key }) => [key, pick(values)]))
    return [{ name: 'Form', schema: { version: 1, fields }, logic: { version: 1, rules } }, data]
  }
  return Array.from({ length: count }, one)
}
