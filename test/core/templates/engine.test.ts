/** Rendering of templates, and errors of faulty ones. */
import test, { type ExecutionContext } from '#test'
import { placeIn } from '#config/texts/text-place.ts'
import { parseTemplate } from '#core/templates/parser.ts'
import { escapeHtml, onOneLine, render } from '#core/templates/renderer.ts'
import { TemplateFault } from '#core/templates/template-fault.ts'

const rules = { escape: (text: string) => text, strict: true, maxCharacters: 10_000 }
const fill = (source: string, variables: unknown, changes: Partial<typeof rules> = {}): string =>
  render(parseTemplate(source), variables, { ...rules, ...changes })

/** The fault of a template as `line:column variable: message`. */
function faultOf(t: ExecutionContext, source: string, variables: unknown = {}, changes: Partial<typeof rules> = {}): string {
  const { message, at, variable } = t.throws(() => fill(source, variables, changes), { instanceOf: TemplateFault })
  const { line, column } = placeIn(source, at)
  return `${line}:${column}${variable === undefined ? '' : ` ${variable}`}: ${message}`
}

const order = {
  name: 'Ada',
  nothing: null,
  empty: '',
  zero: 0,
  no: false,
  yes: true,
  price: 12.5,
  order: { total: '9.90', customer: { city: 'Bern' } },
  none: [],
  items: [
    { title: 'Pen', tags: ['blue', 'new'] },
    { title: 'Ink', tags: [] },
  ],
  letters: ['a', 'b'],
  'first-name': 'Augusta',
  Größe: 'L',
  end: 'the end',
}

const renders = test.macro({
  exec(t: ExecutionContext, source: string, expected: string) {
    t.is(fill(source, order), expected)
  },
  title: (_, source) => `renders ${JSON.stringify(source)}`,
})

test(renders, '', '')
test(renders, 'no variables { } }} here', 'no variables { } }} here')
test(renders, '{{.name}}{{name}}{{ .name }}{{\n\tname\n}}{{$.name}}', 'AdaAdaAdaAdaAda')
test(renders, '{{.order.total}} {{order.customer.city}}', '9.90 Bern')
test(renders, '{{price}} {{zero}} {{yes}} {{no}} [{{nothing}}] [{{empty}}]', '12.5 0 true false [] []')
test(renders, '{{first-name}} {{.Größe}} {{.end}}', 'Augusta L the end')
test(renders, '{{if .name}}yes{{end}}{{if .zero}}no{{end}}{{if .missing}}no{{end}}', 'yes')
test(renders, '{{if .order}}o{{end}}{{if .none}}n{{else}}-{{end}}{{if .letters}}l{{end}}{{if .nothing}}x{{end}}{{if empty}}x{{end}}', 'o-l')
test(renders, '{{if .no}}1{{else if .zero}}2{{else if .yes}}3{{else}}4{{end}}', '3')
test(renders, '{{if .no}}1{{else if .zero}}2{{else}}4{{end}}', '4')
test(renders, '{{range .letters}}<{{.}}>{{end}}', '<a><b>')
test(
  renders,
  '{{range .items}}{{.title}}:{{range .tags}}{{.}} of {{$.name}},{{else}}none{{end}};{{end}}',
  'Pen:blue of Ada,new of Ada,;Ink:none;',
)
test(renders, '{{range .none}}x{{else}}nothing for {{.name}}{{end}}', 'nothing for Ada')
test(renders, '{{range .nothing}}x{{else}}nothing{{end}}', 'nothing')
test(renders, '{{range .items}}{{if .tags}}{{.title}}{{else}}({{.title}}){{end}}{{end}}', 'Pen(Ink)')
test(renders, 'a \n {{- name -}} \r\n\t b', 'aAdab')
test(renders, 'a {{-name-}} b', 'aAdab')
test(renders, 'a {{- "" -}}  {{- "" -}} b', 'ab')
test(renders, '  {{- if .yes -}}  in  {{- end -}}  ', 'in')
test(renders, 'a{{/* a }} comment {{ */}}b {{- /* trims */ -}} c', 'abc')
test(renders, '{{"{{"}} name }}', '{{ name }}')

test("render(): escapes values for HTML, not the template's text", (t) => {
  const values = { name: `<b onclick="x('1')">&amp;` }
  t.is(fill('<p>{{.name}}</p>', values, { escape: escapeHtml }), '<p>&lt;b onclick=&quot;x(&#39;1&#39;)&quot;&gt;&amp;amp;</p>')
})

test('render(): keeps a value in a subject on its line', (t) => {
  const values = { name: 'Ada\r\nBcc: eve@example.ch\u0000\u0085\u2028x' }
  t.is(fill('Hello {{.name}}', values, { escape: onOneLine }), 'Hello Ada Bcc: eve@example.ch x')
})

test('render(): braces in a value are text', (t) => {
  t.is(fill('{{.a}}', { a: '{{.b}}{{end}}', b: 'no' }), '{{.b}}{{end}}')
})

test('render(): reaches only own fields of objects', (t) => {
  const words = ['__proto__', 'constructor', 'prototype', 'toString', 'length', 'hasOwnProperty', '__defineGetter__']
  for (const word of words) {
    for (const path of [word, `list.${word}`, `text.${word}`, `object.${word}`, `object.constructor.${word}`, `object.${word}.name`])
      t.is(fill(`[{{if .${path}}}reached{{end}}{{.${path}}}]`, { list: [1], text: 'abc', object: {} }, { strict: false }), '[]', path)
  }
  t.is(fill('{{.__proto__.x}}', JSON.parse('{"__proto__": {"x": "own"}}')), 'own')
})

test('render(): without strict, missing values render as empty', (t) => {
  t.is(fill('[{{.a}}{{.a.b}}{{range .c}}x{{end}}]', {}, { strict: false }), '[]')
})

const faulty = test.macro({
  exec(t: ExecutionContext, source: string, expected: string) {
    t.is(faultOf(t, source, order), expected)
  },
  title: (_, source, expected) => `refuses ${JSON.stringify(source)}: ${expected}`,
})
const noFunctions = 'is not supported; write one variable such as {{.name}}, without functions'
const noName = 'is no variable; names have letters, digits, _ and -, and dots between them'

test(faulty, 'a\nb {{.name', '2:3: {{ is never closed; end it with }}')
test(faulty, '{{.name {{.order}}', '1:3: {{ is never closed; end it with }}')
test(faulty, 'a {{/* b }}', '1:3: the comment is never closed; end it with */}}')
test(faulty, '{{/* b */ c}}', '1:8: nothing may follow in the braces of a comment; end it with */}}')
test(faulty, '{{}}', '1:1: the braces are empty; write a variable such as {{.name}}')
test(faulty, 'x{{-}}', '1:2: the braces are empty; write a variable such as {{.name}}')
test(faulty, '{{{name}}}', '1:3: three braces are not supported; values are always escaped in HTML')
test(faulty, '{{#if name}}', '1:3: #if name is not supported; write {{if .name}} or {{range .items}}, and {{end}}')
test(faulty, '{{/if}}', '1:3: /if is not supported; write {{if .name}} or {{range .items}}, and {{end}}')
test(faulty, '{{.name | upper}}', `1:3: .name | upper ${noFunctions}`)
test(faulty, '{{with .order}}', `1:3: with .order ${noFunctions}`)
test(faulty, '{{if eq .name "Ada"}}x{{end}}', `1:6: eq .name "Ada" ${noFunctions}`)
test(faulty, '{{range $i, $e := .items}}x{{end}}', `1:9: $i, $e := .items ${noFunctions}`)
test(faulty, '{{.1st}}', `1:3: .1st ${noName}`)
test(faulty, '{{a..b}}', `1:3: a..b ${noName}`)
test(faulty, '{{$name}}', `1:3: $name ${noName}`)
test(faulty, '{{..}}', `1:3: .. ${noName}`)
test(faulty, `{{${'x'.repeat(101)}}}`, `1:3: ${'x'.repeat(39)}… ${noName}`)
test(faulty, `{{${'a.'.repeat(10)}a}}`, '1:3: a variable has at most 10 names joined by dots')
test(faulty, '{{if}}', '1:5: if needs a variable, such as {{if .name}}')
test(faulty, '{{if .a}}{{else if}}{{end}}', '1:19: else if needs a variable, such as {{else if .name}}')
test(faulty, '{{if .a}}{{else unless .b}}{{end}}', '1:12: else unless .b is not supported; write {{else}} or {{else if .name}}')
test(faulty, '{{if .a}}\n{{if .b}}{{end}}', '1:3: this if is never ended; write {{end}}')
test(faulty, 'x{{end}}', '1:4: end without an if or range before it')
test(faulty, '{{else}}', '1:3: else without an if or range before it')
test(faulty, '{{else if .a}}', '1:3: else if without an if or range before it')
test(faulty, '{{if .a}}{{end if}}', '1:12: end takes no argument; remove if')
test(faulty, '{{if .a}}{{else}}{{else}}{{end}}', '1:20: this if has an else already')
test(faulty, '{{if .a}}{{else}}{{else if .b}}{{end}}', '1:20: else if comes after else; else is the last branch')
test(faulty, '{{range .a}}{{else if .b}}{{end}}', '1:15: else if belongs to if; a range has {{else}} only, for an empty list')
test(faulty, '{{if .yes}}'.repeat(11), '1:113: if and range nest deeper than 10 levels')

test(faulty, 'a\n  {{.nobody}}', '2:5 nobody: is missing')
test(faulty, '{{.name.first}}', '1:3 name.first: is missing')
test(faulty, '{{range .nobody}}{{else}}{{end}}', '1:9 nobody: is missing')
test(faulty, '{{range .items}}{{.title}}{{.price}}{{end}}', '1:29 items[0].price: is missing')
test(faulty, '{{.order}}', '1:3 order: is an object; print one of its fields')
test(faulty, '{{.items}}', '1:3 items: is a list; iterate over it with range')
test(faulty, '{{.}}', '1:3 : is an object; print one of its fields')
test(faulty, '{{range .order}}{{end}}', '1:9 order: must be a list')
test(faulty, '{{range .items}}{{range .title}}{{end}}{{end}}', '1:25 items[0].title: must be a list')

test('render(): bounds the size before and after escaping', (t) => {
  t.is(fill('{{.a}}', { a: 'x'.repeat(10_000) }).length, 10_000)
  t.is(faultOf(t, ' {{.a}}', { a: 'x'.repeat(10_000) }), '1:4: comes to more than 10000 characters')
  t.is(faultOf(t, '{{.a}}', { a: '<'.repeat(3_000) }, { escape: escapeHtml }), '1:3: comes to more than 10000 characters')
  t.is(faultOf(t, 'x'.repeat(10_001)), '1:1: comes to more than 10000 characters')
})

test('render(): bounds all loops together, including nested loops', (t) => {
  const list = Array.from({ length: 100 }, () => ({}))
  t.is(fill('{{range .list}}{{range $.list}}{{end}}{{end}}', { list: list.slice(1) }), '')
  t.is(faultOf(t, '{{range .list}}{{range $.list}}{{end}}{{end}}', { list }), '1:24: goes through its loops more than 10000 times')
})

test('render(): bounds the work even without output', (t) => {
  const list = Array.from({ length: 9_000 }, () => 0)
  t.regex(faultOf(t, `{{range .list}}${'{{if $.no}}{{end}}'.repeat(30)}{{end}}`, { list }), /: takes more than 200000 steps$/)
  const chain = `{{if .no}}${'{{else if $.no}}'.repeat(30)}{{end}}`
  t.regex(faultOf(t, `{{range .list}}${chain}{{end}}`, { list }), /: takes more than 200000 steps$/)
})
