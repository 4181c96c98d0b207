/** Parsing of whole messages, without the thread. */
import { readFile } from 'node:fs/promises'
import test from '#test'
import { readAttachment, readMessage } from '#ingest/messages/read-message.ts'
import { dangers } from '../html/safe-markup.ts'
import { column, columns } from '../../support/column.ts'

const fixture = (name: string): Promise<Buffer> => readFile(new URL(`../../fixtures/mail/${name}.eml`, import.meta.url))
const read = async (name: string) => readMessage(await fixture(name), false)

test('readMessage() reads sender, recipients and subject', async (t) => {
  const message = await read('newsletter')
  t.is(message.subject, 'Angebote für Sie')
  t.deepEqual(message.from, [{ address: 'News@News.Example', name: 'Büro Zürich' }])
  t.deepEqual(message.to, [
    { address: 'jane@shop.example', name: 'Doe, Jane' },
    { address: 'bob@shop.example', name: '' },
    { address: 'rene@shop.example', name: 'René' },
  ])
  t.deepEqual(message.cc, [{ address: 'cc@shop.example', name: 'Carbon Copy' }])
  t.deepEqual(column(message.replyTo, 'address'), ['first@news.example', 'second@news.example'])
  t.is(message.messageId, '<n1@news.example>')
  t.is(message.date, '2026-11-21T09:00:00.000Z')
})

test('readMessage() lists every header field in order, decoded', async (t) => {
  const { headers } = await read('newsletter')
  t.deepEqual(column(headers, 'name'), [
    'Return-Path',
    'Received',
    'From',
    'To',
    'Cc',
    'Reply-To',
    'Subject',
    'Message-ID',
    'Date',
    'MIME-Version',
    'Content-Type',
  ])
  t.is(headers[3]?.value, '"Doe, Jane" <jane@shop.example>, Group: bob@shop.example, René <rene@shop.example>;')
})

test('readMessage() returns text and sanitized HTML', async (t) => {
  const { text, html } = await read('newsletter')
  t.is(text.trim(), 'Grüße an support@help.example')
  t.deepEqual(dangers(html), [])
  t.true(html.includes('<p style="color:#333">Hallo <a href="mailto:sales%40help.example"'))
  t.true(
    html.includes('src="cid:logo@news.example"') && html.includes('data-remote-src="https://track.example/p.gif?u=jane%40shop.example"'),
  )
  t.false(html.includes('alert'))
})

test('readMessage() describes attachments under safe names', async (t) => {
  const { attachments } = await read('newsletter')
  t.deepEqual(attachments, [
    { filename: 'attachment.png', contentType: 'image/png', size: 70, contentId: 'logo@news.example', inline: true, fromTnef: false },
    { filename: 'Rechnung Müller.pdf', contentType: 'application/pdf', size: 9, contentId: undefined, inline: false, fromTnef: false },
    { filename: 'passwd.csv', contentType: 'text/csv', size: 3, contentId: undefined, inline: false, fromTnef: false },
    { filename: 'attachment.eml', contentType: 'message/rfc822', size: 56, contentId: undefined, inline: false, fromTnef: false },
  ])
})

test('readMessage() finds addresses in headers and bodies', async (t) => {
  t.deepEqual((await read('newsletter')).addressesSeen, [
    ...['bob@shop.example', 'bounce+42@news.example', 'cc@shop.example', 'first@news.example', 'jane@shop.example'],
    ...['news@news.example', 'rene@shop.example', 'sales@help.example', 'second@news.example', 'support@help.example'],
  ])
})

test('readMessage() derives text from HTML if the text part is missing', async (t) => {
  const message = await read('html-only')
  t.is(message.text, 'Café\n\nOpen the menu <https://x.example/menu>.')
  t.is(
    message.html.trim(),
    '<h1>Café</h1><p>Open <a href="https://x.example/menu" target="_blank" rel="noopener noreferrer nofollow">the menu</a>.</p>',
  )
})

test('readMessage() shows text parts among HTML parts', async (t) => {
  const { text, html } = await read('mixed-bodies')
  t.is(text.trim(), 'footer <script>alert(1)</script> & more')
  t.true(html.includes('<p>first</p>') && html.includes('footer &lt;script&gt;alert(1)&lt;/script&gt; &amp; more'))
  t.deepEqual(dangers(html), [])
})

test('readMessage() shows the machine-readable part of a delivery report', async (t) => {
  const message = await read('delivery-status')
  t.true(message.text.includes('It failed.') && message.text.includes('Final-Recipient: rfc822; gone@y.example'))
  t.deepEqual(message.addressesSeen, ['gone@y.example', 'mailer-daemon@mx.example', 'sender@x.example'])
  t.is(message.attachments[0]?.contentType, 'message/rfc822')
})

test('readMessage() decodes unknown charsets and encodings as far as possible', async (t) => {
  const message = await read('broken-charset')
  t.is(message.subject, '✓ =?bogus')
  t.deepEqual(message.from, [{ address: 'a@x.example', name: 'aÿb' }])
  t.is(message.text.trim(), 'café =41')
})

test('readMessage() shows all repeated fields', async (t) => {
  const message = await read('duplicate-fields')
  t.deepEqual(column(message.from, 'address'), ['first@x.example', 'second@x.example'])
  t.deepEqual(column(message.to, 'address'), ['one@x.example', 'two@x.example'])
  t.is(message.subject, 'first subject')
  t.is(message.date, undefined)
  t.is(message.headers.length, 8)
  t.deepEqual(message.headers[6], { name: 'X-Raw', value: 'über' })
})

test('readMessage() reads empty messages and bare header blocks', async (t) => {
  const nothing = { subject: '', from: [], to: [], cc: [], bcc: [], replyTo: [], messageId: undefined, date: undefined, headers: [] }
  t.deepEqual(await readMessage(Buffer.alloc(0), false), {
    ...nothing,
    ...{ text: '', html: '', document: { html: '', styles: '', root: {}, body: {} }, attachments: [], notes: [], addressesSeen: [] },
  })
  const message = await readMessage(Buffer.from('Subject: only this\nTo: a@x.example'), false)
  t.is(message.subject, 'only this')
  t.deepEqual(message.addressesSeen, ['a@x.example'])
})

test('readAttachment() returns the decoded octets in a separate buffer', async (t) => {
  const raw = await fixture('newsletter')
  t.is(Buffer.from((await readAttachment(raw, false, 1)) ?? []).toString(), '%PDF-1.4\n')
  t.is(Buffer.from((await readAttachment(raw, false, 2)) ?? []).toString(), 'a,b')
  const png = await readAttachment(raw, false, 0)
  t.is(png?.buffer.byteLength, 70)
  t.deepEqual([...(png ?? []).slice(0, 4)], [0x89, 0x50, 0x4e, 0x47])
})

test('readAttachment() returns undefined for a missing attachment', async (t) => {
  const raw = await fixture('newsletter')
  for (const index of [4, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) t.is(await readAttachment(raw, false, index), undefined)
  t.is(await readAttachment(Buffer.alloc(0), false, 0), undefined)
})

test('readMessage() returns the declared media type, not a guess from the file name', async (t) => {
  const part = (type: string, name: string) =>
    `--b\r\nContent-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\nx\r\n`
  const parts = part('application/octet-stream', 'a.pdf') + part('Image/PNG', 'b.pdf')
  const raw = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`
  t.deepEqual(columns((await readMessage(Buffer.from(raw), false)).attachments, 'filename', 'contentType'), [
    ['a.pdf', 'application/octet-stream'],
    ['b.pdf', 'image/png'],
  ])
})

test('readMessage() does not offer an attachment that was cut off', async (t) => {
  const raw = await fixture('newsletter')
  const cut = raw.subarray(0, raw.indexOf('JVBERi0xLjQK') + 4)
  t.is((await readMessage(cut, false)).attachments.length, 2)
  t.is((await readMessage(cut, true)).attachments.length, 1)
  t.is(await readAttachment(cut, true, 1), undefined)
  t.is((await readAttachment(cut, true, 0))?.length, 70)
})
