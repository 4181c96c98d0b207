/** Parsing of header blocks as clients send them. */
import test from '#test'
import { localAuthor, parseHeaders } from '#core/submission/doors/headers.ts'
import { growsLinearly } from '../../../support/measure/growth.ts'

const parsed = (text: string, encoding: BufferEncoding = 'utf8') => parseHeaders(Buffer.from(text.replaceAll('\n', '\r\n'), encoding))

test('parseHeaders(): reads the fields of an ordinary message', (t) => {
  const head = `Received: from a by b; c
From: "Shop, Zürich" <Shop@Example.com>
To: Anna <anna@example.net>, ben@example.net
CC: carl@Example.org
Reply-To: <help@example.com>
Date: Tue, 15 Jan 2030 12:00:00 +0000
Message-ID: <abc.1@example.com>
Subject: Hello
	folded  world
X-Other: not.an@address.field

From: body@example.com`
  t.deepEqual(parsed(head), {
    subject: 'Hello folded  world',
    messageId: 'abc.1@example.com',
    hasDate: true,
    from: 'Shop@example.com',
    fromText: '"Shop, Zürich" <Shop@Example.com>',
    fromFields: 1,
    addresses: ['shop@example.com', 'anna@example.net', 'ben@example.net', 'carl@example.org', 'help@example.com'],
    ended: true,
    hasAttachment: false,
    isAutomatic: false,
    otherSenders: [],
  })
})

test('parseHeaders(): detects files by the type of the message', (t) => {
  const holds = (type: string): boolean => parsed(`Content-Type: ${type}\n\n`).hasAttachment
  for (const type of ['multipart/mixed; boundary=x', 'Multipart/Mixed', 'application/pdf', 'image/png; name=a.png'])
    t.true(holds(type), type)
  for (const type of ['text/plain', 'text/html; charset=utf-8', 'multipart/alternative; boundary=x', 'multipart/related', 'nonsense'])
    t.false(holds(type), type)
})

test('parseHeaders(): returns empty fields for an empty block', (t) => {
  const nothing = {
    hasAttachment: false,
    isAutomatic: false,
    otherSenders: [],
    subject: '',
    messageId: '',
    hasDate: false,
    from: '',
    fromText: '',
    fromFields: 0,
    addresses: [],
  }
  t.deepEqual(parsed(''), { ...nothing, ended: false })
  t.deepEqual(parsed('\nFrom: body@example.com\n'), { ...nothing, ended: true })
  t.deepEqual(parsed('no field here\n: none\n\nbody'), { ...nothing, ended: true })
  t.deepEqual(parsed('Subject:\nMessage-ID: <>\n\n'), { ...nothing, ended: true })
})

test('localAuthor(): reads authors without a domain, and never an address', (t) => {
  for (const text of ['root', '<root>', 'root (Cron Daemon)', '"(Cron Daemon)" <root>', 'Cron Daemon <root>', 'MAILER-DAEMON'])
    t.regex(localAuthor(text) ?? '', /^(?:root|MAILER-DAEMON)$/, text)
  for (const text of ['<>', 'MAILER-DAEMON <>', '"x" <>']) t.is(localAuthor(text), '', text)
  for (const text of ['a@b.test', 'root, a@b.test', '"a@b.test" <root>', 'a@b.test <root>', 'root <a@b.test>', 'g: root;', 'x y', ''])
    t.is(localAuthor(text), undefined, text)
})

test('parseHeaders(): requires one From with one mailbox', (t) => {
  const from = (head: string) => {
    const { from: address, fromFields } = parsed(`${head}\n\n`)
    return [address, fromFields]
  }
  t.deepEqual(from('From: a@example.com'), ['a@example.com', 1])
  t.deepEqual(from('from :\n <a@example.com>'), ['a@example.com', 1])
  t.deepEqual(from('FROM: =?utf-8?q?Zo=C3=AB?= <a@example.com>'), ['a@example.com', 1])
  t.deepEqual(from('From: a@example.com\nFrom: a@example.com'), ['', 2])
  t.deepEqual(from('From: a@example.com, b@evil.test'), ['', 1])
  t.deepEqual(from('From: a@example.com <b@evil.test>'), ['', 1])
  t.deepEqual(from('From: g: a@example.com;'), ['', 1])
  t.deepEqual(from('From: a@example.com (Mail Delivery System)'), ['a@example.com', 1])
  for (const odd of ['(x) a@example.com', 'a@example.com (<b@evil.test>)', 'a@example.com (x) (y)', 'a@example.com (b@evil.test)'])
    t.deepEqual(from(`From: ${odd}`), ['', 1], odd)
  t.deepEqual(from('From: "a@example.com" <b@evil.test>'), ['b@evil.test', 1])
  t.deepEqual(from('From: x'), ['', 1])
})

test('parseHeaders(): takes the first Subject and Message-ID, and truncates them', (t) => {
  const { subject, messageId } = parsed(`Subject: one\nSubject: two\nMessage-ID: <1@x>\nMessage-ID: <2@x>\n\n`)
  t.deepEqual([subject, messageId], ['one', '1@x'])
  const long = parsed(`Subject: ${'x'.repeat(5000)}\nMessage-ID: <${'y'.repeat(5000)}\n\n`)
  t.deepEqual([long.subject.length, long.messageId.length], [998, 998])
})

test('parseHeaders(): keeps encoded words, and decodes 8-bit text by field charset', (t) => {
  t.is(parsed('Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\n\n').subject, '=?utf-8?Q?Gr=C3=BC=C3=9Fe?=')
  const latin = parsed('From: J\u00fcrg <j@example.com>\nSubject: Gr\u00fc\n \u00dfe\nTo: anna@example.net\n\n', 'latin1')
  t.deepEqual([latin.subject, latin.from, latin.fromText], ['Grü ße', 'j@example.com', 'Jürg <j@example.com>'])
  t.deepEqual(latin.addresses, ['j@example.com', 'anna@example.net'])
  const mixed = Buffer.concat([Buffer.from('From: J\u00fcrg <j@example.com>\r\n'), Buffer.from('Subject: Gr\u00fc\u00dfe\r\n', 'latin1')])
  t.like(parseHeaders(mixed), { subject: 'Grüße', fromText: 'Jürg <j@example.com>' })
  const declared = 'Subject: \xcf\xf0\xe8\xe2\xe5\xf2\nContent-Type: text/plain;\n charset=windows-1251\n\n'
  t.is(parsed(declared, 'latin1').subject, 'Привет')
  t.is(parsed('Subject: \u001b$B$3$s\u001b(B\n\n').subject, 'こん')
})

test('parseHeaders(): reads authors as UTF-8 regardless of a declared charset', (t) => {
  const head = 'From: <a\x81@b@example.com>\nContent-Type: text/plain; charset=shift_jis\n\n'
  t.is(parsed(head, 'latin1').from, '')
  t.is(parsed('From: <a@m\u00fcller.example>\n\n', 'latin1').from, '')
})

test('parseHeaders(): reports a block without an end', (t) => {
  t.false(parsed('From: a@example.com\nX-Filler: x').ended)
  t.true(parsed('From: a@example.com\n\n').ended)
})

test('parseHeaders(): returns at most 1,000 unique addresses', (t) => {
  const to = Array.from({ length: 3000 }, (_, i) => `r${i % 1500}@example.net`).join(',\n ')
  t.is(parsed(`To: ${to}\n\n`).addresses.length, 1000)
  t.is(parsed(`To: ${'a@example.net, A@EXAMPLE.net,'.repeat(500)}\n\n`).addresses.length, 1)
})

test('parseHeaders(): is linear for blocks of a megabyte', (t) => {
  const pieces = [
    'To: a\n',
    ' a\n',
    'a',
    '@',
    'a@b.ch,',
    '<',
    '"',
    ':',
    'From: x@y.ch\n',
    '\n ',
    'To: @\n',
    '\t',
    'Subject: a\n b\n',
    'a:\u00fc\n',
  ]
  for (const piece of pieces) {
    const read = (size: number): void => {
      const block = piece.repeat(size / piece.length)
      for (const head of [block, `To: ${block}`, `From: ${block}`, `Subject: ${block}`, `From: ${block} <a@b.ch>`]) parsed(head)
    }
    t.true(growsLinearly(read), piece)
  }
})

test('parseHeaders(): is linear for octets that are not UTF-8', (t) => {
  for (const piece of ['\u00fc', 'a:\u00fc\n', ' \u00fc\n', '\u001b$B', 'Content-Type: x; charset=utf-7\n', ';charset='])
    t.true(
      growsLinearly((size) => void parsed(`Subject: ${piece.repeat(size / piece.length)}\u00fc`, 'latin1')),
      JSON.stringify(piece),
    )
})
