/** Mail in the forms that real programs write, read without the thread; each with the line ends of the file and with CRLF. */
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from '#test'
import type { ReadMessage } from '#core/capture/reading/message-reader.ts'
import { readAttachment, readMessage } from '#ingest/messages/read-message.ts'
import { columns } from '../../support/column.ts'

const folder = new URL('../../fixtures/mail/as-it-comes/', import.meta.url)

async function inBothForms(t: ExecutionContext, name: string, check: (message: ReadMessage, raw: Buffer) => unknown): Promise<void> {
  const raw = await readFile(new URL(`${name}.eml`, folder))
  const sent = Buffer.from(raw.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
  for (const form of [raw, sent]) await check(await readMessage(form, false), form)
  t.notDeepEqual(raw, sent)
}

test('readMessage() decodes words of ISO-2022-JP each alone', (t) =>
  inBothForms(t, 'japanese-subject', ({ subject }) => t.is(subject, '年末年始の営業日と発送予定に関する大切なお知らせをお送りいたします')))

test('readMessage() reads text without a charset', (t) =>
  inBothForms(t, 'undeclared-charset', ({ text }) => t.is(text.trim(), 'Guten Tag Frau Müßig, das Gerät kostet 129 € – passt das?')))

test('readMessage() reads the charset of cron', (t) =>
  inBothForms(t, 'cron-charset', ({ text }) => t.is(text.trim(), 'Übersprungen: 3 Dateien')))

test('readMessage() reads parts between padded delimiters', (t) =>
  inBothForms(t, 'padded-delimiters', async ({ text, attachments }, raw) => {
    t.is(text.trim(), 'The report is attached.')
    t.deepEqual(columns(attachments, 'filename', 'contentType', 'size'), [['report.pdf', 'application/pdf', 11]])
    t.is(Buffer.from((await readAttachment(raw, false, 0)) ?? []).toString(), 'Hello World')
  }))

test('readMessage() closes an inner multipart at a delimiter of an outer one', async (t) => {
  const inner =
    'Content-Type: multipart/alternative; boundary=i\r\n\r\n--i\r\n\r\nBill\r\n--i\r\nContent-Type: text/html\r\n\r\n<p>Bill</p>\r\n'
  const bill =
    '--o\r\nContent-Type: application/pdf; name=bill.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8gd29ybGQ=\r\n--o--\r\n'
  for (const between of ['', '--i--\r\n', '\r\n', 'Content-Type: text/html\r\n']) {
    const raw = Buffer.from(`Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n${inner}${between}${bill}`)
    const { text, html, attachments } = await readMessage(raw, false)
    t.is(text.trim(), 'Bill')
    t.true(html.startsWith('<p>Bill</p>') && !html.includes('--o'))
    t.deepEqual(columns(attachments, 'filename', 'size'), [['bill.pdf', 11]])
  }
})

const body = async (type: string, content: string): Promise<ReadMessage> =>
  readMessage(Buffer.from(`Content-Type: ${type}\r\n\r\n${content}`, 'latin1'), false)

test('readMessage() reads text and HTML whose octets are not valid in the declared charset', async (t) => {
  t.is((await body('text/plain; charset=utf-8', 'M\xfc\xdfig')).text, 'Müßig')
  t.is((await body('text/plain; charset=binary', 'M\xfc\xdfig')).text, 'Müßig')
  t.is((await body('text/plain; charset=cp850', '\x81')).text, 'ü')
  t.is((await body('text/html; charset=us-ascii', '<p>M\xfc\xdfig')).html, '<p>Müßig</p>')
  t.is((await body('text/html', '<meta charset=windows-1251><p>\xe4\xe0')).html, '<p>да</p>')
})
