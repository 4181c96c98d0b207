/** Checks 12 to 17, with a mail for each outcome: header, subject and sender, MIME, unsubscribing, HTML, links. */
import { domainToASCII } from 'node:url'
import { alternative, letter, newsletter, now, signed, type Changes, type Header } from './golden.ts'
import { prove, type Fixture } from './one-check.ts'
import { tnef } from '../mime/tnef/tnef-writer.ts'

const header = (fields: Header): Changes => ({ header: fields })
const dated = (date: string): Changes => header({ Date: date })
const day = 86_400_000
const ago = (ms: number): string => new Date(now - ms).toUTCString().replace('GMT', '+0000')
const raw = (from: string, to: string): Changes => ({ sign: () => '', after: (text) => text.replace(from, to) })

const hard: readonly (readonly [string, Changes])[] = [
  ['two From fields', header({ From: ['A <orders@example.com>', 'B <orders@example.com>'] })],
  ['two authors without Sender', header({ From: 'A <a@example.com>, B <b@example.com>' })],
  ['no From', { ...header({ From: null }), sign: () => '' }],
  ['no Date', header({ Date: null })],
  ['an invalid Date', dated('yesterday')],
  ['two subjects', header({ Subject: ['One', 'Two'] })],
  ['two Message-IDs', header({ 'Message-ID': ['<a@example.com>', '<b@example.com>'] })],
  ['a line of 1,100 octets', header({ 'X-Long': 'x'.repeat(1100) })],
  ['a bare LF', raw('Subject: Your order', 'Subject: Your\n order')],
  ['a bare LF that the listener put right', { session: { bareLineEnd: 'header' } }],
  ['a NUL', raw('Subject: Your order', 'Subject: Your\0order')],
  ['octets beyond ASCII', header({ Subject: 'Grüezi mitenand' })],
]

const soft: readonly (readonly [string, Changes])[] = [
  ['no Message-ID', header({ 'Message-ID': null })],
  ['a Message-ID at localhost', header({ 'Message-ID': '<1@localhost>' })],
  ['a Message-ID at an address', header({ 'Message-ID': '<1@192.0.2.1>' })],
  ['a Message-ID without brackets', header({ 'Message-ID': '1@example.com' })],
  ['a Date of the day before yesterday', dated(ago(2 * day))],
  ['a Date in an hour', dated(ago(-3_600_000))],
  ['a zone in letters', dated('Sat, 21 Nov 2026 12:00:00 GMT')],
  ['no To', header({ To: null })],
  ['51 recipients', header({ To: Array.from({ length: 51 }, (_, at) => `a${at}@b.test`).join(',\r\n ') })],
  ['no MIME-Version', header({ 'MIME-Version': null })],
  ['a word that is encoded twice', header({ Subject: '=?utf-8?Q?=3D=3Futf-8=3FQ=3FHallo=3F=3D?=' })],
  ['Bcc', header({ Bcc: 'c@d.test' })],
  ['X-Spam-Flag', header({ 'X-Spam-Flag': 'YES' })],
  ['64 KiB of header', header({ 'X-Long': Array.from({ length: 80 }, () => 'x'.repeat(900)).join('\r\n ') })],
]

prove('headers', [
  { what: 'a header in order', status: 'pass', points: 8 },
  {
    ...{ what: 'two authors with Sender', status: 'pass', points: 8 },
    changes: header({ From: 'A <a@example.com>, B <b@example.com>', Sender: 'a@example.com' }),
  },
  {
    ...{ what: 'octets beyond ASCII with SMTPUTF8', status: 'pass', points: 8 },
    changes: { header: { Subject: 'Grüezi mitenand' }, session: { smtpUtf8: true } },
  },
  ...hard.map(([what, changes]): Fixture => ({ what, changes, status: 'fail', points: 0 })),
  ...soft.map(([what, changes]): Fixture => ({ what, changes, status: 'warn', points: 6 })),
  {
    ...{ what: 'five soft faults', status: 'warn', points: 2 },
    changes: header({ 'Message-ID': null, To: null, Bcc: 'c@d.test', 'X-Spam-Flag': 'YES', 'MIME-Version': null }),
  },
])

const grave: readonly (readonly [string, Changes])[] = [
  ['a reply to nothing', header({ Subject: 'Re: your invoice' })],
  ['another address in the name', header({ From: '"boss@bank.test" <orders@example.com>' })],
  ['a free mailbox that is sent from elsewhere', header({ From: 'Ada <ada@gmail.com>' })],
]
const findings: readonly (readonly [string, Changes])[] = [
  ['an empty subject', header({ Subject: '' })],
  ['a subject of 160 characters', header({ Subject: 'word '.repeat(32) })],
  ['capitals', header({ Subject: 'BUY THIS TEAPOT NOW' })],
  ['two exclamation marks', header({ Subject: 'Your teapot is here!!' })],
  ['three emoji', header({ Subject: '=?utf-8?Q?Hi_=F0=9F=8E=89=F0=9F=8E=89=F0=9F=8E=89?=' })],
  ['a zero-width character', header({ Subject: '=?utf-8?Q?in=E2=80=8Bvoice?=' })],
  ['Cyrillic letters in a Latin word', header({ Subject: `=?utf-8?B?${Buffer.from('Your pаypal bill').toString('base64')}?=` })],
  ['no name of the sender', header({ From: 'orders@example.com' })],
  ['noreply without Reply-To', header({ From: 'Shop <noreply@example.com>' })],
  ['answers to another organisation', header({ 'Reply-To': 'x@other.test' })],
  ['a check mark in the name', header({ From: `=?utf-8?B?${Buffer.from('Shop ✔').toString('base64')}?= <orders@example.com>` })],
]

prove('subject_and_sender', [
  { what: 'a clear subject', status: 'pass', points: 4 },
  { what: 'a reply to a mail', status: 'pass', points: 4, changes: header({ Subject: 'Re: your order', 'In-Reply-To': '<a@b.test>' }) },
  {
    ...{ what: 'noreply with Reply-To', status: 'pass', points: 4 },
    changes: header({ From: 'Shop <noreply@example.com>', 'Reply-To': 'help@example.com' }),
  },
  ...findings.map(([what, changes]): Fixture => ({ what, changes, status: 'warn', points: 3 })),
  { what: 'four findings', status: 'warn', points: 1, changes: header({ Subject: 'BUY THIS TEAPOT NOW!!', From: 'noreply@example.com' }) },
  ...grave.map(([what, changes]): Fixture => ({ what, changes, status: 'fail', points: 0 })),
])

const text = 'The blue teapot that you ordered is on its way to you and will arrive on Monday morning.'
const both = (plain: string, markup: string): Changes => ({ body: alternative(plain, markup) })
const only = (type: string, body: string, more: Header = {}): Changes => ({ header: { 'Content-Type': type, ...more }, body })
const attached = (name: string, octets: Buffer): Changes =>
  only(
    'multipart/mixed; boundary="b1"',
    `--b1\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b1\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
      `Content-Transfer-Encoding: base64\r\n\r\n${octets.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n--b1--\r\n`,
  )

/** A ZIP archive with files of the given names, flags and size. */
function zip(files: Readonly<Record<string, number>>, size = 1): Buffer {
  const [locals, directory]: [Buffer[], Buffer[]] = [[], []]
  for (const [name, flags] of Object.entries(files)) {
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(flags, 2)
    facts.writeUInt32LE(size, 14)
    facts.writeUInt32LE(size, 18)
    facts.writeUInt16LE(name.length, 22)
    const entry = Buffer.alloc(14)
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\0\0'), facts, entry, Buffer.from(name)]))
    locals.push(Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, Buffer.from(name), Buffer.alloc(size, 'x')]))
  }
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt32LE(Buffer.concat(locals).length, 16)
  return Buffer.concat([...locals, ...directory, end])
}

const sevenZip = (method: readonly number[]): Buffer =>
  Buffer.concat([Buffer.of(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c, 0, 4), Buffer.alloc(100, 'x'), Buffer.from(method), Buffer.alloc(20)])
/** The archive header and the header of the first file, of 13 octets each. */
const rar4 = (archiveFlags: number, fileFlags: number): Buffer =>
  Buffer.concat([
    Buffer.from('Rar!\u001a\u0007\0'),
    ...[Buffer.of(0, 0, 0x73, archiveFlags, 0, 13, 0, 0, 0, 0, 0, 0, 0), Buffer.of(0, 0, 0x74, fileFlags, 0, 13, 0, 0, 0, 0, 0, 0, 0)],
  ])
const rar5 = (type: number): Buffer => Buffer.concat([Buffer.from('Rar!\u001a\u0007\u0001\0'), Buffer.of(1, 2, 3, 4, 33, type, 0, 0)])

const structure: readonly (readonly [string, Changes])[] = [
  ['HTML alone', only('text/html; charset=utf-8', `<p>${text}</p>\r\n`)],
  ['another text than HTML', both('Your program cannot show this mail.', `<p>${text}</p>`)],
  ['HTML that Gmail cuts', both(text, `<p>${text}</p>${'<!-- ten of these words are for nothing -->\r\n'.repeat(2600)}`)],
  ['a line of 1,100 octets', both(text, `<p>${text}</p>${' '.repeat(1100)}`)],
  ['8 bits without saying so', only('text/plain; charset=utf-8', 'Grüezi\r\n', { 'Content-Transfer-Encoding': '7bit' })],
  ['a text without character set', only('text/plain', 'Grüezi\r\n', { 'Content-Transfer-Encoding': '8bit' })],
  ['11 MiB', attached('big.bin', Buffer.alloc(8 * 1024 * 1024, 'x'))],
]
const broken: readonly (readonly [string, Changes])[] = [
  ['no final boundary', { body: alternative(text, `<p>${text}</p>`).replace('--b1--', '') }],
  ['invalid base64', only('text/plain', '?!\r\n', { 'Content-Transfer-Encoding': 'base64' })],
  ['an unknown encoding', only('text/plain', 'x\r\n', { 'Content-Transfer-Encoding': 'rot13' })],
  ['a bare LF', raw('\r\n--b1--', '\n\r\n--b1--')],
  ['a bare CR', raw('\r\n--b1--', '\r\r\n--b1--')],
  ['a bare CR or LF that the listener put right', { session: { bareLineEnd: 'body' } }],
  ...['exe', 'SCR', 'js', 'vbs', 'jar', 'lnk', 'iso', 'img', 'bat', 'cmd', 'ps1', 'hta', 'msi', 'docm'].map(
    (type): readonly [string, Changes] => [`a file .${type}`, attached(`a.${type}`, Buffer.from('x'))],
  ),
  ['a program with another name', attached('photo.jpg', Buffer.from('MZ\u0090\0', 'latin1'))],
  ['a program in winmail.dat', attached('winmail.dat', tnef([], [{ title: Buffer.from('setup.exe\0'), data: Buffer.from('x') }]))],
  ['a program whose name ends in dots', attached('a.exe. .', Buffer.from('x'))],
  ['an encrypted archive', attached('a.zip', zip({ 'a.txt': 1 }))],
  ['an archive with an encrypted file behind an open one', attached('a.zip', zip({ 'read-me.txt': 0, 'a.txt': 1 }))],
  ['an encrypted archive without its end', attached('a.zip', zip({ 'a.txt': 1 }).subarray(0, 40))],
  ['an encrypted 7z archive', attached('a.7z', sevenZip([6, 0xf1, 7, 1]))],
  ['a RAR archive with encrypted names', attached('a.rar', rar4(0x80, 0))],
  ['a RAR archive with an encrypted file', attached('a.rar', rar4(0, 4))],
  ['an encrypted archive of RAR 5', attached('a.rar', rar5(4))],
  ['a document with macros', attached('a.docx', zip({ 'word/vbaProject.bin': 0 }))],
  [
    'macros behind two million other octets',
    attached('a.docx', zip({ 'word/media/a.png': 0, 'word/media/b.png': 0, 'word/vbaProject.bin': 0 }, 1_000_000)),
  ],
]

prove('mime_structure', [
  { what: 'text and HTML that say the same', status: 'pass', points: 6 },
  { what: 'text alone', status: 'pass', points: 6, changes: only('text/plain; charset=utf-8', 'Hello\r\n') },
  ...[zip({ 'a.txt': 0 }), sevenZip([3, 1, 1]), rar4(0, 0), rar5(1)].map((octets): Fixture => ({
    ...{ what: `an open archive that begins with ${octets.toString('hex', 0, 8)}`, status: 'pass', points: 6 },
    changes: attached('a.zip', octets),
  })),
  ...structure.map(([what, changes]): Fixture => ({ what, changes, status: 'warn', points: 4 })),
  { what: 'three findings', status: 'warn', points: 1, changes: only('text/html', `<p>Grüezi ${' '.repeat(1100)}</p>\r\n`) },
  ...broken.map(([what, changes]): Fixture => ({ what, changes, status: 'fail', points: 0 })),
])

const list = (fields: Header): Omit<Fixture, 'what' | 'status' | 'points'> => ({
  check: 'list_unsubscribe',
  mail: newsletter,
  changes: header(fields),
})

prove('list_unsubscribe', [
  { what: 'one click', status: 'pass', points: 6, ...list({}) },
  { what: 'no List-Unsubscribe-Post', status: 'warn', points: 3, ...list({ 'List-Unsubscribe-Post': null }) },
  { what: 'mailto alone', status: 'warn', points: 3, ...list({ 'List-Unsubscribe': '<mailto:leave@example.com>' }) },
  {
    ...{ what: 'fields that the signature leaves out', status: 'warn', points: 3 },
    mail: newsletter,
    changes: { sign: (message) => signed(message.replaceAll(/List-Unsubscribe[^\r]*\r\n/g, '')) },
  },
  { what: 'no field', status: 'fail', points: 0, ...list({ 'List-Unsubscribe': null }) },
  { what: 'a field without an address', status: 'fail', points: 0, ...list({ 'List-Unsubscribe': 'no' }) },
  {
    ...{ what: 'a link in the text and no field', status: 'fail', points: 0 },
    changes: both(`${text} https://example.com/unsubscribe`, `<p>${text}</p>`),
  },
  { what: 'Precedence: bulk and no field', status: 'fail', points: 0, changes: header({ Precedence: 'bulk' }) },
  { what: 'a message to one person', status: 'na', points: 0, mail: letter },
  {
    ...{ what: 'a fault of DNS about the key', status: 'na', points: 0 },
    mail: newsletter,
    changes: { zone: { 'k1._domainkey.example.com TXT': 'ETIMEOUT' } },
  },
])

const html = (markup: string): Changes => both(text, `<p>${text}</p>${markup}`)
const spots: readonly (readonly [string, string])[] = [
  [
    'an image without alternative text',
    `<img src="https://example.com/a.png"><p>${'Many more words stand here beside it. '.repeat(3)}</p>`,
  ],
  ['few words with images', '<img src="https://example.com/a.png" alt="Pot">'],
  ['hidden text', `<div style="display:none">${'hidden words '.repeat(30)}</div>`],
  ['tiny text', '<span style="font-size:1px">so small</span>'],
  ['white text on white', '<span style="color:#FFF">unseen</span>'],
  ['text in the colour of its box', '<div style="background-color:#123456"><span style="color: rgb(18, 52, 86)">unseen</span></div>'],
]
const active: readonly string[] = [
  ...[
    '<script>1</script>',
    '<form action="https://example.com"><input></form>',
    '<iframe src="https://example.com"></iframe>',
    '<object data="x"></object>',
  ],
  ...['<p onclick="x()">a</p>', '<meta http-equiv="Refresh" content="0;url=https://example.com">', '<a href="java\tscript:x()">a</a>'],
  '<a href="data:text/html,x">a</a>',
]

prove('html_content', [
  { what: 'plain HTML', status: 'pass', points: 3 },
  {
    ...{ what: 'a preview text that is hidden', status: 'pass', points: 3 },
    changes: both(text, `<div style="display:none">${'word '.repeat(30)}</div><p>${text}</p>`),
  },
  { what: 'a tracking pixel', status: 'pass', points: 3, changes: html('<img src="https://example.com/o.gif" width="1" height="1">') },
  { what: 'white text on a dark box', status: 'pass', points: 3, changes: html('<div style="background:#000;color:#fff">seen</div>') },
  ...spots.map(([what, markup]): Fixture => ({ what, status: 'warn', points: 2, changes: html(markup) })),
  { what: 'five findings', status: 'warn', points: 1, changes: both(text, spots.map(([, markup]) => markup).join('')) },
  ...active.map((markup): Fixture => ({
    ...{ what: markup.slice(0, 24), status: 'fail', points: 0 },
    changes: html(markup),
  })),
  ...['"base64"', 'base64;'].map((encoding): Fixture => ({
    ...{ what: `a form that is encoded in ${encoding}`, status: 'fail', points: 0 },
    changes: only('text/html', `${Buffer.from('<form></form><p>Hello</p>').toString('base64')}\r\n`, {
      'Content-Transfer-Encoding': encoding,
    }),
  })),
  {
    ...{ what: 'a form in UTF-7', status: 'fail', points: 0 },
    changes: only('text/html; charset=utf-7', '+ADw-form+AD4APA-/form+AD4-Hello\r\n'),
  },
  { what: 'a mail without HTML', status: 'na', points: 0, changes: only('text/plain', 'Hello\r\n') },
])

const mixed = domainToASCII('exаmple.test')
const bad: readonly (readonly [string, string])[] = [
  ['an address without a name', '<a href="https://192.0.2.1/">Shop</a>'],
  ['a shortener', '<a href="https://bit.ly/x">Shop</a>'],
  ['a host that mixes alphabets', `<a href="https://${mixed}/">Shop</a>`],
  ['a text that shows another domain', '<a href="https://evil.test/">https://www.bank.com/login</a>'],
  ['a bare host that is another domain', '<a href="https://evil.test/">www.bank.com</a>'],
  ['a text that shows a host of a company network', '<a href="https://evil.test/">https://wiki.corp/login</a>'],
  ['a bare host outside the public DNS', '<a href="https://evil.test/">portal.bank.internal</a>'],
  ['a host of a documentation domain', '<a href="https://evil.test/">login.bank.example</a>'],
  ['an address below a top-level domain that does not exist', '<a href="https://evil.test/">https://bank.notatld</a>'],
  ['a path below a top-level domain that does not exist', '<a href="https://evil.test/">bank.notatld/login</a>'],
  ['www below a top-level domain that does not exist', '<a href="https://evil.test/">www.bank.notatld</a>'],
  ['a numeric address', '<a href="https://evil.test/">http://192.0.2.7/pay</a>'],
]

prove('links', [
  { what: 'links whose text matches the target', status: 'pass', points: 4 },
  {
    ...{ what: 'a text with the domain of its target', status: 'pass', points: 4 },
    changes: html('<a href="https://www.example.com/x">example.com</a>'),
  },
  {
    ...{ what: 'counted clicks at a domain that signs', status: 'pass', points: 4 },
    changes: html('<a href="https://click.example.com/x">www.bank.com</a>'),
  },
  {
    ...{ what: 'a text that only looks like a host', status: 'pass', points: 4 },
    changes: html('<a href="https://other.test/x">Version 1.2.3</a>'),
  },
  ...['Node.js', 'README.txt', 'v1.2.3/4', 'and/or', 'Invoice.pdf.v2', '12.50/kg', 'e.g.'].map((words): Fixture => ({
    ...{ what: `the words ${words}`, status: 'pass', points: 4 },
    changes: html(`<a href="https://other.test/x">${words}</a>`),
  })),
  {
    ...{ what: 'a host of a company network that is the target', status: 'pass', points: 4 },
    changes: html('<a href="https://wiki.corp.internal/x">docs.corp.internal</a>'),
  },
  { what: 'http', status: 'warn', points: 3, changes: html('<a href="http://www.example.com/">Shop</a>') },
  {
    ...{ what: '31 hosts', status: 'warn', points: 3 },
    changes: html(Array.from({ length: 31 }, (_, at) => `<a href="https://h${at}.example.com/">Shop</a>`).join('')),
  },
  { what: 'a login in a link', status: 'warn', points: 3, changes: html('<a href="https://ada:pot@www.example.com/">Shop</a>') },
  {
    ...{ what: 'bulk mail without a link to leave', status: 'warn', points: 3 },
    mail: newsletter,
    changes: html('<a href="https://www.example.com/">Shop</a>'),
  },
  ...bad.map(([what, markup]): Fixture => ({ what, status: 'fail', points: 0, changes: html(markup) })),
  ...['Log in at www.bank.com now', 'Log in (bank.com).', 'https://bank.com/login and more', 'Now \u201ewww.bank.com\u201c'].map(
    (words): Fixture => ({
      ...{ what: `an address among other words: ${words}`, status: 'fail', points: 0, says: /shows (?:www\.)?bank\.com/ },
      changes: html(`<a href="https://evil.test/">${words}</a>`),
    }),
  ),
  ...['See README.md in main.rs', 'Write to ada@bank.com today', 'Version 1.2.3 of Node.js', 'Open example.com or www.example.com'].map(
    (words): Fixture => ({
      ...{ what: `other words: ${words}`, status: 'pass', points: 4 },
      changes: html(`<a href="https://www.example.com/">${words}</a>`),
    }),
  ),
  {
    ...{ what: 'a picture that shows another address', status: 'fail', points: 0, says: /www\.bank\.com/ },
    changes: html('<a href="https://evil.test/"><img src="x.png" alt="www.bank.com"></a>'),
  },
  {
    ...{ what: 'a host consisting of letters that resemble Latin letters', status: 'fail', points: 0, says: /look like others/ },
    changes: html('<a href="https://xn--80ak6aa92e.com/">Shop</a>'),
  },
  { what: 'a host in one other script', status: 'pass', points: 4, changes: html('<a href="https://xn--e1afmkfd.com/">Shop</a>') },
  { what: 'an image map', status: 'fail', points: 0, changes: html('<map><area href="https://bit.ly/x"></map>'), says: /bit\.ly/ },
  {
    what: 'a link in a drawing',
    status: 'fail',
    points: 0,
    changes: html('<svg><a xlink:href="https://bit.ly/x"><text>x</text></a></svg>'),
  },
  { what: 'a form', status: 'fail', points: 0, changes: html('<form action="https://192.0.2.1/x"></form>'), says: /192\.0\.2\.1/ },
  { what: 'an address below a base', status: 'fail', points: 0, changes: html('<base href="https://bit.ly/"><a href="x">Shop</a>') },
  { what: 'a mail without links', status: 'na', points: 0, changes: only('text/plain', 'Hello\r\n') },
])

const lookalike = (domain: string, name = 'Shop'): Changes => ({ header: { From: `${name} <news@${domain}>` } })

prove('subject_and_sender', [
  {
    ...{ what: 'a From domain that mixes scripts', status: 'fail', points: 0, says: /xn--bnk-6cd\.com[^]*looks like bank\.com/ },
    changes: lookalike('xn--bnk-6cd.com'),
  },
  {
    ...{ what: 'a From domain of look-alike letters', status: 'fail', points: 0, says: /looks like apple\.com/ },
    changes: lookalike('xn--80ak6aa92e.com'),
  },
  {
    ...{ what: 'a Reply-To domain that mixes scripts', status: 'fail', points: 0, says: /looks like bank\.com/ },
    changes: { header: { 'Reply-To': 'a@xn--bnk-6cd.com' } },
  },
  { what: 'a From domain with an umlaut', status: 'pass', points: 4, changes: lookalike('xn--mller-kva.example.com') },
  { what: 'a From domain in one other script', status: 'pass', points: 4, changes: lookalike('xn--e1afmkfd.example.com') },
])

const picture = '<a href="https://www.example.com/"><img src="https://www.example.com/a.png" alt="" width="600" height="800"></a>'

prove('html_content', [{ what: 'an image and no words', status: 'fail', points: 0, changes: both(text, picture), says: /no visible text/ }])
prove('mime_structure', [
  { what: 'no words', status: 'warn', points: 4, changes: only('text/plain', '\r\n'), says: /no visible text/ },
  { what: 'a word', status: 'pass', points: 6, changes: only('text/plain', 'Hello\r\n') },
])
