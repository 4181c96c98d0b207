/** File names that senders choose and we show. */
import test from 'ava'
import { safeContentType, safeFilename } from '#ingest/attachment-name.ts'

const cases: readonly (readonly [string, string | undefined, string])[] = [
  ['keeps an ordinary name', 'Rechnung Müller.pdf', 'Rechnung Müller.pdf'],
  ['drops a path', '../../etc/passwd', 'passwd'],
  ['drops a Windows path', 'C:\\Users\\x\\a.txt', 'a.txt'],
  ['drops control characters', 'a\r\nX-Evil: 1\0.txt', 'aX-Evil_ 1.txt'],
  ['drops marks that reverse text', 'invoice\u202efdp.exe', 'invoicefdp.exe'],
  ['replaces reserved characters', 'a<b>:"|?*.txt', 'a_b______.txt'],
  ['hides no file', '.htaccess', 'htaccess'],
  ['drops trailing dots and blanks', 'a.txt. . ', 'a.txt'],
  ['renames devices', 'CON.txt', '_CON.txt'],
  ['makes up a name for dots', '..', 'attachment-3.pdf'],
  ['makes up a name for a path without a base', 'a/b/', 'attachment-3.pdf'],
  ['makes up a name for blanks', ' \t ', 'attachment-3.pdf'],
  ['makes up a name for none', undefined, 'attachment-3.pdf'],
  ['mends lone surrogates', 'a\ud800.txt', 'a\ufffd.txt'],
]

for (const [criterion, declared, expected] of cases) {
  test(`safeFilename() ${criterion}`, (t) => t.is(safeFilename(declared, 'application/pdf', 3), expected))
}

test('safeFilename() shortens the stem to 255 octets and keeps the extension', (t) => {
  const long = safeFilename(`${'ü'.repeat(300)}.pdf`, 'application/pdf', 1)
  t.is(Buffer.byteLength(long), 254)
  t.true(long.endsWith('ü.pdf') && !long.includes('\ufffd'))
  t.is(safeFilename('x'.repeat(100_000), 'text/plain', 1), 'x'.repeat(255))
  t.true(Buffer.byteLength(safeFilename(`${'😀'.repeat(100)}.${'y'.repeat(300)}`, 'text/plain', 1)) <= 255)
})

test('safeFilename() makes up an extension from the type', (t) => {
  t.is(safeFilename(undefined, 'image/jpeg', 1), 'attachment-1.jpg')
  t.is(safeFilename(undefined, 'message/rfc822', 2), 'attachment-2.eml')
  t.is(safeFilename(undefined, 'constructor', 2), 'attachment-2.bin')
  t.is(safeFilename(undefined, 'application/x-unheard-of', 2), 'attachment-2.bin')
})

test('safeContentType() passes types and nothing else', (t) => {
  t.is(safeContentType(' Text/HTML '), 'text/html')
  t.is(safeContentType('application/vnd.ms-excel.sheet+xml'), 'application/vnd.ms-excel.sheet+xml')
  for (const bad of [undefined, '', 'text', 'text/', '/x', 'a/b/c', 'text/html\r\nX: 1', 'text/html; charset=x', 'false']) {
    t.is(safeContentType(bad), 'application/octet-stream')
  }
})
