/** File names that senders choose: the rules for one name, and for the names of one message. */
import test from '#test'
import { distinctNames, safeFilename } from '#config/mail/file-names.ts'
import { extensionOfType, typeOfName } from '#config/mail/media-types.ts'
import { hardName, isHarmless } from '../support/hard-names.ts'
import { Seeded } from '../support/seeded.ts'

const cases: readonly (readonly [string, string | undefined, string])[] = [
  ['keeps an ordinary name', 'Rechnung Müller.pdf', 'Rechnung Müller.pdf'],
  ['keeps other scripts and emoji', 'תשבץ 日本語 ❤️.pdf', 'תשבץ 日本語 ❤️.pdf'],
  ['drops a path', '../../etc/passwd', 'passwd'],
  ['drops a Windows path', 'C:\\Users\\x\\a.txt', 'a.txt'],
  ['drops control characters', 'a\r\nX-Evil: 1\0.txt', 'aX-Evil_ 1.txt'],
  ['drops marks that reverse text', 'invoice\u202efdp.exe', 'invoicefdp.exe'],
  ['drops isolates and marks of direction', '\u2066a\u2069\u200e\u200f\u061c.txt', 'a.txt'],
  ['drops what is invisible', 'a\u200bb\u200c\u200d\u2060\ufeff\u00ad\u3164\u{e0041}.txt', 'ab.txt'],
  ['drops separators of lines', 'a\u2028b\u2029\u0085.txt', 'ab.txt'],
  ['takes any run of blanks as one', `bill.pdf${' \u00a0\u3000'.repeat(40)}.exe`, 'bill.pdf .exe'],
  ['composes letters', 'u\u0308.txt', 'ü.txt'],
  ['composes letters around what it drops', 'u\u200b\u0308.txt', 'ü.txt'],
  ['replaces reserved characters', 'a<b>:"|?*.txt', 'a_b______.txt'],
  ['hides no file', '.htaccess', 'htaccess'],
  ['drops trailing dots and blanks', 'a.txt. . ', 'a.txt'],
  ['renames devices', 'CON.txt', '_CON.txt'],
  ['renames devices without extension', 'nul', '_nul'],
  ['renames devices with a digit', 'Com1.tar.gz', '_Com1.tar.gz'],
  ['renames devices with a raised digit', 'LPT³', '_LPT³'],
  ['renames devices before a blank', 'aux .c', '_aux .c'],
  ['keeps names that only begin like a device', 'console.log', 'console.log'],
  ['makes up a name for dots', '..', 'attachment.pdf'],
  ['makes up a name for a path without a base', 'a/b/', 'attachment.pdf'],
  ['makes up a name for blanks', ' \t ', 'attachment.pdf'],
  ['makes up a name for none', undefined, 'attachment.pdf'],
  ['mends lone surrogates', 'a\ud800.txt', 'a\ufffd.txt'],
]

for (const [criterion, declared, expected] of cases) {
  test(`safeFilename() ${criterion}`, (t) => t.is(safeFilename(declared, 'application/pdf'), expected))
}

test('safeFilename() shortens the stem to 255 octets and keeps the extension', (t) => {
  const long = safeFilename(`${'ü'.repeat(300)}.pdf`, 'application/pdf')
  t.is(long, `${'ü'.repeat(125)}.pdf`)
  t.is(safeFilename('x'.repeat(255), 'text/plain'), 'x'.repeat(255))
  t.is(safeFilename('x'.repeat(100_000), 'text/plain'), 'x'.repeat(255))
  t.is(safeFilename(`${'x'.repeat(250)} yyy.pdf`, 'text/plain'), `${'x'.repeat(250)}.pdf`, 'and leaves no blank at the cut')
  t.true(Buffer.byteLength(safeFilename(`${'😀'.repeat(100)}.${'y'.repeat(300)}`, 'text/plain')) <= 255)
})

test('safeFilename() cuts after a whole grapheme', (t) => {
  const flag = '\u{1f1e8}\u{1f1ed}' // eight octets in UTF-8, one grapheme
  t.is(safeFilename(`${flag.repeat(100)}.pdf`, 'application/pdf'), `${flag.repeat(31)}.pdf`)
  const accented = 'x\u0323\u0304' // no single character exists for it
  t.is(safeFilename(`${accented.repeat(100)}.pdf`, 'application/pdf'), `${accented.repeat(50)}.pdf`)
  t.is(safeFilename(`${'a'.repeat(254)}e\u0323\u0304`, 'text/plain'), 'a'.repeat(254))
  t.is(safeFilename(`a${'\u0323'.repeat(400)}.pdf`, 'application/pdf'), 'attachment.pdf')
})

test('safeFilename() makes up an extension from the type', (t) => {
  t.is(safeFilename(undefined, 'image/jpeg'), 'attachment.jpg')
  t.is(safeFilename(undefined, 'message/rfc822'), 'attachment.eml')
  t.is(safeFilename(undefined, 'constructor'), 'attachment.bin')
  t.is(safeFilename(undefined, 'application/x-unheard-of'), 'attachment.bin')
})

test('safeFilename(): makes any name harmless and does not change its own results', (t) => {
  const chance = new Seeded('file names')
  for (let i = 0; i < 3000; i++) {
    const given = hardName(chance)
    const name = safeFilename(given, 'text/plain')
    t.true(isHarmless(name), `${JSON.stringify(given)} became ${JSON.stringify(name)}`)
    t.is(safeFilename(name, 'text/plain'), name)
  }
})

test('distinctNames() numbers namesakes, in any case', (t) => {
  t.deepEqual(distinctNames(['a.pdf', 'b.pdf', 'A.PDF', 'a.pdf', 'a']), ['a.pdf', 'b.pdf', 'A (2).PDF', 'a (3).pdf', 'a'])
  t.deepEqual(distinctNames(['a.pdf', 'a (2).pdf', 'a.pdf', 'a.pdf']), ['a.pdf', 'a (2).pdf', 'a (3).pdf', 'a (4).pdf'])
  t.deepEqual(distinctNames(['a.pdf', 'a.pdf', 'a (2).pdf']), ['a.pdf', 'a (2).pdf', 'a (2) (2).pdf'])
  t.deepEqual(distinctNames([]), [])
})

test('distinctNames() keeps to 255 octets', (t) => {
  const long = `${'ü'.repeat(125)}.pdf`
  t.deepEqual(distinctNames([long, long]), [long, `${'ü'.repeat(123)} (2).pdf`])
  const many = distinctNames(Array<string>(100).fill('x'.repeat(255)))
  t.is(new Set(many).size, 100)
  t.true(many.every((name) => Buffer.byteLength(name) <= 255))
})

test('typeOfName(): uses the last extension', (t) => {
  t.is(typeOfName('a.tar.GZ'), 'application/gzip')
  t.is(typeOfName('Bill.pdf'), 'application/pdf')
  t.is(typeOfName('mail.eml'), 'message/rfc822')
  t.is(typeOfName('feed.xml'), 'application/xml')
  for (const unknown of ['pdf', 'a.unheard-of', 'a.', '', 'a.constructor']) t.is(typeOfName(unknown), 'application/octet-stream')
})

test('extensionOfType(): returns the usual extension', (t) => {
  t.is(extensionOfType('image/jpeg'), 'jpg')
  t.is(extensionOfType('text/xml'), 'xml')
  t.is(extensionOfType('application/octet-stream'), 'bin')
})
