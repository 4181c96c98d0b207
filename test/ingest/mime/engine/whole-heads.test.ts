/** Headers that end too late or announce missing parts, and the corrected form for mailparser. */
import test from '#test'
import { withWholeHeads } from '#ingest/mime/engine/whole-heads.ts'

const mended = (text: string): [string, readonly string[]] => {
  const { octets, faults } = withWholeHeads(Buffer.from(text, 'latin1'))
  return [octets.toString('latin1'), faults]
}

test('withWholeHeads() keeps correct messages octet by octet', (t) => {
  for (const text of [
    '',
    '\r\n',
    'Subject: x',
    'Subject: x\r\n\tmore\r\n',
    '\r\nSubject: x\r\n\r\n',
    'From ana Sat Nov 21\nSubject: x\n\nHello\nno field\n',
    'Subject: x\r\nno field\r\nTo: a@b.example\r\n\r\nHello',
    'Subject : x\r\n\r\n--b\r\n',
    'Content-Type: text/plain; charset=utf-8\r\n\r\nx',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: text/html\r\n--b--\r\n',
  ])
    t.deepEqual(mended(text), [text, []])
})

test('withWholeHeads() begins the body at lines after the last field', (t) => {
  for (const [before, after] of [
    ['Subject: x\r\n', 'Hello\r\nthere\r\n'],
    ['Subject: x\r\n', 'Hello\r\n\r\nthere: now\r\n'],
    ['Subject: x\r\n \r\n', 'Hello'],
    ['Subject: x\n', 'https://shop.example/\n'],
    ['Subject: x\n', 'Hello\n there\n'],
    ['', 'Hello'],
  ] as const)
    t.deepEqual(mended(before + after), [
      `${before}${after.includes('\r') || before.includes('\r') ? '\r\n' : '\n'}${after}`,
      ['unended_header'],
    ])
})

test('withWholeHeads() begins the body at a delimiter line, and reads the parts that follow', (t) => {
  const [head, part] = ['Content-Type: multipart/mixed; boundary=b\r\n', '--b\r\nContent-Type: text/plain\r\n']
  t.deepEqual(mended(`${head}${part}Hello\r\n\r\n--b--\r\n`), [`${head}\r\n${part}\r\nHello\r\n\r\n--b--\r\n`, ['unended_header']])
  t.deepEqual(mended(`${head}\r\n--b\r\nHello\r\n--b--\r\n`), [`${head}\r\n--b\r\n\r\nHello\r\n--b--\r\n`, ['unended_header']])
})

test('withWholeHeads() converts a multipart without a delimiter line to text', (t) => {
  const [to, body] = ['Content-Type: text/plain', '\r\n\r\n--c\r\n\r\nHello\r\n--c--\r\n']
  for (const [type, text] of [
    ['Content-Type: multipart/mixed; boundary=b', `${to}; x-boundary=b`],
    ['Content-Type: multipart/mixed;\r\n\tcharset=utf-8;\r\n\tboundary*=b', `${to};\r\n\tcharset=utf-8;\r\n\tx-boundary*=b`],
    ['Content-Type: multipart/mixed, boundary=c', to],
    ['content-type : Multipart/Alternative', 'content-type : text/plain'],
  ] as const)
    t.deepEqual(mended(type + body), [text + body, ['no_delimiter']])
  const outer = (inner: string): string => `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${inner}\r\n\r\nHello\r\n--b--\r\n`
  t.deepEqual(mended(outer('Content-Type: multipart/related; boundary=c')), [outer(`${to}; x-boundary=c`), ['no_delimiter']])
})

test('withWholeHeads() removes the boundary of types without parts', (t) => {
  const page = (parameter: string): string => `Content-Type: text/html; ${parameter}=b; name="a; b"\r\n\r\n--b\r\n\r\n<p>x</p>\r\n--b--\r\n`
  t.deepEqual(mended(page('boundary')), [page('x-boundary'), []])
})

test('withWholeHeads() reads only as many headers as mailparser accepts', (t) => {
  const many = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nx\r\n\r\n'.repeat(3000)}`
  t.true(mended(many)[0].length - many.length < 4000)
})
