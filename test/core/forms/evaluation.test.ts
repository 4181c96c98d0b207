/** Parsing of answers by field type, and evaluation of form logic in one pass. */
import { build } from 'esbuild'
import { runInNewContext } from 'node:vm'
import test from '#test'
import { checkDefinition } from '#core/forms/definition/check-definition.ts'
import type { Definition } from '#core/forms/definition/definition.ts'
import { evaluate, type Evaluation } from '#core/forms/definition/evaluate.ts'
import { thanksFor } from '#core/forms/definition/public-definition.ts'
import { randomForms } from './random-forms.ts'

type Json = Readonly<Record<string, unknown>>
const reading = { today: '2030-01-15', slackDays: 0 }

function sound(fields: readonly Json[], rules: readonly Json[] = [], more: Json = {}): Definition {
  const { definition, errors } = checkDefinition({ name: 'Form', schema: { version: 1, fields }, logic: { version: 1, rules }, ...more })
  if (!definition) throw new Error(JSON.stringify(errors))
  return definition
}

const options = ['a', 'b'].map((value) => ({ value, label: value }))

/** Type, its properties, the given value, and the answer or the code of the problem. */
const readings: readonly (readonly [type: string, more: Json, given: unknown, expected: unknown])[] = [
  ['text', {}, '  Ada  ', { answer: 'Ada' }],
  ['text', {}, 'two\r\nlines', { answer: 'two lines' }],
  ['text', { min_length: 3 }, 'ab', 'too_short'],
  ['text', { max_length: 3 }, 'abcd', 'too_long'],
  ['text', {}, 'x'.repeat(1001), 'too_long'],
  ['text', {}, { a: 1 }, 'invalid_type'],
  ['text', { pattern: '\\d{4}' }, '12a4', 'pattern_mismatch'],
  ['text', { preset: 'iban' }, 'CH9300762011623852957', { answer: 'CH9300762011623852957' }],
  ['textarea', {}, 'two\r\nlines', { answer: 'two\nlines' }],
  ['email', {}, ' Ada@Example.CH ', { answer: 'Ada@example.ch' }],
  ['email', {}, 'ada@', 'invalid_email'],
  ['email', {}, 'a b@example.ch', 'invalid_email'],
  ['email', {}, 'ada@example', { answer: 'ada@example' }],
  ['email', {}, 'ada@192.0.2.1', 'invalid_email'],
  ['email', {}, 'ada@cor_pus.example', { answer: 'ada@cor_pus.example' }],
  ['email', {}, 'ada@B\u00fccher.example', { answer: 'ada@b\u00fccher.example' }],
  ['email', {}, '\u202aa\u00adda@example.ch\u200b\u00a0', { answer: 'ada@example.ch' }],
  ['email', {}, '"ada"@example.ch', 'invalid_email'],
  ['email', { allow_domains: ['example.ch'] }, 'ada@mail.example.ch', { answer: 'ada@mail.example.ch' }],
  ['email', { allow_domains: ['example.ch'] }, 'ada@other.ch', 'domain_not_allowed'],
  ['email', { deny_domains: ['other.ch'] }, 'ada@other.ch', 'domain_not_allowed'],
  ['phone', {}, '+41 (0)44 123-45-67', { answer: '+41 (0)44 123-45-67' }],
  ['phone', {}, '+41\u00a079\u202f123\u200945\u300067', { answer: '+41 79 123 45 67' }],
  ['phone', {}, '\u202a+41 79 123 45 67\u202c', { answer: '+41 79 123 45 67' }],
  ['phone', {}, '\u200e+41 79 123\ufe0f 45 67', { answer: '+41 79 123 45 67' }],
  ['phone', {}, '044\u2011123\u201345\u221267', { answer: '044-123-45-67' }],
  ['phone', {}, '044/123 45 67', { answer: '044/123 45 67' }],
  ['phone', {}, '044 123 45 67 ext. 12', { answer: '044 123 45 67 ext. 12' }],
  ['phone', {}, '044 123 45 67 x12', { answer: '044 123 45 67 x12' }],
  ['phone', {}, '044 123 45 67 #12', { answer: '044 123 45 67 #12' }],
  ['phone', {}, 'ext. 1234', 'invalid_phone'],
  ['phone', {}, '044 123 45 67 ext. ext. 1', 'invalid_phone'],
  ['phone', {}, '\u200b\u200b', { answer: undefined }],
  ['phone', {}, 'call me', 'invalid_phone'],
  ['text', {}, 'a\u200db', { answer: 'a\u200db' }],
  ['text', {}, '\u200b\u2060 \u00ad', { answer: undefined }],
  ['textarea', {}, '\u200b\n\u00a0\u200b', { answer: undefined }],
  ['text', { required: true }, '\u200b', 'required'],
  ['textarea', { required: true }, '\u3164\n', 'required'],
  ['text', { min_length: 3 }, 'ab\u200b\u200b', 'too_short'],
  ['text', { min_length: 3 }, '\u200b ab', 'too_short'],
  ['textarea', { min_length: 3 }, 'ab\u00ad\u00ad', 'too_short'],
  ['text', { max_length: 3 }, '\u202aabc\u202c', { answer: 'abc' }],
  ['text', {}, `${'x'.repeat(1000)}\u200b`, { answer: 'x'.repeat(1000) }],
  ['text', {}, `${'x'.repeat(1001)}\u200b`, 'too_long'],
  ['text', {}, '\u{1f468}\u200d\u{1f467} \u2764\ufe0f', { answer: '\u{1f468}\u200d\u{1f467} \u2764\ufe0f' }],
  ['radio', { options, allow_other: true, required: true }, '\u200b', 'required'],
  ['radio', { options, allow_other: true }, `\u200b${'x'.repeat(1000)}`, { answer: 'x'.repeat(1000) }],
  ['radio', { options, allow_other: true }, `${'x'.repeat(1001)}`, 'too_long'],
  ['radio', { options, allow_other: true }, '\u{1f468}\u200d\u{1f467}', { answer: '\u{1f468}\u200d\u{1f467}' }],
  ['hidden', { source: 'url_param', param: 'utm' }, '\u200b', { answer: undefined }],
  ['hidden', { source: 'url_param', param: 'utm' }, `\u200b${'x'.repeat(1000)}`, { answer: 'x'.repeat(1000) }],
  ['text', { preset: 'iban' }, '\u202aCH9300762011623852957\u202c', { answer: 'CH9300762011623852957' }],
  ['url', {}, '\u200bhttps://example.ch/a\u00a0', { answer: 'https://example.ch/a' }],
  ['number', {}, '\u200e1,5\u00a0', { answer: 1.5 }],
  ['url', {}, 'http://example.ch/a', { answer: 'http://example.ch/a' }],
  ['url', { https_only: true }, 'http://example.ch/a', 'invalid_url'],
  ['url', {}, 'javascript:alert(1)', 'invalid_url'],
  ['number', {}, '1,5', { answer: 1.5 }],
  ['number', {}, 'many', 'invalid_type'],
  ['number', { min: 1, max: 3 }, 4, 'out_of_range'],
  ['number', { integer: true }, 1.5, 'step_mismatch'],
  ['number', { min: 0, step: 0.1 }, 0.3, { answer: 0.3 }],
  ['number', { step: 0.5 }, 0.3, 'step_mismatch'],
  ['date', {}, '2024-02-29', { answer: '2024-02-29' }],
  ['date', {}, '2023-02-29', 'invalid_date'],
  ['date', { min: 'today', max: 'today+7d' }, '2030-01-22', { answer: '2030-01-22' }],
  ['date', { max: 'today+7d' }, '2030-01-23', 'out_of_range'],
  ['time', {}, '17:30:59', { answer: '17:30' }],
  ['time', {}, '24:00', 'invalid_date'],
  ['datetime', { min: '2030-01-01T12:00' }, '2030-01-01T11:59', 'out_of_range'],
  ['select', { options }, 'a', { answer: 'a' }],
  ['select', { options }, 'c', 'not_an_option'],
  ['radio', { options, allow_other: true }, 'c', { answer: 'c' }],
  ['radio', { options: [{ ...options[0], disabled: true }, options[1]] }, 'a', 'not_an_option'],
  ['checkbox', {}, 'on', { answer: true }],
  ['checkbox', {}, undefined, { answer: false }],
  ['checkbox', { required: true }, false, 'required'],
  ['checkbox', { must_be_true: true }, undefined, 'must_accept'],
  ['checkboxes', { options }, ['b', 'a', 'b'], { answer: ['a', 'b'] }],
  ['checkboxes', { options }, 'b', { answer: ['b'] }],
  ['checkboxes', { options }, ['c'], 'not_an_option'],
  ['checkboxes', { options, min_selected: 2 }, ['a'], 'too_few'],
  ['checkboxes', { options, max_selected: 1 }, ['a', 'b'], 'too_many'],
  ['rating', { max: 5 }, '5', { answer: 5 }],
  ['rating', { max: 5 }, 0, 'out_of_range'],
  ['scale', { max: 10 }, 0, { answer: 0 }],
  ['scale', { max: 10, min: 1 }, 0, 'out_of_range'],
  ['consent', { text: 'I agree.', required: true }, true, { answer: true }],
  ['consent', { text: 'I agree.', required: true }, false, 'must_accept'],
  ['hidden', { source: 'static', default: 'own' }, 'theirs', { answer: 'own' }],
  ['hidden', { source: 'url_param', param: 'utm' }, 'x'.repeat(1001), 'too_long'],
  ['file_upload', { required: true }, 'file', 'file_missing'],
]

test('every type parses its answers and names their problems', (t) => {
  for (const [type, more, given, expected] of readings) {
    const definition = sound([{ key: 'f', type, label: 'F', ...more }])
    const { answers, problems } = evaluate(definition, { values: { f: given }, ...reading })
    const found = problems['f'] ? problems['f'][0]?.code : { answer: answers['f'] }
    t.deepEqual(found as unknown, expected, `${type} ${JSON.stringify(more)} ${JSON.stringify(given)}`)
  }
  for (const nothing of [undefined, null, '', '  ', '\u200b', []]) {
    const { problems } = evaluate(sound([{ key: 'f', type: 'text', label: 'F', required: true, required_message: 'Who?' }]), {
      values: { f: nothing },
      ...reading,
    })
    if (!Array.isArray(nothing)) t.deepEqual(problems, { f: [{ code: 'required', message: 'Who?' }] })
  }
})

test('invisible fields are not required, not stored, and empty in later rules', (t) => {
  const definition = sound(
    [
      { key: 'topic', type: 'select', label: 'Topic', options },
      { key: 'steps', type: 'text', label: 'Steps', required: true },
      { key: 'more', type: 'text', label: 'More' },
    ],
    [
      { id: 'r1', when: { field: 'topic', op: 'eq', value: 'a' }, then: [{ action: 'show', target: 'steps' }] },
      { id: 'r2', when: { field: 'steps', op: 'not_empty' }, then: [{ action: 'require', target: 'more' }] },
    ],
  )
  const seen = (values: Json): Json => {
    const { visible, required, answers, problems } = evaluate(definition, { values, ...reading })
    return { visible: [...visible], required: [...required], answers, problems: Object.keys(problems) }
  }
  t.deepEqual(seen({ topic: 'b', steps: 'secret' }), { visible: ['topic', 'more'], required: [], answers: { topic: 'b' }, problems: [] })
  t.deepEqual(seen({ topic: 'a', steps: 'x' }), {
    ...{ visible: ['topic', 'steps', 'more'], required: ['steps', 'more'], answers: { topic: 'a', steps: 'x' }, problems: ['more'] },
  })
  t.deepEqual(seen({ topic: 'a' })['problems'], ['steps'])
})

test('rules: hide overrides show, unrequire overrides require, jumps skip pages', (t) => {
  const page = (key: string) => ({ key, type: 'page_break' })
  const text = (key: string, more: Json = {}) => ({ key, type: 'text', label: key, ...more })
  const fields = [
    text('a'),
    text('b', { required: true }),
    page('p2'),
    text('c', { required: true }),
    page('p3'),
    text('d'),
    page('p4'),
    text('e'),
  ]
  const is = (value: string) => ({ field: 'a', op: 'eq', value })
  const definition = sound(fields, [
    { id: 'r1', when: { field: 'a', op: 'not_empty' }, then: [{ action: 'show', target: 'b' }] },
    { id: 'r2', when: is('hide'), then: [{ action: 'hide', target: 'b' }] },
    {
      id: 'r3',
      when: is('free'),
      then: [
        { action: 'unrequire', target: 'b' },
        { action: 'require', target: 'b' },
      ],
    },
    { id: 'r4', when: is('nopage'), then: [{ action: 'hide', target: 'page:2' }] },
    { id: 'r5', when: is('jump'), then: [{ action: 'jump', page: 4 }] },
    { id: 'r6', when: is('end'), then: [{ action: 'jump', page: 'submit' }] },
  ])
  const of = (a: string): Evaluation => evaluate(definition, { values: { a, b: 'b', c: 'c', d: 'd', e: 'e' }, ...reading })
  t.deepEqual(Object.keys(of('x').answers), ['a', 'b', 'c', 'd', 'e'])
  t.deepEqual(Object.keys(of('hide').answers), ['a', 'c', 'd', 'e'])
  t.false(of('free').required.has('b'))
  t.deepEqual([...of('nopage').pages], [1, 3, 4])
  t.deepEqual([...of('jump').pages], [1, 4])
  t.deepEqual(Object.keys(of('jump').answers), ['a', 'b', 'e'])
  t.deepEqual([...of('end').pages], [1])
  t.false(of('end').visible.has('p2'))
})

test('the thank-you text depends on the answers', (t) => {
  const definition = sound([{ key: 'n', type: 'number', label: 'N' }], [], {
    thank_you: {
      title: 'Thanks',
      body: '',
      redirect_url: null,
      variants: [{ when: { field: 'n', op: 'gte', value: 9 }, title: 'Great', body: '' }],
    },
  })
  t.deepEqual(
    [thanksFor(definition, { n: 9 }).title, thanksFor(definition, { n: 8 }).title, thanksFor(definition, {}).title],
    ['Great', 'Thanks', 'Thanks'],
  )
})

test('the module is one bundle for browsers and decides like the server', async (t) => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export { checkDefinition } from './check-definition.ts'; export { evaluate } from './evaluate.ts'",
      resolveDir: new URL('../../../daemon/core/forms/definition', import.meta.url).pathname,
    },
    ...{ bundle: true, write: false, metafile: true, platform: 'browser', format: 'iife', globalName: 'forms', target: 'es2023' },
  })
  const inputs = Object.keys(metafile.inputs).filter((path) => path !== '<stdin>')
  t.deepEqual(
    inputs.filter((path) => !path.includes('daemon/core/forms/definition/')).toSorted(),
    ['config/mail/addresses.ts', 'config/mail/invisible.ts', 'daemon/core/addresses.ts'],
    'only the address grammar is imported from outside the folder',
  )
  // only globals of browsers, and no API of Node.js
  const code = `${outputFiles[0]?.text ?? ''}; given.map(([form, data]) => {
    const { definition, errors } = forms.checkDefinition(form)
    const shown = definition && forms.evaluate(definition, { values: data, today: '2030-01-15', slackDays: 0 })
    return JSON.stringify(shown ? [[...shown.visible], [...shown.pages], [...shown.required], shown.answers, shown.problems] : errors)
  })`
  const given = randomForms(2000, 11)
  const there = runInNewContext(code, { given, URL, TextEncoder }) as readonly string[]
  let [soundForms, hidden] = [0, 0]
  for (const [at, [form, data]] of given.entries()) {
    const { definition, errors } = checkDefinition(form)
    const shown = definition && evaluate(definition, { values: data, ...reading })
    t.is(
      there[at],
      JSON.stringify(shown ? [[...shown.visible], [...shown.pages], [...shown.required], shown.answers, shown.problems] : errors),
    )
    if (!definition || !shown) continue
    soundForms++
    if (shown.visible.size < definition.schema.fields.length) hidden++
    for (const key of [...Object.keys(shown.answers), ...Object.keys(shown.problems), ...shown.required])
      t.true(shown.visible.has(key), 'no invisible field is shown or stored')
    const again = evaluate(definition, { values: shown.answers, ...reading })
    if (Object.keys(shown.problems).length === 0) t.deepEqual(again.answers, shown.answers, 'parsed answers parse to themselves')
  }
  t.true(soundForms > 1500 && hidden > 300, `${soundForms} valid, ${hidden} with hidden fields`)
})
