/** Octets with right, wrong, missing and unknown charsets. */
import test from '#test'
import { decodeOctets } from '#ingest/mime/charset/decode-octets.ts'
import { growsLinearly } from '../../../support/measure/growth.ts'

const octets = (text: string): Buffer => Buffer.from(text, 'latin1')
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8')
const decoded = (bytes: Buffer, charset: string): string => decodeOctets(bytes, charset).text

const asciiNames = ['us-ascii', 'ANSI_X3.4-1968', 'ANSI_X3.4-1986', 'iso-ir-6', 'ISO646-US', 'ISO_646.irv:1991', 'US', '646', 'cp367']
const emptyNames = ['', 'binary', '8bit', 'x-unknown', 'unknown-8bit', 'none', '"', 'charset=', ' ']

for (const name of [...asciiNames, ...emptyNames, '7bit']) {
  test(`decodeOctets() reads UTF-8 and windows-1252 under "${name}"`, (t) => {
    t.deepEqual(decodeOctets(utf8('Übersprungen'), name), { text: 'Übersprungen' })
    t.is(decodeOctets(octets('\xdcber \x80'), name).text, 'Über €')
  })
}

const spellings: readonly (readonly [string, string, string])[] = [
  ['utf8', '\xc3\xbc', 'ü'],
  ['UTF_8', '\xc3\xbc', 'ü'],
  ['"utf-8"', '\xc3\xbc', 'ü'],
  ['utf-8; format=flowed', '\xc3\xbc', 'ü'],
  ['iso-8859-15', '\xa4', '€'],
  ['ISO8859_15', '\xa4', '€'],
  ['latin-9', '\xa4', '€'],
  ['iso-8859-1-windows-3.1-latin-1', '\x80', '€'],
  ['iso_8859-1:1987', '\xfc', 'ü'],
  ['latin2', '\xb1', 'ą'],
  ['Latin5', '\xfd', 'ı'],
  ['cp1251', '\xe4\xe0', 'да'],
  ['win-1251', '\xe4\xe0', 'да'],
  ['x-cp1251', '\xe4\xe0', 'да'],
  ['CP_1250', '\x9a', 'š'],
  ['koi8-r', '\xc4\xc1', 'да'],
  ['cp850', '\x81', 'ü'],
  ['IBM00858', '\xd5', '€'],
  ['437', '\x81', 'ü'],
  ['hp-roman8', '\xcf', 'ü'],
  ['cp932', '\x82\xa0', 'あ'],
  ['ms932', '\x82\xa0', 'あ'],
  ['x-euc-jp', '\xa4\xa2', 'あ'],
  ['cp936', '\xc4\xe3', '你'],
  ['GB_2312-80', '\xc4\xe3', '你'],
  ['EUC-CN', '\xc4\xe3', '你'],
  ['cp950', '\xa7A', '你'],
  ['ks_c_5601-1987', '\xb0\xa1', '가'],
  ['cp949', '\xb0\xa1', '가'],
  ['iso-2022-kr', '\x1b$)C\n\x0e0!\x0f.', '\n가.'],
  ['iso-2022-jp-2', '\x1b$B$"\x1b(B', 'あ'],
  ['cp50220', '\x1b$B$"\x1b(B\x1b$B$"\x1b(B', 'ああ'],
  ['hz-gb-2312', 'a~{Dc~}~~', 'a你~'],
  ['utf-7', 'M+APw-ller+-', 'Müller+'],
  ['unicode-1-1-utf-7', 'M+APw-ller', 'Müller'],
  ['utf-16', '\xfe\xff\0\xfc', 'ü'],
  ['utf-16', '\xff\xfe\xfc\0', 'ü'],
  ['utf-16', '\0a\0b', 'ab'],
  ['utf-16', 'plain', 'plain'],
  ['utf-32', '\0\0\0\xfc', 'ü'],
  ['tis-620', '\xa1', 'ก'],
]

for (const [name, bytes, text] of spellings) {
  test(`decodeOctets() knows ${name}: ${JSON.stringify(bytes)}`, (t) => t.deepEqual(decodeOctets(octets(bytes), name), { text }))
}

test('decodeOctets() leaves a declared charset whose octets are not valid in it', (t) => {
  t.is(decoded(octets('M\xfc\xdfig'), 'utf-8'), 'Müßig')
  t.is(decoded(utf8('Müßig'), 'us-ascii'), 'Müßig')
  t.is(decoded(utf8('あ'), 'iso-2022-jp'), 'あ')
  t.is(decoded(octets('\x1b$B$"\x1b(B'), ''), 'あ')
})

test('decodeOctets() marks text whose octets are not valid in the declared charset', (t) => {
  t.deepEqual(decodeOctets(octets('M\xfc\xdfig'), 'utf-8'), { text: 'Müßig', fault: 'wrong_charset' })
  t.deepEqual(decodeOctets(octets('M\xfc\xdfig'), 'us-ascii'), { text: 'Müßig', fault: 'wrong_charset' })
  t.deepEqual(decodeOctets(octets('\xa4\xa2'), 'iso-2022-jp'), { text: 'あ', fault: 'wrong_charset' })
  t.deepEqual(decodeOctets(utf8('Müßig'), 'us-ascii'), { text: 'Müßig' })
  t.deepEqual(decodeOctets(octets('plain'), 'utf-16'), { text: 'plain' })
})

test('decodeOctets() marks text of an unknown or missing charset, unless it is ASCII or UTF-8 without a name', (t) => {
  t.deepEqual(decodeOctets(octets('M\xfc\xdfig'), ''), { text: 'Müßig', fault: 'unknown_charset' })
  t.deepEqual(decodeOctets(utf8('Müßig'), ''), { text: 'Müßig' })
  t.deepEqual(decodeOctets(octets('a\xffb'), 'x-nothing'), { text: 'aÿb', fault: 'unknown_charset' })
  t.deepEqual(decodeOctets(utf8('für'), 'X-IAS-German'), { text: 'für', fault: 'unknown_charset' })
  t.deepEqual(decodeOctets(octets('plain'), 'X-IAS-German'), { text: 'plain' })
})

test('decodeOctets() keeps a multi-byte text in which few octets are broken', (t) => {
  const text = utf8('Grüße aus Zürich')
  t.deepEqual(decodeOctets(Buffer.concat([text, octets('\xff')]), 'utf-8'), { text: 'Grüße aus Zürich\ufffd', fault: 'broken_text' })
  t.deepEqual(decodeOctets(Buffer.concat([text, octets('\xc3')]), ''), { text: 'Grüße aus Zürich\ufffd', fault: 'broken_text' })
})

test('decodeOctets() asks an HTML document for its charset', (t) => {
  const page = (meta: string, body: string): string => decodeOctets(octets(`<html><head>${meta}</head>${body}`), '', true).text.slice(-2)
  t.is(page('<meta charset="windows-1251">', '\xe4\xe0'), 'да')
  t.is(page('<META http-equiv="Content-Type" content="text/html; charset=koi8-r">', '\xc4\xc1'), 'да')
  t.is(page('<meta charset="utf-16">', '\xc3\xbcx'), 'üx')
  t.is(page('<meta charset="x-nothing">', '\xfcx'), 'üx')
  const meta = octets('<meta charset="windows-1251">\xe4')
  t.true(decodeOctets(meta, 'us-ascii', true).text.endsWith('д'))
  t.true(decodeOctets(meta, 'iso-8859-1', true).text.endsWith('ä'))
  t.true(decodeOctets(meta, 'us-ascii', false).text.endsWith('ä'))
})

test('decodeOctets() takes time in proportion to the input', (t) => {
  const units = ['<meta ', '\x1b$B', '\x1b$B$"', '~{', '~{D', '+A', '+', '\x0e', '\x0e!', '\xc3', '\xff', '\x82']
  for (const charset of ['', 'iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312', 'utf-7', 'gbk'])
    for (const unit of units) {
      const decode = (size: number): void => void decodeOctets(Buffer.alloc(size, octets(unit)), charset, true)
      t.true(growsLinearly(decode, 100_000), `${charset} ${JSON.stringify(unit)}`)
    }
})

test('decodeOctets() reads EUC-JP and Shift_JIS under the name of ISO-2022-JP', (t) => {
  t.is(decoded(octets('\xa4\xa2\xa4\xa4'), 'iso-2022-jp'), 'あい')
  t.is(decoded(octets('\x82\xa0\x82\xa2'), 'ISO-2022-JP'), 'あい')
  t.is(decoded(utf8('あü'), 'iso-2022-jp'), 'あü')
  t.is(decoded(octets('\x82\xa0\x82\xa2'), ''), '‚\u00a0‚¢')
})
