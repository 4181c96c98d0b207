/** Requests to `POST /v1/messages` that are hard to compose. The messages are in `test/fixtures/composed/<name>.eml`. */

const from = 'Shop <shop@example.com>'
const to = 'anna@example.net'
const base64 = (octets: string | Uint8Array): string => Buffer.from(octets).toString('base64')
const pixel = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
const file = (filename: string | undefined, content = 'content', more: object = {}): object => ({
  ...(filename !== undefined && { filename }),
  content: base64(content),
  ...more,
})
const plain = { from, to, subject: 'Your order', text: 'Thank you.\n' }
const inner = 'From: a@b.test\r\nSubject: inner\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n.\r\nFrom here on\r\n'

export const goldenRequests: Readonly<Record<string, object>> = {
  plain,
  html: { from, to, subject: 'HTML alone', html: '<p>Hello &amp; welcome</p>\n' },
  alternative: { ...plain, html: '<p>Thank you.</p>' },
  everything: {
    ...plain,
    text: 'Grüezi',
    html: '<p>Grüezi <img src="cid:logo@example.com"><img src="cid:two"></p>',
    attachments: [
      { filename: 'logo.gif', content: pixel, content_id: '<logo@example.com>' },
      file('Rechnung.pdf', '%PDF-1.7'),
      { filename: 'two.gif', content: pixel, cid: 'two', content_type: 'image/gif' },
    ],
  },
  'inline-without-text': {
    from,
    to,
    subject: 'Inline',
    html: '<img src="cid:a">',
    attachments: [{ filename: 'a.gif', content: pixel, cid: 'a' }],
  },
  'inline-without-html': { ...plain, attachments: [{ filename: 'a.gif', content: pixel, cid: 'a' }] },
  'inline-texts': {
    ...plain,
    html: '<object data="cid:a"></object>',
    attachments: [
      file('a.txt', 'a', { cid: 'a' }),
      file('b.html', '<b>b</b>', { cid: 'b' }),
      file('c.eml', inner, { cid: 'c' }),
      file('d.pdf', 'd', { cid: 'd' }),
    ],
  },
  'attachment-alone': { from, to, subject: 'No text', attachments: [file('a.txt')] },
  'file-sizes': { ...plain, attachments: [0, 1, 2, 3, 56, 57, 58, 114, 1000].map((size) => file(`${size}.bin`, 'x'.repeat(size))) },
  'file-octets': { ...plain, attachments: [{ filename: 'all.bin', content: base64(Uint8Array.from({ length: 512 }, (_, i) => i)) }] },
  'names-ascii': {
    ...plain,
    attachments: [
      'a b.txt',
      'semi;colon, comma.txt',
      "it's 100% (more) [x] {y} @z.txt",
      'equals=sign&and+plus.txt',
      'a"quote\\\'.txt',
      '=?utf-8?q?x?=.txt',
      `${'x'.repeat(120)} ${'y'.repeat(120)}.txt`,
    ].map((name) => file(name)),
  },
  'names-beyond-ascii': {
    ...plain,
    attachments: [
      'Übersicht für März.pdf',
      'u\u0308ber.pdf',
      '日本語のファイル名.docx',
      `${'とても長い名前'.repeat(20)}.xlsx`,
      'تقرير سنوي.pdf',
      'דוח שנתי.pdf',
      '👩‍👩‍👧 Ferien 🇨🇭 ❤️.jpg',
      '🏳️'.repeat(60) + '.png',
      "naïve 100% 'quoted' (x)*.txt",
      'smörgås; filename="x.exe".txt',
    ].map((name) => file(name)),
  },
  'names-hostile': {
    ...plain,
    attachments: [
      '../../etc/passwd',
      'C:\\Users\\me\\bill.pdf',
      'bill.pdf',
      'BILL.pdf',
      'a\r\nBcc: q@evil.test\r\n.txt',
      'invoice\u202efdp.exe',
      'bill.pdf                                   .exe',
      'CON.txt',
      '..',
      '\u200b\u2066',
      'trailing. . .',
      '.htaccess',
      'nul\0l.txt',
      '<script>|?*:".html',
    ].map((name) => file(name)),
  },
  'names-missing': { ...plain, attachments: [file(undefined), file('', 'a', { content_type: 'application/pdf' }), file(undefined)] },
  types: {
    ...plain,
    attachments: [
      file('a.txt', 'Gr\u00fc\u00dfe\r\nbare\nand\rmore', { content_type: 'text/plain; charset=UTF-8' }),
      file('b.ics', 'BEGIN:VCALENDAR', { content_type: 'text/calendar; method=REQUEST; charset="utf-8"' }),
      file('c.csv', 'a,b', { content_type: 'application/octet-stream' }),
      file('d.pdf', 'd', { content_type: 'application/pdf; name="other.pdf"' }),
      file('e.unknown'),
      file('f', 'f', { content_type: 'X-Shop/Order.v2+json; profile=a/b' }),
    ],
  },
  messages: {
    ...plain,
    attachments: [
      file('as-it-is.eml', inner),
      file('bare-lines.eml', inner.replaceAll('\r\n', '\n'), { content_type: 'message/rfc822' }),
      file('eight-bit.eml', `${inner}Gr\u00fc\u00dfe\r\n`, { content_type: 'message/rfc822' }),
      file('no-message.eml', 'hello'),
    ],
  },
  'subject-empty': { from, to, text: 'No subject' },
  'subject-latin': { ...plain, subject: 'Ihre Bestellung über CHF 20.– für Zoë' },
  'subject-cjk': { ...plain, subject: `ご注文ありがとうございます。${'商品は明日発送されます。'.repeat(8)}` },
  'subject-emoji': { ...plain, subject: `👩‍👩‍👧 ${'🎉'.repeat(40)} 🇨🇭 done` },
  'subject-rtl': { ...plain, subject: 'طلبك رقم 17 جاهز, הזמנה מספר 18' },
  'subject-like-encoded': { ...plain, subject: 'What does a=?utf-8?q?x?=b mean, and =?utf-8?b?broken' },
  'subject-long': { ...plain, subject: `${'word '.repeat(150)}end` },
  'subject-one-word': { ...plain, subject: 'x'.repeat(900) },
  'subject-blanks': { ...plain, subject: `a  b   ${'c'.repeat(60)}  d  ${'ü'.repeat(30)}  e` },
  'subject-quotes': { ...plain, subject: 'A "quoted" word, <such>; and (more): \\o/' },
  names: {
    ...plain,
    from: { email: 'shop@example.com', name: 'Müller, "AG" & Söhne (Zürich)' },
    to: [
      { email: 'r0@example.net', name: 'Meier, Anna' },
      { email: 'r1@example.net', name: 'O\'Neill "the \\ slash"' },
      { email: 'r2@example.net', name: '日本太郎'.repeat(15) },
      { email: 'r3@example.net', name: 'أحمد' },
      { email: 'r4@example.net', name: '👩‍👩‍👧' },
      { email: 'r5@example.net', name: 'x@y.test' },
      { email: 'r6@example.net', name: 'a=?utf-8?Q?b_c?=d' },
      { email: 'r7@example.net', name: 'A.B. Cede' },
      { email: 'r8@example.net', name: 'Undisclosed: recipients;' },
      { email: 'r9@example.net', name: 'ß' },
    ],
    cc: 'Zoë Müller <zoe@example.net>',
    reply_to: ['one@example.com', 'Zwei & Söhne <two@example.com>', { email: 'three@example.com', name: 'Drei, "3"' }],
  },
  'many-recipients': {
    ...plain,
    to: Array.from({ length: 40 }, (_, i) => `Recipient Number ${i} <recipient.number.${i}@example.net>`),
    bcc: ['secret@example.org', 'Hidden <hidden@example.org>'],
  },
  'addresses-beyond-ascii': { ...plain, from: 'Zoë <info@müller.example>', to: ['jürg@例え.example', '用户@example.net'] },
  headers: {
    ...plain,
    headers: {
      'X-Campaign': 'spring 2030',
      'X-Note': 'Grüße, 日本語',
      'X-Long': 'word '.repeat(60).trim(),
      'X-Word': 'x'.repeat(400),
      'List-Unsubscribe': `<https://shop.example.com/u?token=${'a1b2'.repeat(40)}>, <mailto:u@example.com?subject=stop>`,
      References: Array.from({ length: 12 }, (_, i) => `<message-${i}.of.a.long.thread@example.com>`).join(' '),
      'X-Empty': '',
    },
  },
  'body-empty': { ...plain, text: '', html: '' },
  'body-breaks': { ...plain, text: 'a\nb\rc\r\nd\n\n\re', html: '<pre>\r\r\n\n</pre>' },
  'body-dots': { ...plain, text: '.\r\n..\r\n.dot\r\nFrom here\r\n>From there\r\n.\r\nQUIT\r\n' },
  'body-long-lines': { ...plain, text: `${'x'.repeat(998)}\n${'y'.repeat(999)}\n${'z '.repeat(3000)}`, html: `<p>${'w'.repeat(998 - 3)}` },
  'body-scripts': {
    ...plain,
    text: 'Grüße 👩‍👩‍👧 aus Zürich\nمرحبا بالعالم\nשלום עולם\n日本語\n',
    html: '<p dir="rtl">مرحبا \u202b\u200f</p>',
  },
  'body-blanks': { ...plain, text: 'a  \nb\t\nü \n \n\t\n-- \nsignature', html: 'ü \n= =3D =20 \t' },
  'body-controls': { ...plain, text: 'a\u0001b\u007fc\fd\0e', html: '\u001b[31m' },
  'body-like-mime': {
    ...plain,
    text: '--=_mixed_0123\n\n--=_alternative_\nContent-Type: text/html\n\n<b>',
    html: '--\n=_\n--=_related_--',
  },
}
