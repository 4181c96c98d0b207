/** JSON bodies that attack an operation with a given size: as a whole, and in each field of its schema. */
import type { Schema } from './daemon-probe.ts'

/** Bytes of an attack, created when it starts. */
export interface Attack {
  readonly title: string
  readonly bytes: () => Buffer
  /** See `Hostile`. */
  readonly inflated?: number
  readonly records?: number
}

/** Fills a text up to a number of bytes. */
export const filled = (unit: string, bytes: number): string => unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))))

const json = (title: string, text: () => string): Attack => ({ title, bytes: () => Buffer.from(text()) })

/** Attacks for any operation. `near` is the name of an existing field. */
export function wholeBodies(size: number, near: string): readonly Attack[] {
  const keys = (name: string): string => {
    const each = name.length + 10
    return `{${Array.from({ length: Math.floor(size / each) }, (_, i) => `"${name}${String(i).padStart(5, '0')}":1`).join(',')}}`
  }
  return [
    json('many unknown fields', () => keys('k')),
    json('many fields with near names', () => keys(near)),
    json('the same field again and again', () => `{${filled(`"${near}":1,`, size - 20)}"z":1}`),
    json('lists in lists', () => filled('[', size)),
    json('objects in objects', () => filled('{"a":', size)),
    json('a long list', () => `[${filled('1,', size - 10)}1]`),
    json('a long text', () => `"${filled('x', size - 10)}"`),
    json('escapes', () => `"${filled('\\u0041', size - 10)}"`),
    json('a text that does not end', () => `"${filled('x\\n', size - 10)}`),
    json('line breaks, and no value', () => filled('\n', size)),
    json('a number without end', () => filled('1', size)),
    { title: 'octets that are not UTF-8', bytes: () => Buffer.alloc(size, 0xc3) },
  ]
}

/** Expensive texts for parsers of addresses, templates, HTML, patterns, paths and base64. */
export const dearTexts: readonly string[] = [
  ...[
    'x',
    'a@b.ch,',
    '<a@b',
    '"',
    '\\',
    ' ',
    '\t\n',
    '.',
    'a.',
    '*',
    '(',
    '[',
    ':',
    ';',
    '=',
    '%',
    '/',
    '-',
    '{{',
    '{{.a}}',
    '{{#each a}}',
  ],
  ...['<b>', '&amp;', '<!--', '=?utf-8?q?a?= ', 'é', '\u{1f600}', '\u0301', '\u202e', 'QUJD\n', 'https://a.', '1.', '::', '@', '\\u0000'],
]

/** Attacks on every field of an otherwise valid object. `pick` selects some texts for each field. */
export function fieldBodies(schema: Schema, example: unknown, size: number, texts: number): readonly Attack[] {
  const fields = Object.entries(propertiesOf(schema))
  const base = isObject(example) ? example : {}
  const room = size - Buffer.byteLength(JSON.stringify(base)) - 100
  return fields.flatMap(([name, field], at) => {
    const dear = Array.from({ length: texts }, (_, i) => dearTexts[(at * texts + i * 7) % dearTexts.length] ?? 'x')
    const body = (title: string, value: () => unknown): Attack =>
      json(`${name}: ${title}`, () => JSON.stringify({ ...base, [name]: value() }))
    return [
      ...dear.map((text) => body(`${JSON.stringify(text)} again and again`, () => textOf(text, room))),
      body('a list without end', () => Array.from({ length: Math.floor(room / 10) }, (_, i) => `a${i % 1000}@b`)),
      body('an object of many fields', () => Object.fromEntries(Array.from({ length: Math.floor(room / 12) }, (_, i) => [`k${i}`, 'v']))),
      body('nested as deep as may be', () => nested(29)),
      ...largest(field, room).map(([title, value]) => body(title, value)),
    ]
  })
}

/** Returns the part of a text with this length in JSON. */
function textOf(unit: string, bytes: number): string {
  const each = Buffer.byteLength(JSON.stringify(unit)) - 2
  return unit.repeat(Math.max(1, Math.floor(bytes / each)))
}

/** The largest values that the schema permits, which the daemon reads to their end. */
function largest(schema: Schema, room: number): readonly (readonly [string, () => unknown])[] {
  const all: (readonly [string, () => unknown])[] = []
  for (const form of [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    const { type, maxLength, items, maxItems } = form
    if (type === 'string' && maxLength !== undefined)
      for (const text of ['x', 'a@b.ch', '{{.a}}'])
        all.push([`${JSON.stringify(text)} up to its limit`, () => textOf(text, Math.min(room, maxLength))])
    if (type === 'array' && items !== undefined) {
      const count = Math.min(maxItems ?? Infinity, Math.floor(room / 40))
      all.push(['as many entries as may be', () => Array.from({ length: count }, (_, i) => sample(items, i))])
    }
    if (type === 'object' && form.properties !== undefined)
      all.push([
        'an object of its fields, each long',
        () => Object.fromEntries(Object.keys(form.properties ?? {}).map((name) => [name, textOf('x', room / 40)])),
      ])
  }
  return all
}

function sample({ type, anyOf, enum: values, properties }: Schema, at: number): unknown {
  if (values?.[0] !== undefined) return values[0]
  const [first] = anyOf ?? []
  if (first) return sample(first, at)
  if (type === 'object') return Object.fromEntries(Object.entries(properties ?? {}).map(([name, field]) => [name, sample(field, at)]))
  return type === 'string' ? `a${at}@example.ch` : at
}

function nested(depth: number): unknown {
  return depth === 0 ? 'x' : { a: [nested(depth - 2 < 0 ? 0 : depth - 2)] }
}

export function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return Object.assign({}, ...forms.map(({ properties = {} }) => properties)) as Record<string, Schema>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
