/** Marks in the preview of a reply: everything except the words of the template is marked. */
import test from '#test'
import { filledIn } from '../../../../admin-api/dashboard/client/submission/filled-in.ts'
import { parseTemplate } from '#core/templates/parser.ts'
import { onOneLine, renderMarked } from '#core/templates/renderer.ts'

function marked(source: string, variables: Readonly<Record<string, unknown>>): string {
  const { text, filled } = renderMarked(parseTemplate(source), variables, { escape: onOneLine, strict: false, maxCharacters: 1000 })
  return filledIn(
    text,
    filled.map(([start, end]) => ({ start, end })),
  )
    .map((part) => (part.isFilledIn ? `[${part.text}]` : part.text))
    .join('')
}

test('filledIn(): marks values, not template text', (t) => {
  t.is(marked('Dear {{.fields.name}},\n{{.note}}', { fields: { name: 'Ruth' }, note: 'Come in' }), 'Dear [Ruth],\n[Come in]')
  t.is(marked('{{.a}}{{.b}}.', { a: 'one', b: 'two' }), '[one][two].')
  t.is(marked('No variable', {}), 'No variable')
})

test('filledIn(): marks all of a value that repeats the following template text', (t) => {
  t.is(marked('{{.a}} costs {{.b}} francs', { a: 'It costs 9', b: 5 }), '[It costs 9] costs [5] francs')
})

test('filledIn(): marks values in branches and lists; empty values have empty marks', (t) => {
  t.is(marked('{{if .a}}Yes, {{.a}}{{else}}No{{end}}!', { a: 'Ada' }), 'Yes, [Ada]!')
  t.is(marked('{{range .list}}- {{.}}\n{{end}}', { list: ['a', 'b'] }), '- [a]\n- [b]\n')
  t.is(marked('Dear {{.name}}, {{- .a }}', { a: 'b' }), 'Dear [],[b]')
})
