/** Content of templates, saved and rendered: schema, declared variables, and problem texts. */
import test, { type ExecutionContext } from '#test'
import { Refusal } from '#core/refusals.ts'
import { checkingOf } from '#core/templates/content-check.ts'
import { checkContent, checkingContent, renderContent, renderingContent } from '#core/templates/template-content.ts'
import type { TemplateContent } from '#core/templates/template.ts'

const plain: TemplateContent = { subject: 'Hello', text: null, html: null, schema: null }
type Json = Readonly<Record<string, unknown>>
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })

/** The problems of a refusal, as `field: message`. */
function problemsOf(t: ExecutionContext, work: () => unknown): string[] {
  const { code, details } = t.throws(work, { instanceOf: Refusal })
  t.is(code, 'validation_failed')
  return ((details?.['fields'] ?? []) as { path: string; message: string }[]).map(({ path, message }) => `${path}: ${message}`)
}

const saved = test.macro({
  exec(t: ExecutionContext, content: Partial<TemplateContent>, ...expected: string[]) {
    if (expected.length > 0)
      t.deepEqual(
        problemsOf(t, () => checkContent({ ...plain, ...content })),
        expected,
      )
    else t.notThrows(() => checkContent({ ...plain, ...content }))
  },
  title: (_, { schema: declared, ...sources }, ...[first]) =>
    `${first === undefined ? 'takes' : 'refuses'} at save ${JSON.stringify(sources)} with ${JSON.stringify(declared)} ${first ?? ''}`,
})
const shop = object({
  name: { type: 'string' },
  note: { type: ['string', 'null'] },
  order: object({ total: { type: 'number' } }),
  items: { type: 'array', items: object({ title: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }) },
  open: { type: 'object' },
  any: {},
  list: { type: 'array' },
})

test(saved, { subject: '{{.anything}}', text: '{{range .list}}{{.x}}{{end}}' })
test(saved, { subject: 'a\nb' }, 'subject_tmpl: must be on one line, without control characters')
test(
  saved,
  { subject: '{{.a', text: 'x\n{{end}}', html: '{{if .a}}' },
  'subject_tmpl: line 1, column 1: {{ is never closed; end it with }}',
  'text_tmpl: line 2, column 3: end without an if or range before it',
  'html_tmpl: line 1, column 3: this if is never ended; write {{end}}',
)
test(saved, { schema: shop, text: '{{name}}{{.order.total}}{{.open.x.y}}{{.any}}{{range .any}}{{.x}}{{end}}{{if .order}}{{end}}' })
test(saved, { schema: shop, text: '{{range .items}}{{.title}}{{range .tags}}{{.}}{{$.name}}{{end}}{{end}}{{range .list}}{{.x}}{{end}}' })
test(
  saved,
  { schema: shop, text: '\n{{nam}}{{nam}}', html: '{{if .order.sum}}{{end}}{{range .items}}{{.price}}{{else}}{{.none}}{{end}}' },
  'text_tmpl: line 2, column 3: nam is not declared in schema_json',
  'html_tmpl: line 1, column 6: order.sum is not declared in schema_json',
  'html_tmpl: line 1, column 43: items[].price is not declared in schema_json',
  'html_tmpl: line 1, column 61: none is not declared in schema_json',
)
test(saved, { schema: shop, text: '{{.name.x}}' }, 'text_tmpl: line 1, column 3: name is declared as text, which has no fields')
test(saved, { schema: shop, text: '{{.note.x}}' }, 'text_tmpl: line 1, column 3: note is declared as text or null, which has no fields')
test(saved, { schema: shop, text: '{{.order}}' }, 'text_tmpl: line 1, column 3: order is declared as an object, which cannot be printed')
test(saved, { schema: shop, text: '{{.items}}' }, 'text_tmpl: line 1, column 3: items is declared as a list, which cannot be printed')
test(
  saved,
  { schema: shop, text: '{{range .name}}{{end}}' },
  'text_tmpl: line 1, column 9: name is declared as text, but range requires a list',
)
test(saved, { text: '{{.}}' }, 'text_tmpl: line 1, column 3: . and $ refer to all variables here; use a variable name')
test(saved, { text: '{{range $}}{{end}}' }, 'text_tmpl: line 1, column 9: . and $ refer to all variables here; name a list after range')
test(
  saved,
  { schema: object({}, { additionalProperties: true }), text: '{{.x}}' },
  'text_tmpl: line 1, column 3: x is not declared in schema_json',
)
test(
  saved,
  { schema: object({ x: { type: 'object', additionalProperties: false } }), text: '{{.x.y}}' },
  'text_tmpl: line 1, column 3: x.y is not declared in schema_json',
)

const forReplies = (name: string): string => `${name} belongs to replies to forms; declare both fields and form in schema_json`
const reply = object({ fields: { type: 'object' }, form: object({ name: { type: 'string' } }) })
test(saved, { schema: reply, subject: 'Re: {{.form.name}}', text: '{{.fields.email}}' })
test(saved, { text: '{{.fields.email}}' }, `text_tmpl: line 1, column 3: ${forReplies('fields.email')}`)
test(saved, { subject: '{{.form.name}}' }, `subject_tmpl: line 1, column 3: ${forReplies('form.name')}`)
test(saved, { schema: object({ fields: {} }), text: '{{$.fields.a}}' }, `text_tmpl: line 1, column 3: ${forReplies('fields.a')}`)
test(saved, { schema: object({ form: {} }), text: '{{if form.name}}{{end}}' }, `text_tmpl: line 1, column 6: ${forReplies('form.name')}`)
test(saved, { text: '{{range .steps}}{{.fields}}{{.form}}{{end}}' })

const schema = (json: unknown): Partial<TemplateContent> => ({ schema: json as Json })
const supported =
  'is not supported; there are type, properties, required, additionalProperties, items, enum, default, and for readers title, description and examples'
test(
  saved,
  schema({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'x', properties: { a: { items: {}, description: 'x' } } }),
)
test(saved, schema({ type: 'string' }), 'schema_json.type: must be object, with one property for each variable')
test(saved, schema({}), 'schema_json.type: must be object, with one property for each variable')
test(
  saved,
  schema(object({ a: { type: 'text' } })),
  'schema_json.properties.a.type: must be one of string, number, integer, boolean, object, array, null, or a list of them',
)
test(
  saved,
  schema(object({ a: { type: [] } })),
  'schema_json.properties.a.type: must be one of string, number, integer, boolean, object, array, null, or a list of them',
)
test(saved, schema(object({ a: 'string' })), 'schema_json.properties.a: must be a schema, such as {"type": "string"}')
test(
  saved,
  schema(object({ a: { type: 'string', pattern: 'x', format: 'email' } })),
  `schema_json.properties.a.pattern: ${supported}`,
  `schema_json.properties.a.format: ${supported}`,
)
test(saved, schema(object({ 'a b': {} })), 'schema_json.properties.a b: cannot be named in a template; names have letters, digits, _ and -')
test(saved, schema({ type: 'object', properties: [] }), 'schema_json.properties: must be an object with a schema for each name')
test(saved, schema(object({}, { required: 'a' })), 'schema_json.required: must be a list of names')
test(saved, schema(object({ a: {} }, { required: ['a', 'b'] })), 'schema_json.required[1]: b is not among the properties')
test(saved, schema(object({}, { additionalProperties: {} })), 'schema_json.additionalProperties: must be true or false')
test(
  saved,
  schema(object({ a: { enum: [] } })),
  'schema_json.properties.a.enum: must be a list of 1 to 100 texts, numbers, true, false or null',
)
test(saved, schema(object({ a: { type: 'string', properties: {} } })), 'schema_json.properties.a.properties: is for the type object')
test(saved, schema(object({ a: { type: 'string', items: {} } })), 'schema_json.properties.a.items: is for the type array')
test(saved, schema(object({ a: { type: 'string', default: 7 } })), 'schema_json.properties.a.default: expected text, got a number')
test(
  saved,
  schema(object({ a: { items: { properties: { b: { enum: ['x', 'y'], default: 'z' } } } } })),
  'schema_json.properties.a.items.properties.b.default: must be one of x, y',
)
const nested = (levels: number): Json => (levels === 0 ? {} : object({ a: nested(levels - 1) }))
test('schema: accepts eight levels, and no deeper', (t) => {
  t.notThrows(() => checkContent({ ...plain, schema: nested(7) }))
  t.deepEqual(
    problemsOf(t, () => checkContent({ ...plain, schema: nested(8) })),
    [`schema_json${'.properties.a'.repeat(8)}: is declared deeper than 8 levels`],
  )
})
test('schema: accepts at most 500 values', (t) => {
  const wide = (count: number): Json => object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, {}])))
  t.notThrows(() => checkContent({ ...plain, schema: wide(499) }))
  t.deepEqual(
    problemsOf(t, () => checkContent({ ...plain, schema: wide(500) })),
    ['schema_json.properties.a499: at most 500 values are declared'],
  )
})
test('problems: at most twenty are reported', (t) => {
  const text = Array.from({ length: 50 }, (_, index) => `{{.a${index}}}`).join('')
  t.is(problemsOf(t, () => checkContent({ ...plain, text, schema: object({}) })).length, 20)
})

test('problems: line, column and variable are separate fields', (t) => {
  const { details } = t.throws(() => checkContent({ ...plain, html: 'x\n {{.a}}', schema: object({}) }), { instanceOf: Refusal })
  const message = 'line 2, column 4: a is not declared in schema_json'
  t.deepEqual(details?.['fields'], [{ path: 'html_tmpl', message, line: 2, column: 4, variable: 'a' }])
})

const letter: TemplateContent = {
  subject: 'For {{.name}}',
  text: '{{.name}}: {{.count}}{{range .items}} {{.title}} ({{.unit}}){{end}} {{.kind}}',
  html: '<p>{{.name}}</p>',
  schema: object(
    {
      name: { type: 'string' },
      count: { type: 'integer', default: 1 },
      kind: { enum: ['a', 'b', 3, null] },
      ratio: { type: ['number', 'null'] },
      yes: { type: 'boolean' },
      items: {
        type: 'array',
        items: object({ title: { type: 'string' }, unit: { default: 'piece' } }, { required: ['title'], additionalProperties: false }),
      },
    },
    { required: ['name', 'count'] },
  ),
}

test('renderContent(): fills in values and defaults, and omits optional values', (t) => {
  t.deepEqual(renderContent(letter, { name: '<A>' }, 'template_vars'), { subject: 'For <A>', text: '<A>: 1 ', html: '<p>&lt;A&gt;</p>' })
  const items = [{ title: 'Pen' }, { title: 'Ink', unit: 'litre' }]
  t.is(renderContent(letter, { name: 'A', count: 2, kind: 3, items, extra: {} }, 'x').text, 'A: 2 Pen (piece) Ink (litre) 3')
})

const unfit = test.macro({
  exec(t: ExecutionContext, changes: Json, ...expected: string[]) {
    t.deepEqual(
      problemsOf(t, () => renderContent(letter, { name: 'A', ...changes }, 'template_vars')),
      expected,
    )
  },
  title: (_, changes, ...[expected]) => `refuses the variables ${JSON.stringify(changes)}: ${expected}`,
})
test(
  unfit,
  { name: 7, count: 1.5 },
  'template_vars.name: expected text, got a number',
  'template_vars.count: expected a whole number, got a number',
)
test(unfit, { kind: 'c' }, 'template_vars.kind: must be one of a, b, 3, null')
test(unfit, { ratio: '1' }, 'template_vars.ratio: expected a number or null, got text')
test(unfit, { yes: null }, 'template_vars.yes: expected true or false, got null')
test(unfit, { items: {} }, 'template_vars.items: expected a list, got an object')
test(
  unfit,
  { items: [[], {}] },
  'template_vars.items[0]: expected an object, got a list',
  'template_vars.items[1].title: is required by the template',
)
test(unfit, { items: [{ title: '', no: 1 }] }, 'template_vars.items[0].no: is not declared by the template')

test('renderContent(): names missing required variables', (t) => {
  t.deepEqual(
    problemsOf(t, () => renderContent(letter, {}, 'template_vars')),
    ['template_vars.name: is required by the template'],
  )
})

test('renderContent(): without a schema, names invalid variables and their use', (t) => {
  const content = { ...plain, subject: '{{.a}}', text: '\n{{.list}}', html: '{{range .list}}{{.title}}{{end}}' }
  t.deepEqual(
    problemsOf(t, () => renderContent(content, { list: [{ title: 1 }, {}] }, 'variables')),
    [
      'variables.a: is missing; subject_tmpl uses it in line 1, column 3',
      'variables.list: is a list; iterate over it with range; text_tmpl uses it in line 2, column 3',
      'variables.list[1].title: is missing; html_tmpl uses it in line 1, column 18',
    ],
  )
})

test('renderContent(): bounds the rendered size', (t) => {
  const much = (text: string): string[] =>
    problemsOf(t, () => renderContent({ ...plain, subject: '{{.a}}', text: '{{.b}}' }, { a: text, b: text.repeat(1062) }, 'x'))
  t.notThrows(() => renderContent({ ...plain, subject: '{{.a}}' }, { a: 'x'.repeat(989) }, 'x'))
  t.deepEqual(much('x'.repeat(990)), [
    'x: subject_tmpl comes to more than 989 characters; give less',
    'x: text_tmpl comes to more than 1048576 characters; give less',
  ])
})

test('renderContent(): a schema cannot reach prototypes of variables', (t) => {
  const content = { ...plain, text: '[{{.any.constructor}}{{.any.toString}}]', schema: object({ any: { type: 'object' } }) }
  t.is(renderContent(content, { any: {} }, 'x').text, '[]')
  const own = JSON.parse('{"any": {"__proto__": {"polluted": 1}}}') as Json
  t.is(renderContent({ ...content, text: '[{{.any.polluted}}{{.any.__proto__.polluted}}]' }, own, 'x').text, '[1]')
})

test('content check: long templates take small steps, and are parsed once', (t) => {
  const stepsOf = (steps: Iterable<void>): number => [...steps].length
  const content = { ...plain, html: '{{if .a}}x{{else}}y{{end}}'.repeat(8000) }
  t.is(stepsOf(checkingOf(plain, {})), 0)
  t.is(stepsOf(checkingContent(content)), 20)
  const all = stepsOf(checkingOf(content, { a: 1 }))
  t.true(all > 20 && all < 40, `${all} steps`)
  t.is(stepsOf(renderingContent(content, { a: 1 }, 'variables')), all)
})
