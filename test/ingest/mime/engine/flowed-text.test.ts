/** Paragraphs of flowed text (RFC 3676). */
import test from '#test'
import { unflowed } from '#ingest/mime/engine/flowed-text.ts'

const cases: readonly (readonly [string, string, string])[] = [
  ['joins lines that end with a blank', 'a \r\nb \nc\nd', 'a b c\nd'],
  ['joins quotes of one depth', '> a \n> b\n>> c \n>> d', '> a b\n>> c d'],
  ['ends a paragraph where the depth changes', '> a \n>> b \nc', '> a \n>> b \nc'],
  ['removes the blank that stuffs a line', ' From x\n > y\n>  z', 'From x\n> y\n>  z'],
  ['keeps the line before a signature', 'a \n-- \nb', 'a \n-- \nb'],
  ['keeps a quoted signature', '> a \n> -- \n> b', '> a \n> -- \n> b'],
  ['keeps empty lines and the last line end', 'a\n\n>\n> \nb\n', 'a\n\n>\n>\nb\n'],
  ['keeps a text that flows at its end', 'a ', 'a '],
]
for (const [criterion, text, expected] of cases) test(`unflowed() ${criterion}`, (t) => t.is(unflowed(text, false), expected))

test('unflowed() deletes the blank of soft line breaks', (t) => t.is(unflowed('年 \n末 \n\na  \nb', true), '年末\na b'))
