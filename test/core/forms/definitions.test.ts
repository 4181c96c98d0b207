/** Valid form definitions: every type of field, layout, theme, logic and texts. */
import test from '#test'
import { checkDefinition } from '#core/forms/definition/check-definition.ts'
import { contrast } from '#core/forms/definition/contrast.ts'
import { fieldTypes, type Definition } from '#core/forms/definition/definition.ts'
import { diffDefinitions } from '#core/forms/definition/diff.ts'
import { inReadingOrder, pagesOf, rowsOf } from '#core/forms/definition/layout.ts'
import { publicDefinition } from '#core/forms/definition/public-definition.ts'
import { localized } from '#core/forms/definition/translations.ts'
import { starterDefinition, starterNames } from '#core/forms/starters.ts'

type Json = Readonly<Record<string, unknown>>

const text = (key: string, more: Json = {}) => ({ key, type: 'text', label: key, ...more })
const form = (fields: readonly Json[], more: Json = {}, schema: Json = {}) => ({
  name: 'Form',
  schema: { version: 1, fields, ...schema },
  ...more,
})
const problems = (given: unknown): readonly string[] => checkDefinition(given).errors.map(({ path, code }) => `${path} ${code}`)
const sound = (given: unknown): Definition => {
  const { definition, errors } = checkDefinition(given)
  if (!definition) throw new Error(JSON.stringify(errors))
  return definition
}

const options = [
  { value: 'a', label: 'A' },
  { value: 'b', label: 'B' },
]

/** One field of each type, with its required properties. */
const oneOfEach: Readonly<Record<string, Json>> = {
  ...{ text: {}, textarea: {}, email: {}, phone: {}, url: {}, number: {}, date: {}, time: {}, datetime: {}, checkbox: {}, file_upload: {} },
  ...{
    select: { options },
    radio: { options },
    checkboxes: { options },
    rating: { max: 5 },
    scale: { max: 10 },
    consent: { text: 'I agree.' },
  },
  ...{ hidden: { source: 'static', default: 'x' }, image: { src: 'https://example.ch/a.png', alt: '' }, heading: { text: 'About' } },
  ...{ paragraph: { text: 'Some *words*.' }, divider: {}, page_break: {} },
}
const unlabelled = new Set(['image', 'heading', 'paragraph', 'divider', 'page_break'])
const fieldOf = (type: string): Json => ({ key: `f_${type}`, type, ...(!unlabelled.has(type) && { label: type }), ...oneOfEach[type] })

test('all 23 types of fields are accepted with their required properties', (t) => {
  t.is(fieldTypes.length, 23)
  t.deepEqual(Object.keys(oneOfEach).toSorted(), [...fieldTypes].toSorted())
  t.deepEqual(problems(form(fieldTypes.map(fieldOf))), [])
  for (const [type, needed] of Object.entries(oneOfEach))
    for (const property of Object.keys(needed).filter((name) => type !== 'hidden' || name === 'label')) {
      const { [property]: _, ...without } = fieldOf(type)
      t.deepEqual(problems(form([text('a'), without])), [`schema.fields[1].${property} required`], type)
    }
  for (const type of fieldTypes)
    t.deepEqual(problems(form([text('a'), { ...fieldOf(type), css: 'x' }])), ['schema.fields[1].css unknown_property'], type)
})

test('errors name invalid fields by their path', (t) => {
  const wrong: readonly (readonly [Json, string])[] = [
    [{ key: 'A', type: 'text', label: 'a' }, 'schema.fields[0].key invalid_key'],
    [text('data'), 'schema.fields[0].key reserved_key'],
    [text('constructor'), 'schema.fields[0].key reserved_key'],
    [{ key: 'a', type: 'matrix', label: 'a' }, 'schema.fields[0].type unknown_type'],
    [text('a', { label: '' }), 'schema.fields[0].label required'],
    [text('a', { label: 'x'.repeat(201) }), 'schema.fields[0].label too_long'],
    [text('a', { label: 'two\nlines' }), 'schema.fields[0].label invalid_text'],
    [text('a', { min_length: 5, max_length: 2 }), 'schema.fields[0].min_length out_of_range'],
    [text('a', { pattern: '(a+)+' }), 'schema.fields[0].pattern pattern_invalid'],
    [text('a', { pattern: 'a', preset: 'digits' }), 'schema.fields[0].preset not_allowed'],
    [text('a', { autocomplete: 'cc-number' }), 'schema.fields[0].autocomplete not_allowed'],
    [{ ...fieldOf('date'), min: 'tomorrow' }, 'schema.fields[0].min invalid_date'],
    [{ ...fieldOf('select'), options: [options[0], options[0]] }, 'schema.fields[0].options[1].value duplicate_option'],
    [{ ...fieldOf('number'), step: 0 }, 'schema.fields[0].step out_of_range'],
    [{ ...fieldOf('hidden'), source: 'url_param' }, 'schema.fields[0].param required'],
  ]
  for (const [field, expected] of wrong)
    t.true(problems(form([field])).includes(expected), `${expected}: ${problems(form([field])).join(', ')}`)
  t.deepEqual(problems(form([text('a'), text('a')])), ['schema.fields[1].key duplicate_key'])
  t.deepEqual(problems(form([])), ['schema.fields too_few'])
  t.deepEqual(problems(form([fieldOf('heading')])), ['schema.fields too_few'], 'no answerable field')
  t.deepEqual(problems(form(Array.from({ length: 201 }, (_, at) => text(`f${at}`)))), ['schema.fields too_many'])
  t.deepEqual(problems(form([...Array.from({ length: 6 }, (_, at) => ({ ...fieldOf('file_upload'), key: `f${at}` }))])), [
    'schema.fields too_many',
  ])
  t.deepEqual(problems(form([text('a')], { css: 'x' })), ['css unknown_property'])
  t.deepEqual(problems(form([text('a', { help: 'é'.repeat(140_000) })])), [' too_long'], 'bytes, not characters')
  for (const odd of [
    null,
    [],
    'x',
    7,
    undefined,
    { schema: { version: 1, fields: [null, 7, []] } },
    { name: 'x', schema: { version: 1, fields: {} } },
  ])
    t.true(problems(odd).length > 0)
})

test('a layout places fields in 12 columns, the rest follow; without one, widths pack', (t) => {
  const fields = ['a', 'b', 'c', 'd'].map((key) => text(key))
  const rows = [{ fields: ['b', 'a'], spans: [8, 4] }, { fields: ['c'] }]
  const { schema } = sound(form(fields, {}, { layout: { version: 1, rows } }))
  const shown = (of: Definition['schema']) => rowsOf(of).map((row) => row.map(({ field, span }) => `${field.key}${span}`).join(' '))
  t.deepEqual(shown(schema), ['b8 a4', 'c12', 'd12'])
  t.deepEqual(
    inReadingOrder(schema).map(({ key }) => key),
    ['b', 'a', 'c', 'd'],
  )
  const widths = sound(form(['half', 'half', 'third', 'two_thirds', 'full', 'third'].map((width, at) => text(`f${at}`, { width }))))
  t.deepEqual(shown(widths.schema), ['f06 f16', 'f24 f38', 'f412', 'f54'])
  const layoutOf = (row: Json) => problems(form(fields, {}, { layout: { version: 1, rows: [row] } }))
  t.deepEqual(layoutOf({ fields: ['x'] }), ['schema.layout.rows[0].fields[0] layout_unknown_field'])
  t.deepEqual(layoutOf({ fields: ['a', 'a'] }), ['schema.layout.rows[0].fields[1] layout_duplicate_field'])
  t.deepEqual(layoutOf({ fields: ['a', 'b'], spans: [8, 5] }), ['schema.layout.rows[0].spans layout_span_overflow'])
  t.deepEqual(layoutOf({ fields: ['a', 'b'], spans: [8] }), ['schema.layout.rows[0].spans layout_spans'])
  const steps = [text('a'), fieldOf('page_break'), text('b')]
  t.deepEqual(problems(form(steps, {}, { layout: { version: 1, rows: [{ fields: ['a', 'f_page_break'] }] } })), [
    'schema.layout.rows[0].fields[1] layout_page_break',
  ])
  t.deepEqual(
    pagesOf(sound(form(steps)).schema).map((page) => page.rows.flat().map(({ field }) => field.key)),
    [['a'], ['b']],
  )
  t.deepEqual(publicDefinition(sound(form(fields))).schema.layout.rows[0], { fields: ['a'], spans: [12] })
})

test('colours with low contrast get a warning with a readable colour', (t) => {
  const { warnings, errors } = checkDefinition(
    form([text('a')], { theme: { mode: 'light', colors: { background: '#ffffff', text: '#999999', primary: '#eeeeee' } } }),
  )
  t.deepEqual(errors, [])
  t.deepEqual(
    warnings.map(({ path }) => path),
    ['theme.colors.text', 'theme.colors.primary'],
  )
  for (const warning of warnings) {
    if (!('proposed' in warning)) return t.fail()
    t.true(contrast(warning.proposed, '#ffffff') >= warning.required)
    t.true(contrast(warning.proposed, '#ffffff') < warning.required + 0.3, 'the nearest readable colour')
  }
  t.deepEqual(checkDefinition(form([text('a')])).warnings, [], 'the default colours of a form')
  t.is(Math.round(contrast('#000000', '#ffffff')), 21)
  t.deepEqual(problems(form([text('a')], { theme: { colors: { primary: 'red' } } })), ['theme.colors.primary invalid_text'])
})

test('rules are typed and limited, and refer to earlier fields only', (t) => {
  const fields = [text('a'), fieldOf('number'), { ...fieldOf('select'), key: 's' }, fieldOf('page_break'), text('b'), fieldOf('checkbox')]
  const ruleOf = (when: unknown, then: unknown = [{ action: 'show', target: 'b' }]) =>
    problems(form(fields, { logic: { version: 1, rules: [{ id: 'r', when, then }] } }))
  const at = 'logic.rules[0]'
  t.deepEqual(ruleOf({ field: 'a', op: 'eq', value: 'x' }), [])
  t.deepEqual(ruleOf({ all: [{ field: 'f_number', op: 'gte', value: 3 }, { any: [{ not: { field: 's', op: 'in', value: ['a'] } }] }] }), [])
  t.deepEqual(ruleOf({ field: 'a', op: 'gt', value: 'x' }), [`${at}.when.op logic_operator`])
  t.deepEqual(ruleOf({ field: 'f_number', op: 'gt', value: '3' }), [`${at}.when.value invalid_type`])
  t.deepEqual(ruleOf({ field: 's', op: 'eq', value: 'c' }), [`${at}.when.value logic_value`])
  t.deepEqual(ruleOf({ field: 'nope', op: 'is_empty' }), [`${at}.when.field logic_unknown_field`])
  t.deepEqual(ruleOf({ field: 'a', op: 'is_empty', value: 'x' }), [`${at}.when.value unknown_property`])
  t.deepEqual(
    ruleOf({ field: 'a', op: 'eq', value: { field: 'b' } }),
    [`${at}.when.value logic_value`],
    'text cannot be compared with a field',
  )
  t.deepEqual(ruleOf({ field: 'b', op: 'is_empty' }, [{ action: 'hide', target: 'a' }]), [`${at}.then[0].target logic_forward_reference`])
  t.deepEqual(ruleOf({ field: 'b', op: 'is_empty' }, [{ action: 'hide', target: 'b' }]), [`${at}.then[0].target logic_forward_reference`])
  t.deepEqual(ruleOf({ field: 'a', op: 'is_empty' }, [{ action: 'jump', page: 2 }]), [])
  t.deepEqual(ruleOf({ field: 'b', op: 'is_empty' }, [{ action: 'jump', page: 2 }]), [`${at}.then[0].page logic_forward_reference`])
  t.deepEqual(ruleOf({ field: 'a', op: 'is_empty' }, [{ action: 'jump', page: 3 }]), [`${at}.then[0].page logic_unknown_page`])
  t.deepEqual(ruleOf({ field: 'a', op: 'is_empty' }, [{ action: 'require', target: 'page:2' }]), [
    `${at}.then[0].target logic_unknown_page`,
  ])
  t.deepEqual(ruleOf({ field: 'a', op: 'is_empty' }, [{ action: 'delete', target: 'b' }]), [`${at}.then[0].action not_allowed`])
  const nested = [1, 2, 3, 4].reduce((inner: Json) => ({ not: inner }), { field: 'a', op: 'is_empty' })
  t.deepEqual(
    ruleOf(nested).map((problem) => problem.split(' ')[1]),
    ['too_deep'],
  )
  t.deepEqual(ruleOf({ all: Array.from({ length: 20 }, () => ({ field: 'a', op: 'is_empty' })) }), [])
  t.deepEqual(
    ruleOf({ any: Array.from({ length: 2 }, () => ({ all: Array.from({ length: 11 }, () => ({ field: 'a', op: 'is_empty' })) })) }),
    [`${at}.when too_many`],
  )
  for (const odd of [null, {}, [], { all: [] }, { field: 'a' }, { eval: 'x' }, 'a = 1']) t.true(ruleOf(odd).length > 0, JSON.stringify(odd))
})

test('a form has translations; missing texts fall back to its language', (t) => {
  const definition = sound(
    form([{ key: 's', type: 'select', label: 'Topic', options }], {
      translations: { fr: { 'fields.s.label': 'Sujet', 'fields.s.options.a': 'Un', 'thank_you.title': 'Merci' } },
    }),
  )
  const french = localized(definition, 'fr-CH')
  t.is(french.locale, 'fr')
  t.deepEqual([french.schema.fields[0]?.label, french.schema.fields[0]?.options?.map(({ label }) => label)], ['Sujet', ['Un', 'B']])
  t.is(french.thank_you.title, 'Merci')
  t.is(localized(definition, 'de'), definition)
  const { warnings } = checkDefinition(form([text('a')], { translations: { fr: { 'fields.b.label': 'x' } } }))
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['unknown_text'],
  )
})

test('every starter can be published unchanged, without a warning', (t) => {
  t.deepEqual([...starterNames].toSorted(), ['application', 'contact', 'feedback', 'newsletter-optin', 'rsvp', 'support'])
  for (const name of starterNames) {
    const { errors, warnings } = checkDefinition(starterDefinition(name, 'Mine'))
    t.deepEqual([errors, warnings], [[], []], name)
  }
})

test('a difference between definitions is described by field', (t) => {
  const before = sound(form([text('a'), text('b'), text('c')]))
  const after = sound(form([text('c', { required: true }), text('a'), text('d')], { settings: { submit_label: 'Go' } }))
  t.deepEqual(
    diffDefinitions(before, after).map(({ kind, path }) => `${kind} ${path}`),
    ['added fields.c.required', 'added fields.d', 'removed fields.b', 'moved fields.c', 'moved fields.a', 'changed settings.submit_label'],
  )
  t.deepEqual(diffDefinitions(before, before), [])
})
