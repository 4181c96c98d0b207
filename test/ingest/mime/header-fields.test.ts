/** Header blocks that conform to RFC 5322, and header blocks of real mail. */
import test from '#test'
import { firstValue, headerFields, readHeader } from '#ingest/mime/header-fields.ts'

const fieldsOf = (text: string): [string, string][] => headerFields(Buffer.from(text, 'latin1')).map(({ name, value }) => [name, value])

test('headerFields() keeps order, repetition and the case of names', (t) => {
  t.deepEqual(fieldsOf('X-b: 1\r\nTO: 2\r\nx-B: 3\r\n\r\nbody: no'), [
    ['X-b', '1'],
    ['TO', '2'],
    ['x-B', '3'],
  ])
})

test('headerFields() unfolds', (t) => {
  t.deepEqual(fieldsOf('Subject: a\r\n b\r\n\tc\r\nTo:\r\n x\r\n\r\n'), [
    ['Subject', 'a b\tc'],
    ['To', 'x'],
  ])
})

test('headerFields() accepts bare line feeds and an unfinished block', (t) => {
  t.deepEqual(fieldsOf('A: 1\nB: 2'), [
    ['A', '1'],
    ['B', '2'],
  ])
})

test('headerFields() skips lines that are not fields', (t) => {
  t.deepEqual(fieldsOf(' folded\r\nFrom x Sat Nov 21\r\nno colon\r\n: empty\r\nTwo words: 1\r\nGood : yes\r\n\r\n'), [['Good', 'yes']])
})

test('headerFields() reads UTF-8 and falls back to windows-1252', (t) => {
  t.deepEqual(fieldsOf('A: \xc3\xbc\r\nB: \xfc\x80\r\n\r\n'), [
    ['A', 'ü'],
    ['B', 'ü€'],
  ])
})

test('headerFields() reads raw octets in the charset of Content-Type', (t) => {
  const subject = (charset: string, octets: string): string | undefined =>
    firstValue(
      headerFields(Buffer.from(`Subject: ${octets}\r\nContent-Type: text/plain;\r\n charset="${charset}"\r\n\r\n`, 'latin1')),
      'subject',
    )
  t.is(subject('koi8-r', '\xc4\xc1'), 'да')
  t.is(subject('gb2312', '\xc4\xe3'), '你')
  t.is(subject('koi8-r', '\xc3\xbc'), 'ü')
  t.is(subject('us-ascii', '\xfc\x80'), 'ü€')
  t.is(subject('utf-16', '\xfcx'), 'üx')
  t.is(subject('iso-2022-jp', '\x1b$B$"'), 'あ')
})

test('headerFields() joins octets of a character that folding split', (t) => {
  t.is(fieldsOf('A: \xc3\r\n \xbc\r\n\r\n')[0]?.[1], 'Ã ¼')
})

test('headerFields() returns no fields for empty input', (t) => {
  t.deepEqual(headerFields(new Uint8Array()), [])
  t.deepEqual(fieldsOf('\r\nA: 1\r\n'), [])
})

test('headerFields() stops after 1,000 fields, 64 KiB a value and 1 MiB in all', (t) => {
  t.is(fieldsOf('A: 1\r\n'.repeat(1500)).length, 1000)
  t.is(fieldsOf(`A: ${'x'.repeat(100_000)}\r\n\r\n`)[0]?.[1].length, 64 * 1024 - 1)
  t.true((fieldsOf(`A: 1\r\n${' x\r\n'.repeat(100_000)}\r\n`)[0]?.[1].length ?? 0) <= 64 * 1024)
  t.is(fieldsOf(`A: ${'x\r\n '.repeat(300_000)}\r\nB: 1\r\n\r\n`).length, 1)
})

test('readHeader() counts truncated and skipped fields and lines', (t) => {
  const leftOut = (raw: string): number => readHeader(Buffer.from(raw)).leftOut
  t.is(leftOut('A: 1\r\n'.repeat(1000)), 0)
  t.is(leftOut('A: 1\r\n'.repeat(1500)), 500)
  t.is(leftOut(`A: ${'x'.repeat(100_000)}\r\nB: 1\r\n x\r\n\r\n`), 1)
  t.is(leftOut(`A: 1\r\n${` ${'x'.repeat(900)}\r\n`.repeat(100)}\r\n`), 1)
  t.is(leftOut('From ana Sat Nov 21\r\nA: 1\r\nstray\r\n more\r\nstray\r\nB: 2\r\nend of the header\r\n\r\n'), 2)
})

test('firstValue() finds by lower-case name', (t) => {
  const fields = headerFields(Buffer.from('SUBJECT: one\r\nSubject: two\r\n\r\n'))
  t.is(firstValue(fields, 'subject'), 'one')
  t.is(firstValue(fields, 'to'), undefined)
})
