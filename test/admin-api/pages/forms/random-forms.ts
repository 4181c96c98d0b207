/** Random forms and answers: fields of every type, pages, conditions of every operator, valid and invalid answers. */
import { operatorsOf } from '#core/forms/definition/conditions.ts'
import { fieldTypes, valueKinds, type Condition, type Definition, type Field, type Rule } from '#core/forms/definition/definition.ts'
import { Seeded } from '../../../support/seeded.ts'

interface Pair {
  readonly definition: Pick<Definition, 'schema' | 'logic'>
  readonly given: {
    readonly values: Readonly<Record<string, unknown>>
    readonly files: readonly string[]
    readonly today: string
    readonly slackDays: number
  }
  /** Number of pages of the form. */
  readonly pages: number
}

export function pairs(seed: string, forms: number, answers: number): readonly Pair[] {
  const random = new Seeded(seed)
  return Array.from({ length: forms }, () => {
    const fields = Array.from({ length: random.between(3, 14) }, (_, at) => field(random, `f${at}`))
    const definition = { schema: { version: 1, fields }, logic: { version: 1, rules: rules(random, fields) } } as const
    const pages = fields.filter(({ type }) => type === 'page_break').length + 1
    return Array.from({ length: answers }, () => ({ definition, given: given(random, fields), pages }))
  }).flat()
}

const patterns = ['[a-z]{2,8}', '(?:\\d{3}-)?\\d{4}', 'a|bc*', '[^x]+', '.{1,3}']
const options = ['o1', 'o2', 'o3'].map((value, at) => ({ value, label: value, ...(at === 2 && { disabled: true }) }))

function field(random: Seeded, key: string): Field {
  const type = random.chance(0.12) ? 'page_break' : random.pick(fieldTypes)
  const some = (share: number, properties: Partial<Field>): Partial<Field> => (random.chance(share) ? properties : {})
  const date = type === 'time' ? '12:00' : 'today+2d'
  return {
    ...{ key, type, label: key },
    ...some(0.4, { required: true }),
    ...(['text', 'textarea'].includes(type) && {
      ...some(0.3, { min_length: 2 }),
      ...some(0.3, { max_length: 5 }),
      ...(type === 'text' &&
        some(
          0.4,
          random.chance(0.5) ? { pattern: random.pick(patterns) } : { preset: random.pick(['letters', 'digits', 'slug', 'iban']) },
        )),
    }),
    ...(type === 'email' && some(0.3, { deny_domains: ['example.ch'] })),
    ...(type === 'number' && { ...some(0.5, { min: 0, max: 10 }), ...some(0.3, { step: 0.5 }), ...some(0.3, { integer: true }) }),
    ...(['date', 'time', 'datetime'].includes(type) && some(0.5, { min: date })),
    ...(['select', 'radio', 'checkboxes'].includes(type) && { options, ...some(0.3, { allow_other: true, max_selected: 1 }) }),
    ...(type === 'rating' && { max: 5 }),
    ...(type === 'scale' && { min: 0, max: 10 }),
    ...(type === 'checkbox' && some(0.3, { must_be_true: true })),
    ...(type === 'hidden' && (random.chance(0.5) ? { source: 'static', default: 'abc' } : { source: 'url_param', param: 'p' })),
  }
}

function rules(random: Seeded, fields: readonly Field[]): readonly Rule[] {
  const pages = fields.filter(({ type }) => type === 'page_break').length + 1
  return Array.from({ length: random.between(0, 6) }, (_, at) => {
    const action = random.pick(['show', 'hide', 'require', 'unrequire', 'jump'] as const)
    const target = random.chance(0.2) ? `page:${random.between(1, pages)}` : random.pick(fields).key
    const jump = { action, page: random.chance(0.3) ? ('submit' as const) : random.between(1, pages) }
    return { id: `r${at}`, when: condition(random, fields, 0), then: [action === 'jump' ? jump : { action, target }] }
  })
}

const texts = [
  '',
  'a',
  'abc',
  'ABC',
  'Straße',
  '12',
  '3.5',
  '-1',
  'o1',
  'o2',
  'o3',
  'true',
  '2026-11-25',
  '12:30',
  '2026-11-25T10:00',
  '🦊🦊🦊',
]

function condition(random: Seeded, fields: readonly Field[], depth: number): Condition {
  const inner = (): readonly Condition[] => Array.from({ length: random.between(1, 3) }, () => condition(random, fields, depth + 1))
  if (depth < 3 && random.chance(0.3)) return random.chance(0.5) ? { all: inner() } : { any: inner() }
  if (depth < 3 && random.chance(0.15)) return { not: condition(random, fields, depth + 1) }
  const { key, type } = random.pick(fields)
  const operators = operatorsOf[valueKinds[type]]
  if (operators.length === 0) return { field: key, op: 'is_empty' }
  const op = random.pick(operators)
  if (op === 'in' || op === 'not_in') return { field: key, op, value: [random.pick(texts), random.pick(texts)] }
  if (op.startsWith('count')) return { field: key, op, value: random.between(0, 3) }
  if (random.chance(0.15)) return { field: key, op, value: { field: random.pick(fields).key } }
  return { field: key, op, value: valueKinds[type] === 'number' ? random.between(0, 6) : random.pick(texts) }
}

const wild: readonly unknown[] = [
  ...[
    'ada@example.ch',
    'Ada@Example.COM',
    'a@b',
    'https://example.ch',
    'http://x',
    'javascript:1',
    '+41 44 123 45 67',
    ' 7 ',
    '7,5',
    '1e3',
    '00012',
  ],
  ...['CH93 0076 2011 6238 5295 7', 'line\r\nline', 'nul\u0000l', '2026-02-30', '2026-11-24', '24:00', 'on', 'false', 5, true, null],
  ...[['o1'], ['o2', 'o1'], ['o1', 'zzz'], [], ['true'], 'x'.repeat(1001), '\u2028', '😀'],
]

const given = (random: Seeded, fields: readonly Field[]): Pair['given'] => ({
  values: Object.fromEntries(
    fields.flatMap(({ key }) => (random.chance(0.75) ? [[key, random.chance(0.4) ? random.pick(wild) : random.pick(texts)]] : [])),
  ),
  files: fields.filter(({ type }) => type === 'file_upload' && random.chance(0.5)).map(({ key }) => key),
  ...{ today: '2026-11-23', slackDays: random.between(0, 1) },
})
