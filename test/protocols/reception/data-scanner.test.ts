import test from '#test'
import { maxLineOctets } from '#core/submission/whole/whole-limits.ts'
import { DataScanner } from '../../../protocols/reception/data-scanner.ts'

interface Read {
  readonly content: string
  /** Octets after the final dot; undefined without one. */
  readonly rest: string | undefined
}

/** Feeds the octets in the given pieces, like DATA. */
function read(pieces: readonly string[]): Read & { readonly scanner: DataScanner } {
  const scanner = new DataScanner()
  let content = ''
  for (const [index, piece] of pieces.entries()) {
    const chunk = Buffer.from(piece, 'latin1')
    const scanned = scanner.scan(chunk)
    content += scanned.content.toString('latin1')
    if (scanned.end >= 0) {
      return { content, rest: chunk.subarray(scanned.end).toString('latin1') + pieces.slice(index + 1).join(''), scanner }
    }
  }
  return { content, rest: undefined, scanner }
}

/** Reads the whole message as the standard says: RFC 5321 §4.1.1.4, §4.5.2. */
function readWhole(octets: string): Read {
  const end = `\r\n${octets}`.indexOf('\r\n.\r\n')
  if (end < 0) return { content: '', rest: undefined }
  const lines = octets.slice(0, end).split('\r\n')
  const content = lines.map((line) => line.replace(/^\./, '').replaceAll(/[\r\n]/g, '\r\n')).join('\r\n')
  return { content, rest: octets.slice(end + 3) }
}

const splits = (text: string): string[][] =>
  Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)].filter(Boolean))

test('DataScanner.scan(): all short texts match the standard, whole and split', (t) => {
  const end = '\r\n.\r\n*'
  let checked = 0
  let texts = ['']
  for (let length = 0; length < 7; length++) {
    for (const text of texts) {
      const wanted = readWhole(text + end)
      for (const pieces of splits(text + end)) {
        const { content, rest } = read(pieces)
        if (content !== wanted.content || rest !== wanted.rest) {
          t.deepEqual({ content, rest }, wanted, JSON.stringify(pieces))
          return
        }
        checked++
      }
    }
    texts = texts.flatMap((text) => ['\r', '\n', '.', 'a'].map((next) => text + next))
  }
  t.is(
    checked,
    [0, 1, 2, 3, 4, 5, 6].reduce((sum, length) => sum + 4 ** length * (length + 7), 0),
  )
})

const tricky = [
  'Subject: x\r\nX: \t\xfc\r\n\r\n..stuffed\r\n.single\r\nbare\nline\n.\r\nfeed\r.\r\r\nreturn\r\n.\ny\r\n.\rz\r\n\r\n..\r\n',
  '\n\r\n\r\r\r\n\n\n..\n..\r\n.a\r\n',
].map((text) => `${text}.\r\nQUIT\r\n`)

test('DataScanner.scan(): content is equal for every split in three and per octet', (t) => {
  for (const text of tricky) {
    const wanted = readWhole(text)
    t.is(wanted.rest, 'QUIT\r\n')
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const { content, rest } = read([text.slice(0, first), text.slice(first, second), text.slice(second)].filter(Boolean))
        if (content !== wanted.content || rest !== wanted.rest) return t.deepEqual({ content, rest }, wanted, `${first} ${second}`)
      }
    }
    const { content, rest } = read(text.split(''))
    t.deepEqual({ content, rest }, wanted)
  }
  return undefined
})

test('DataScanner.scan(): clean mail is not copied, also with the end in the chunk', (t) => {
  const scanner = new DataScanner()
  const first = Buffer.from('A: b\r\n\r\nThe dot. here\r')
  t.is(scanner.scan(first).content, first)
  const last = Buffer.from('\nmore\r\n.\r\nNOOP\r\n')
  const { content, end } = scanner.scan(last)
  t.is(content.buffer, last.buffer)
  t.is(content.byteOffset, last.byteOffset)
  t.is(content.toString(), '\nmore\r\n')
  t.is(last.subarray(end).toString(), 'NOOP\r\n')
})

test('DataScanner.headerEnd: equal for every split, -1 without an empty line', (t) => {
  const texts = {
    'A: b\r\nC: d\r\n\r\nbody\r\n\r\n': 14,
    'A: b\n\nbody\n\n': 8,
    '\r\nbody': 2,
    'A: b\r\nC: d\r\n': -1,
    'A: b\r\r\n.\rbody': 8,
  }
  for (const [text, wanted] of Object.entries(texts)) {
    for (const pieces of splits(`${text}\r\nx\r\n.\r\n`)) {
      if (wanted >= 0) t.is(read(pieces).scanner.headerEnd, wanted, JSON.stringify(pieces))
    }
    if (wanted < 0) t.is(read([`${text}.\r\n`]).scanner.headerEnd, -1)
  }
})

test('DataScanner: reports the part with the first bare CR or LF', (t) => {
  const texts = {
    'A: b\r\n\r\nbody\r\n': undefined,
    'A: b\nC: d\r\n\r\nbo\ndy\r\n': 'header',
    'A: b\rC: d\r\n\r\nbody\r\n': 'header',
    'A: b\r\n\nbody\r\n': 'header',
    'A: b\r\n\r\nbo\ndy\r\n': 'body',
    'A: b\r\n\r\nbo\rdy\r\n': 'body',
    'A: b\r\n\r\n.\rbody\r\n': 'body',
    'A: b\r\n\r\nbody\r\r\n': 'body',
  } as const
  for (const [text, wanted] of Object.entries(texts))
    for (const pieces of splits(`${text}.\r\n`)) t.is(read(pieces).scanner.bareLineEnd, wanted, JSON.stringify(pieces))
})

test('DataScanner: detects 8-bit, NUL and long lines in clean and rewritten chunks', (t) => {
  const notes = (text: string, size = 1000): unknown[] => {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const { scanner } = read(pieces)
    return [scanner.eightBit, scanner.hasNul, scanner.hasLongLine]
  }
  for (const before of ['', 'bare\nline\r\n']) {
    t.deepEqual(notes(`${before}plain\tand \x7f\r\n.\r\n`), [false, false, false])
    t.deepEqual(notes(`${before}\x80\r\n.\r\n`), [true, false, false])
    t.deepEqual(notes(`${before}\0\r\n.\r\n`), [false, true, false])
    for (const size of [7, 1000, 200_000]) {
      const line = 'x'.repeat(maxLineOctets)
      t.deepEqual(notes(`${before}${line}\r\n${line}\r\n.\r\n`, size), [false, false, false], `${size}`)
      t.deepEqual(notes(`${before}${line}x\r\n.\r\n`, size), [false, false, true], `${size}`)
    }
  }
})
