/** What is marked in the preview of a reply: nothing but the words of the template stands without a mark. */
import test from 'ava'
import { filledIn } from '../../../../admin-api/dashboard/client/submission/filled-in.ts'

const marked = (source: string, rendered: string): string =>
  filledIn(source, rendered)
    .map(({ text, isFilledIn }) => (isFilledIn ? `[${text}]` : text))
    .join('')

test('values are marked, words of the template are not', (t) => {
  t.is(marked('Dear {{.fields.name}},\n{{.note}}', 'Dear Ruth,\nCome in'), 'Dear [Ruth],\n[Come in]')
  t.is(marked('{{.a}} and {{.b}}.', 'one and two.'), '[one] and [two].')
  t.is(marked('No variable', 'No variable'), 'No variable')
  t.is(marked('Dear {{.name}}', 'Dear '), 'Dear ')
})

test('a value that repeats the words behind it makes none of its own words look like those of the template', (t) => {
  t.is(marked('{{.a}} costs {{.b}} francs', 'It costs 9 costs 5 francs'), '[It] costs [9 costs 5] francs')
})

test('what cannot be followed is not marked: branches, lists, values side by side, other texts', (t) => {
  for (const [source, rendered] of [
    ['{{if .a}}yes{{end}}', 'yes'],
    ['{{range .list}}{{.}}{{end}}', 'abc'],
    ['{{- .a}} x', 'b x'],
    ['{{.a}}{{.b}}', 'xy'],
    ['Dear {{.a}}!', 'Another text'],
  ] as const)
    t.is(marked(source, rendered), rendered)
})
