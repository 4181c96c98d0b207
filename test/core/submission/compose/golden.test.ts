/** Composed messages octet by octet, also read by independent parsers. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { simpleParser, type AddressObject } from 'mailparser'
import test from '#test'
import { parseAddress } from '#core/addresses.ts'
import { attachmentsOf, checkingFiles } from '#core/submission/compose/attachments.ts'
import type { SendRequest } from '#core/submission/compose/compose.ts'
import { runAtOnce } from '#core/event-loop.ts'
import { check } from '../../../../admin-api/bodies/validation.ts'
import { decoder } from '../../../../admin-api/wire/fields/codec.ts'
import { sendInput, toSendOrder } from '../../../../admin-api/wire/sending/send.ts'
import { readByPython, withPython, type PythonPart } from '../../../support/peers/python-email.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { goldenRequests } from './golden-requests.ts'
import { composedOf, filesInOrder, isMeant } from './readers.ts'

const folder = new URL('../../../fixtures/composed/', import.meta.url)
const rewriting = process.env['UPDATE_GOLDEN'] === '1' && process.env['CI'] === undefined

interface Golden {
  readonly name: string
  readonly request: SendRequest
  readonly composed: Buffer
}

const goldens: readonly Golden[] = Object.entries(goldenRequests).map(([name, body]) => {
  const { from, attachments, ...order } = toSendOrder(decoder(sendInput)(check(sendInput, body, 'body')))
  if (!from) throw new Error(`${name} names no sender`)
  const request = { ...order, from, attachments: attachmentsOf(runAtOnce(checkingFiles(attachments))) }
  return { name, request, composed: composedOf(request) }
})

for (const { name, composed } of goldens) {
  test(`golden: ${name} is composed with unchanged octets`, async (t) => {
    const file = new URL(`${name}.eml`, folder)
    if (rewriting) await writeFile(file, composed)
    t.is(composed.toString('latin1'), await readFile(file, 'latin1'))
  })

  test(`golden: ${name} has valid line lengths and CRLF`, (t) => {
    const text = composed.toString('latin1')
    t.notRegex(text, /[^\r]\n|\r[^\n]|\0/)
    t.true(text.split('\r\n').every((line) => line.length <= 998))
    const [head = ''] = text.split('\r\n\r\n')
    t.false(
      head.split('\r\n').some((line) => line.trim() === ''),
      'a header line of blanks only',
    )
  })
}

test('golden: every message has its request', async (t) => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.eml'))
  t.deepEqual(files.toSorted(), goldens.map(({ name }) => `${name}.eml`).toSorted())
})

/** The message has CRLF for every line break of the request. */
const asSent = (text: string | undefined): string | undefined => text?.replaceAll(/\r\n|\r|\n/g, '\r\n').toWellFormed()
/** Runs of blanks in a field, where it may be folded, count as one. */
const unfolded = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Python 3.11 keeps a blank between encoded words of a display name, which RFC 2047 §6.2 removes; mailparser reads them exactly. */
const closedUp = (name: string): string => (/[^ -~]/.test(name) ? name.replaceAll(' ', '') : name)

/** Expected texts in order. */
function texts({ text, html }: SendRequest): { readonly type: string; readonly text: string }[] {
  const bodies = [
    { type: 'text/plain', text: asSent(text ?? (html === undefined ? '' : undefined)) },
    { type: 'text/html', text: asSent(html) },
  ]
  return bodies.flatMap((body) => (body.text === undefined ? [] : [{ type: body.type, text: body.text }]))
}

withPython('Python reads every golden message without a defect, and all fields as requested', async (t) => {
  const mails = await readByPython(goldens.map(({ composed }) => composed))
  for (const [i, { name, request }] of goldens.entries()) {
    const mail = mails[i]
    if (!mail) return t.fail(name)
    t.deepEqual(
      mail.defects.filter((defect) => !isMeant(defect, request)),
      [],
      name,
    )
    t.is(unfolded(mail.subject), unfolded(request.subject), name)
    t.is(mail.date, startOfTime / 1000, name)
    for (const [field, mailboxes] of Object.entries({ from: [request.from], to: request.to, cc: request.cc, replyTo: request.replyTo }))
      t.deepEqual(
        mail[field as 'from'].map((read) => ({ ...read, name: closedUp(read.name) })),
        mailboxes.map((mailbox) => ({ name: closedUp(mailbox.name), address: mailbox.address })),
        `${name}: ${field}`,
      )
    for (const header of request.headers)
      t.is(unfolded(mail.fields[header.name.toLowerCase()] ?? 'none'), unfolded(header.value), `${name}: ${header.name}`)
    t.deepEqual(
      Object.keys(mail.fields).filter((field) => field === 'bcc'),
      [],
      name,
    )
    const wanted = texts(request)
    t.deepEqual(
      mail.parts.slice(0, wanted.length).map(({ type, octets }) => ({ type, text: octets.toString() })),
      wanted,
      name,
    )
    const files = filesInOrder(request)
    t.is(mail.parts.length, wanted.length + files.length, name)
    for (const [at, file] of files.entries()) {
      const part = mail.parts[wanted.length + at] as PythonPart
      t.is(part.filename, file.filename, name)
      t.is(part.name, file.filename, name)
      t.is(part.disposition, file.contentId === undefined || /^(?:text|message)\//.test(part.type) ? 'attachment' : 'inline', name)
      t.is(part.contentId, file.contentId === undefined ? null : `<${file.contentId}>`, name)
      t.true(part.octets.equals(file.content.decoded()), `${name}: ${file.filename}`)
      if (part.type !== 'application/octet-stream' || part.parameters['charset']) {
        const parameters = Object.entries(part.parameters).map(([key, value]) => `; ${key}=${value}`)
        t.is(part.type + parameters.join(''), file.contentType.replaceAll('"', ''), name)
      }
    }
  }
})

/** mailparser shows domains in Unicode; ours are A-labels. */
const readable = (field: AddressObject | AddressObject[] | undefined): string[] =>
  [field ?? []]
    .flat()
    .flatMap(({ value }) => value.map(({ name, address = '' }) => `${name} <${parseAddress(address)?.address ?? address}>`))

test('golden: mailparser reads the requested content in every message', async (t) => {
  for (const { name, request, composed } of goldens) {
    const mail = await simpleParser(composed, { skipTextToHtml: true, skipHtmlToText: true, keepCidLinks: true })
    t.is(unfolded(mail.subject ?? ''), unfolded(request.subject), name)
    for (const [field, mailboxes] of Object.entries({ from: [request.from], to: request.to, cc: request.cc, replyTo: request.replyTo }))
      t.deepEqual(
        readable(mail[field as 'from']),
        mailboxes.map((mailbox) => `${mailbox.name} <${mailbox.address}>`),
        `${name}: ${field}`,
      )
    const lines = (text: string | undefined): string => (asSent(text) ?? '').replace(/(?:\r\n)+$/, '')
    t.is(lines(mail.text), lines(request.text), name)
    t.is(lines(String(mail.html || '')), lines(request.html), name)
    t.deepEqual(
      mail.attachments.map(({ filename, cid, content, related }) => ({
        filename,
        cid,
        content: content.toString('base64'),
        inline: related === true,
      })),
      filesInOrder(request).map(({ filename, contentId, content }) => ({
        filename,
        cid: contentId,
        content: content.decoded().toString('base64'),
        inline: contentId !== undefined && request.html !== undefined,
      })),
      name,
    )
  }
})
