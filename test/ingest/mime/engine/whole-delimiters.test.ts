/** Delimiter lines in the forms of real programs, and the corrected form for mailparser. */
import test from '#test'
import { WholeDelimiters } from '#ingest/mime/engine/whole-delimiters.ts'

const mended = (text: string): [string, boolean] => {
  const pass = new WholeDelimiters(Buffer.from(text, 'latin1'))
  const whole = Buffer.concat([...pass.pieces()]).toString('latin1')
  return [whole, pass.isUnclosed]
}
const multi = (boundary: string, ...lines: string[]): string =>
  [`Content-Type: multipart/mixed; boundary=${boundary}`, '', ...lines, ''].join('\r\n')

test('WholeDelimiters removes padding from each delimiter line of an open multipart', (t) => {
  const [text] = mended(multi('b', '--b  ', '', 'x', '-- ', '--b\t', '', '--c ', '--b-- \t', '--b ', 'end'))
  t.is(text, multi('b', '--b', '', 'x', '-- ', '--b', '', '--c ', '--b--', '--b ', 'end'))
})

test('WholeDelimiters keeps correct messages octet by octet', (t) => {
  for (const text of [
    'Subject: x\r\n\r\n--b \r\n',
    multi('b', '--b', '', 'x', '--b--'),
    multi('a', '--a', multi('b', '--b', '', 'x', '--b--'), '--a--', 'epilogue', '--a ', '--b '),
    multi('b', '--b-- ', '--b', '', '\xff\0', '--b--'),
    '',
    '\n',
    '--b ',
  ])
    t.deepEqual(mended(text), [text, false])
})

test('WholeDelimiters closes inner multiparts at an outer delimiter', (t) => {
  const inner = multi('b', '--b', multi('c', '--c', '', 'x').trimEnd())
  const [text, isUnclosed] = mended(multi('a', '--a', `${inner.trimEnd()}`, '--a ', '', 'y', '--a--'))
  t.is(text, multi('a', '--a', inner.trimEnd(), '--c--', '--b--', '--a', '', 'y', '--a--'))
  t.true(isUnclosed)
})

test('WholeDelimiters reports a multipart that the end of the message leaves open', (t) => {
  t.deepEqual(mended(multi('b', '--b', '', 'x')), [multi('b', '--b', '', 'x'), true])
  t.deepEqual(mended(multi('b', 'x')), [multi('b', 'x'), false])
  t.deepEqual(mended('Content-Type: multipart/mixed; boundary=b\n\n--b \n\nx\n--b-- '), [
    'Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--',
    false,
  ])
})

test('WholeDelimiters reports text after the last part of a multipart', (t) => {
  const hasEpilogue = (text: string): boolean => {
    const pass = new WholeDelimiters(Buffer.from(text))
    return [...pass.pieces()].length > 0 && pass.hasEpilogue
  }
  const inner = (after: string): string => multi('a', '--a', multi('b', '--b', '', 'x', '--b--', after), '--a', '', 'y', '--a--', ' \r\n')
  t.deepEqual([inner(''), inner('end'), multi('b', 'intro', '--b', '', 'x', '--b--')].map(hasEpilogue), [false, true, false])
  t.deepEqual([multi('b', '--b', '', 'x', '--b--', '', 'end'), multi('b', '--b', '', 'x')].map(hasEpilogue), [true, false])
})

test('WholeDelimiters opens no part at a delimiter that ends the message without a line end', (t) => {
  const cut = multi('b', '--b', '', 'x', '--b').trimEnd()
  t.deepEqual(mended(cut), [`${cut}--`, true])
  t.deepEqual(mended(`${cut}-`), [`${cut}-`, true])
  t.deepEqual(mended(multi('b', '--b').trimEnd()), [multi('b', '--b').trimEnd(), true])
  t.deepEqual(mended(multi('--', '----', '', 'x', '------').trimEnd())[1], false)
})

test('WholeDelimiters replaces runs of carriage returns with spaces, in headers only', (t) => {
  const lines = (run: string): string =>
    `X: a${run}b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\r\r\r\n--b\r\nY:${run}\r\n\r\n\r\r\r\n--b--\r\n`
  t.is(mended(lines('\r\r\r'))[0], lines(' ').replace('Y: \r\n', 'Y: \n'))
  t.is(mended('X: a\rb\r\n\r\n\r\r')[0], 'X: a\rb\r\n\r\n\r\r')
})

test('WholeDelimiters reads one boundary at two levels, inner first', (t) => {
  const twice = (pad: string): string =>
    multi('b', `--b${pad}`, multi('b', `--b${pad}`, '', 'x', `--b--${pad}`).trimEnd(), `--b${pad}`, '', 'y', `--b--${pad}`)
  t.deepEqual(mended(twice('  ')), [twice(''), false])
})

test('WholeDelimiters reads boundaries in each spelling of the parameter', (t) => {
  const spelled = (field: string, boundary: string): string => `${field}\r\n\r\n--${boundary} \r\n\r\nx\r\n--${boundary}-- \r\n`
  for (const [field, boundary] of [
    ['content-type : multipart/mixed; BOUNDARY = "a b"', 'a b'],
    ['Content-Type: multipart/mixed;\r\n\tcharset="x;y"; boundary="a\\"b"', 'a"b'],
    ['Content-Type: multipart/mixed; boundary=a=_b; type=x', 'a=_b'],
    ['Content-Type: multipart/mixed; boundary="a', 'a'],
    ['X: y\r\nContent-Type: multipart/mixed;boundary=--a--', '--a--'],
  ] as const)
    t.is(mended(spelled(field, boundary))[0], spelled(field, boundary).replaceAll(' \r\n', '\r\n'), field)
  t.is(mended(spelled('Content-Type: multipart/mixed; boundary="a "', 'a'))[0].split('\r\n')[2], '--a ')
})

test('WholeDelimiters reads only embedded messages that mailparser opens', (t) => {
  const message = (disposition: string): string =>
    multi(
      'a',
      '--a',
      'Content-Type: message/rfc822',
      `Content-Disposition: ${disposition}`,
      '',
      multi('b', '--b ', '', 'x', '--b-- '),
      '--a--',
    )
  t.is(mended(message('inline'))[0], message('inline').replaceAll(/--b(--)? /g, '--b$1'))
  t.is(mended(message('attachment'))[0], message('attachment'))
})
