/** Octets with right, wrong, missing and unknown charsets. */
import { charsetNamed } from '#config/mail/charset/charset-names.ts'
import test from '#test'
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
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

test('decodeOctets(): rejects a declared charset if octets are invalid in it', (t) => {
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

test('decodeOctets(): marks non-ASCII text of unknown charset, non-UTF-8 without one', (t) => {
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

test('decodeOctets(): uses the charset in an HTML document', (t) => {
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

/** Names in the registry of IANA, by the charset that decodes them. */
const registered: readonly (readonly [string, string])[] = [
  ['us-ascii', 'US-ASCII iso-ir-6 ANSI_X3.4-1968 ANSI_X3.4-1986 ISO_646.irv:1991 ISO646-US us IBM367 cp367 csASCII'],
  [
    'windows-1252',
    'ISO_8859-1:1987 iso-ir-100 ISO_8859-1 ISO-8859-1 latin1 l1 IBM819 CP819 csISOLatin1 windows-1252 cswindows1252 ISO-8859-1-Windows-3.1-Latin-1 csWindows31Latin1',
  ],
  ['iso-8859-2', 'ISO_8859-2:1987 iso-ir-101 ISO_8859-2 ISO-8859-2 latin2 l2 csISOLatin2 csWindows31Latin2'],
  ['iso-8859-3', 'ISO_8859-3:1988 iso-ir-109 ISO-8859-3 latin3 l3 csISOLatin3'],
  ['iso-8859-4', 'ISO_8859-4:1988 iso-ir-110 latin4 l4 csISOLatin4'],
  ['iso-8859-5', 'ISO_8859-5:1988 iso-ir-144 cyrillic csISOLatinCyrillic'],
  ['iso-8859-6', 'ISO_8859-6:1987 iso-ir-127 ECMA-114 ASMO-708 arabic csISOLatinArabic ISO_8859-6-E csISO88596E ISO_8859-6-I csISO88596I'],
  ['iso-8859-7', 'ISO_8859-7:1987 iso-ir-126 ELOT_928 ECMA-118 greek greek8 csISOLatinGreek'],
  ['iso-8859-8', 'ISO_8859-8:1988 iso-ir-138 hebrew csISOLatinHebrew ISO_8859-8-E csISO88598E'],
  ['windows-1254', 'ISO_8859-9:1989 iso-ir-148 latin5 l5 csISOLatin5 windows-1254 cswindows1254 csWindows31Latin5'],
  ['iso-8859-10', 'ISO-8859-10 iso-ir-157 l6 ISO_8859-10:1992 csISOLatin6 latin6'],
  ['iso-8859-13', 'ISO-8859-13 csISO885913'],
  ['iso-8859-14', 'ISO-8859-14 iso-ir-199 ISO_8859-14:1998 latin8 iso-celtic l8 csISO885914'],
  ['iso-8859-15', 'ISO-8859-15 ISO_8859-15 Latin-9 csISO885915'],
  ['iso-8859-16', 'ISO-8859-16 iso-ir-226 ISO_8859-16:2001 latin10 l10 csISO885916'],
  ['windows-874', 'TIS-620 csTIS620 ISO-8859-11 windows-874 cswindows874'],
  ['shift_jis', 'Shift_JIS MS_Kanji csShiftJIS Windows-31J csWindows31J'],
  ['euc-jp', 'EUC-JP Extended_UNIX_Code_Packed_Format_for_Japanese csEUCPkdFmtJapanese'],
  ['iso-2022-jp', 'ISO-2022-JP csISO2022JP ISO-2022-JP-2 csISO2022JP2'],
  ['iso-2022-kr', 'ISO-2022-KR csISO2022KR'],
  ['euc-kr', 'EUC-KR csEUCKR KS_C_5601-1987 iso-ir-149 KS_C_5601-1989 KSC_5601 korean csKSC56011987'],
  ['gbk', 'GBK CP936 MS936 windows-936 csGBK GB2312 csGB2312 GB_2312-80 iso-ir-58 chinese csISO58GB231280'],
  ['gb18030', 'GB18030 csGB18030'],
  ['big5', 'Big5 csBig5 Big5-HKSCS csBig5HKSCS'],
  ['hz-gb-2312', 'HZ-GB-2312'],
  ['koi8-r', 'KOI8-R csKOI8R'],
  ['koi8-u', 'KOI8-U csKOI8U'],
  ['macintosh', 'macintosh mac csMacintosh'],
  ['hp-roman8', 'hp-roman8 roman8 r8 csHPRoman8'],
  ['utf-8', 'UTF-8 csUTF8 CESU-8 csCESU-8'],
  ['utf-7', 'UTF-7 csUTF7 UNICODE-1-1-UTF-7 csUnicode11UTF7'],
  ['utf-16', 'UTF-16 csUTF16 ISO-10646-UCS-2 csUnicode'],
  ['utf-16be', 'UTF-16BE csUTF16BE'],
  ['utf-16le', 'UTF-16LE csUTF16LE'],
  ['utf-32', 'UTF-32 csUTF32 UTF-32BE csUTF32BE UTF-32LE csUTF32LE ISO-10646-UCS-4 csUCS4'],
  ['windows-1250', 'windows-1250 cswindows1250'],
  ['windows-1251', 'windows-1251 cswindows1251'],
  ['windows-1253', 'windows-1253 cswindows1253'],
  ['windows-1255', 'windows-1255 cswindows1255'],
  ['windows-1256', 'windows-1256 cswindows1256'],
  ['windows-1257', 'windows-1257 cswindows1257'],
  ['windows-1258', 'windows-1258 cswindows1258'],
  ['ibm437', 'IBM437 cp437 437 csPC8CodePage437'],
  ['ibm850', 'IBM850 cp850 850 csPC850Multilingual'],
  ['ibm852', 'IBM852 cp852 852 csPCp852'],
  ['ibm855', 'IBM855 cp855 855 csIBM855'],
  ['ibm857', 'IBM857 cp857 857 csIBM857'],
  ['ibm858', 'IBM00858 CCSID00858 CP00858 PC-Multilingual-850+euro csIBM00858'],
  ['ibm860', 'IBM860 cp860 860 csIBM860'],
  ['ibm861', 'IBM861 cp861 861 cp-is csIBM861'],
  ['ibm862', 'IBM862 cp862 862 csPC862LatinHebrew'],
  ['ibm863', 'IBM863 csIBM863'],
  ['ibm865', 'IBM865 csIBM865'],
  ['ibm866', 'IBM866 cp866 866 csIBM866'],
  ['ibm869', 'IBM869 cp869 869 cp-gr csIBM869'],
  ['ibm775', 'IBM775 cp775 csPC775Baltic'],
  ['ibm737', 'cp737'],
]

test('charsetNamed() knows the names and aliases that IANA registers', (t) => {
  for (const [charset, names] of registered) for (const name of names.split(' ')) t.is(charsetNamed(name), charset, name)
})
