/** Both sides of every limit: the last permitted value, and the first value beyond it. */
import test from '#test'
import { gradeOf } from '#ingest/inspect/score.ts'
import { alternative, now, type Changes, type Header } from './golden.ts'
import { prove, type Fixture } from './one-check.ts'
import type { CheckId } from '#ingest/inspect/checks/verdict.ts'

const text = 'The blue teapot that you ordered is on its way to you and will arrive on Monday morning.'
const header = (fields: Header): Changes => ({ header: fields })
const after = (ms: number): Changes => header({ Date: new Date(now + ms).toUTCString().replace('GMT', '+0000') })
const html = (markup: string): Changes => ({ body: alternative(text, `<p>${text}</p>${markup}`) })
const links = (count: number): Changes =>
  html(Array.from({ length: count }, (_, at) => `<a href="https://h${at}.example.com/">Shop</a>`).join(''))
/** HTML whose decoded size is this number of octets. */
const markup = (octets: number): Changes => {
  const start = `<p>${text}</p><!-- `
  const lines = '12345678\r\n'.repeat(Math.ceil(octets / 10)).slice(0, octets - start.length - 4)
  return { body: alternative(text, `${start}${lines.replace(/[\r\n]+$/, (end) => '9'.repeat(end.length))} -->`) }
}
/** A message of this size in octets. */
const letterOf = (octets: number): Changes => ({
  ...header({ 'Content-Type': 'text/plain' }),
  ...{ body: 'Hello\r\n', sign: () => '' },
  after: (message) => {
    const missing = octets - message.length
    return `${message}${`${'x'.repeat(70)}\r\n`.repeat(Math.floor(missing / 72))}${'y'.repeat(missing % 72)}`
  },
})
const words = (count: number): Changes => ({
  body: alternative(text, `<img src="https://www.example.com/a.png" alt="Pot"><p>${'word '.repeat(count)}</p>`),
})
const hidden = (count: number): Changes => html(`<div style="display:none">${'x'.repeat(count)}</div>`)
const sized = (size: string): Changes => html(`<p style="font-size:${size}">small</p>`)

interface Border {
  readonly check: CheckId
  readonly what: string
  readonly fine: Changes
  readonly beyond: Changes
  readonly pass: number
  readonly less: Pick<Fixture, 'status' | 'points'>
}
const border = (check: CheckId, pass: number, less: number, what: string, fine: Changes, beyond: Changes): Border => ({
  ...{ check, what, fine, beyond, pass },
  less: less === 0 ? { status: 'fail', points: 0 } : { status: 'warn', points: less },
})

const borders: readonly Border[] = [
  border('headers', 8, 0, '998 octets in a line', header({ 'X-Long': 'x'.repeat(990) }), header({ 'X-Long': 'x'.repeat(991) })),
  border('headers', 8, 6, 'a Date of a day ago', after(-86_400_000), after(-86_400_000 - 6000)),
  border('headers', 8, 6, 'a Date in ten minutes', after(595_000), after(606_000)),
  border(
    ...(['headers', 8, 6, '50 addresses in To'] as const),
    header({ To: Array.from({ length: 50 }, (_, at) => `a${at}@b.test`).join(',\r\n ') }),
    header({ To: Array.from({ length: 51 }, (_, at) => `a${at}@b.test`).join(',\r\n ') }),
  ),
  border(
    ...(['headers', 8, 6, '64 KiB of header'] as const),
    header({ 'X-Long': Array.from({ length: 71 }, () => 'x'.repeat(900)).join('\r\n ') }),
    header({ 'X-Long': Array.from({ length: 73 }, () => 'x'.repeat(900)).join('\r\n ') }),
  ),
  border(
    ...(['subject_and_sender', 4, 3, '150 characters of subject'] as const),
    header({ Subject: `${'a '.repeat(74)}bb` }),
    header({ Subject: `${'a '.repeat(75)}b` }),
  ),
  border(
    ...(['subject_and_sender', 4, 3, 'half capitals in ten letters'] as const),
    header({ Subject: 'ABCDE fghij' }),
    header({ Subject: 'ABCDEF ghij' }),
  ),
  border(
    ...(['subject_and_sender', 4, 3, 'capitals in nine letters'] as const),
    header({ Subject: 'ABCDEFGHI' }),
    header({ Subject: 'ABCDEFGHIJ' }),
  ),
  border(
    ...(['subject_and_sender', 4, 3, 'two dollar signs'] as const),
    header({ Subject: 'Save $$ now' }),
    header({ Subject: 'Save $$$ now' }),
  ),
  border(
    ...(['subject_and_sender', 4, 3, 'two emoji'] as const),
    header({ Subject: '=?utf-8?Q?Hi_=F0=9F=8E=89=F0=9F=8E=89?=' }),
    header({ Subject: '=?utf-8?Q?Hi_=F0=9F=8E=89=F0=9F=8E=89=F0=9F=8E=89?=' }),
  ),
  border('mime_structure', 6, 4, '102,400 octets of HTML', markup(102_400), markup(102_401)),
  border('mime_structure', 6, 4, '10 MiB', letterOf(10 * 1024 * 1024), letterOf(10 * 1024 * 1024 + 1)),
  border(
    ...(['mime_structure', 6, 4, '998 octets in a line of the body'] as const),
    html(`<p>${'x'.repeat(991 - text.length - 7)}</p>`),
    html(`<p>${'x'.repeat(992 - text.length - 7)}</p>`),
  ),
  border('html_content', 3, 2, '25 words with an image', words(25), words(24)),
  border('html_content', 3, 2, '200 hidden characters', hidden(200), hidden(201)),
  border('html_content', 3, 2, 'text of two pixels', sized('2px'), sized('1.9px')),
  border('links', 4, 3, '30 hosts', links(30), links(31)),
]

for (const { check, what, fine, beyond, pass, less } of borders)
  prove(check, [
    { what: `the limit of ${what}`, status: 'pass', points: pass, changes: fine },
    { what: `a value beyond ${what}`, ...less, changes: beyond },
  ])

const tracked = (host: string, count: number): Changes => ({
  body: alternative(
    `${text} https://www.example.com/unsubscribe`,
    `<p>${text}</p>${Array.from({ length: count }, (_, at) => `<a href="https://h${at}.test/">Shop</a>`).join('')}<a href="https://${host}/">Shop</a>`,
  ),
  zone: { [`${host}.minor.domain.test A`]: ['127.0.0.2'] },
})
prove('domain_blocklist', [
  { what: 'a listed host at place 20', status: 'warn', points: 2, changes: tracked('bad.test', 19) },
  { what: 'a listed host at place 21', status: 'pass', points: 5, changes: tracked('bad.test', 20) },
])

test('grades begin at 90, 80, 65 and 50 points', (t) => {
  t.deepEqual([100, 90, 89, 80, 79, 65, 64, 50, 49, 0].map(gradeOf), ['A', 'A', 'B', 'B', 'C', 'C', 'D', 'D', 'F', 'F'])
})
