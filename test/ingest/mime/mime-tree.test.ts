import test from '#test'
import { BrokenMime, parseParameterized, withoutComments } from '#ingest/mime/mime-head.ts'
import { placedParts } from '#ingest/mime/mime-tree.ts'
import { growsLinearly } from '../../support/measure/growth.ts'
import { column } from '../../support/column.ts'

const mail = (...lines: readonly string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')
const bodies = (raw: Buffer) => placedParts(raw).map(({ type, bodyStart, bodyEnd }) => [type, raw.toString('latin1', bodyStart, bodyEnd)])
const broken = { instanceOf: BrokenMime }

const nested = mail(
  'Subject: x',
  'Content-Type: multipart/mixed; boundary=outer',
  '',
  'preamble',
  '--outer',
  'Content-Type: multipart/alternative;',
  ' boundary="in ner"',
  '',
  '--in ner',
  '',
  'text',
  '--in ner  ',
  'Content-Type: TEXT/HTML; charset=utf-8',
  'Content-Transfer-Encoding: 8BIT (as is)',
  '',
  '<p>--outer--</p>',
  '',
  '--in ner--',
  'epilogue',
  '--outer',
  'Content-Type: text/html; name=page.html',
  '',
  'file',
  '--outer',
  'Content-Type: message/rfc822',
  '',
  'Content-Type: text/html',
  '',
  'inside',
  '--outer--',
  'epilogue',
  '',
)

test('placedParts() gives every part with the place of its body', (t) => {
  t.deepEqual(bodies(nested).slice(2), [
    ['text/plain', 'text'],
    ['text/html', '<p>--outer--</p>\r\n'],
    ['text/html', 'file'],
    ['message/rfc822', 'Content-Type: text/html\r\n\r\ninside'],
  ])
  const parts = placedParts(nested)
  t.deepEqual(column(parts, 'attached'), [false, false, false, false, true, false])
  t.is(parts[3]?.encoding, '8bit')
  t.is(parts[3]?.parameters.get('charset'), 'utf-8')
})

test('placedParts() returns the place of every field', (t) => {
  const [part] = placedParts(nested)
  for (const { name, start, end } of part?.fields ?? []) {
    const field = nested.toString('latin1', start, end)
    t.true(field.toLowerCase().startsWith(`${name}:`) && field.endsWith('\r\n'), field)
  }
  const folded = placedParts(mail('A: 1', 'Subject: one', '\ttwo', 'B: 2', '', ''))[0]?.fields[1]
  t.is(folded?.value, 'one\ttwo')
})

test('placedParts() reads messages without MIME, without body and without header', (t) => {
  t.deepEqual(bodies(mail('Subject: x', '', 'hi', '')), [['text/plain', 'hi\r\n']])
  t.deepEqual(bodies(mail('Subject: x')), [['text/plain', '']])
  t.deepEqual(bodies(mail('', 'body')), [['text/plain', 'body']])
  t.deepEqual(bodies(mail('Content-Type: multipart/mixed; boundary=b', '', '--b', '--b', 'X: y', '--b--')).slice(1), [
    ['text/plain', ''],
    ['text/plain', ''],
  ])
})

test('placedParts() marks parts with a name, unknown disposition or attached parent', (t) => {
  const attached = (...fields: readonly string[]) => placedParts(mail('Content-Type: text/html', ...fields, '', 'x'))[0]?.attached
  t.false(attached())
  t.false(attached('Content-Disposition: inline'))
  t.true(attached('Content-Disposition: attachment'))
  t.true(attached('content-disposition: ATTACHMENT; filename=x.html'))
  t.true(attached('Content-Disposition: inline; filename="x.html"'))
  t.true(attached("Content-Disposition: inline; filename*=utf-8''x.html"))
  t.true(attached('Content-Disposition: x-unknown'))
  const inside = [
    'Content-Type: multipart/mixed; boundary=b',
    'Content-Disposition: attachment',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    'x',
    '--b--',
  ]
  t.true(placedParts(mail(...inside))[1]?.attached)
})

test('placedParts() refuses ambiguous messages', (t) => {
  const type = 'Content-Type: multipart/mixed; boundary=b'
  const cases: readonly (readonly string[])[] = [
    ['Content-Type: multipart/mixed', '', '--b', '', 'x', '--b--'],
    ['Content-Type: multipart/mixed; boundary=""', '', '--', '', 'x', '----'],
    [`Content-Type: multipart/mixed; boundary=${'b'.repeat(71)}`, '', 'x'],
    [type, '', 'no part'],
    [type, '', '--b', '', 'no end'],
    [type, 'Content-Transfer-Encoding: base64', '', '--b', '', 'x', '--b--'],
    [type, 'Content-Type: text/html', '', 'x'],
    ['Content-Type: multipart/mixed; boundary=a; boundary=b', '', '--b', '', 'x', '--b--'],
    ['Content-Transfer-Encoding: 7bit', 'Content-Transfer-Encoding: base64', '', 'x'],
    ['Content-Type: text/html; charset', '', 'x'],
    ['Content-Type: text/html; charset="utf-8', '', 'x'],
    ['Content-Type: text/html (comment', '', 'x'],
    ['no field', '', 'x'],
    [' begins with a blank', '', 'x'],
    ['Subject: a\nContent-Type: text/html', '', 'x'],
    ['Subject: a\rb', '', 'x'],
    [`Subject: ${'x'.repeat(300_000)}`, '', 'x'],
    [type, '', '--bx\r\n'.repeat(10_001), '--b', '', 'x', '--b--'],
    [type, '', ...Array.from({ length: 1001 }, () => ['--b', '', 'x']).flat(), '--b--'],
  ]
  for (const lines of cases) t.throws(() => placedParts(mail(...lines)), broken, lines.slice(0, 4).join('|').slice(0, 100))
  let deep: readonly string[] = ['', 'x']
  for (let at = 0; at < 22; at++) deep = [`Content-Type: multipart/mixed; boundary=b${at}-`, '', `--b${at}-`, ...deep, `--b${at}---`]
  t.throws(() => placedParts(mail(...deep)), broken)
})

test('parseParameterized() and withoutComments() read what RFC 2045 §5.1 allows', (t) => {
  const read = (text: string) => {
    const { value, parameters } = parseParameterized(text)
    return [value, Object.fromEntries(parameters)]
  }
  t.deepEqual(read('text/HTML'), ['text/html', {}])
  t.deepEqual(read(' text/html ; Charset = "UTF-8" ;'), ['text/html', { charset: 'UTF-8' }])
  t.deepEqual(read('multipart/x; boundary="a\\"b;c"; y=z'), ['multipart/x', { boundary: 'a"b;c', y: 'z' }])
  t.deepEqual(read('multipart/x; boundary=----=_Next:1/2?'), ['multipart/x', { boundary: '----=_Next:1/2?' }])
  t.deepEqual(read('text/plain (a (b) \\) c); charset=us-ascii (d)'), ['text/plain', { charset: 'us-ascii' }])
  t.is(withoutComments('"(no)" (yes)x'), '"(no)" x')
})

test('placedParts() takes time in proportion to the message', (t) => {
  const type = 'Content-Type: multipart/mixed; boundary=b'
  t.true(growsLinearly((size) => placedParts(mail(type, '', '--x\r\n'.repeat(size), '--b', '', '--b--'))))
  t.true(growsLinearly((size) => placedParts(mail(type, '', '--b', '', 'x'.repeat(size), '--b--'))))
})
