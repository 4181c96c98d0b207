/** Random lists of attachments arrive intact: composed, and read by independent parsers. */
import { simpleParser } from 'mailparser'
import test from '#test'
import { parseMailbox } from '#core/addresses.ts'
import { attachmentsOf, type GivenAttachment } from '#core/submission/compose/attachments.ts'
import { Base64File } from '#core/submission/compose/base64.ts'
import type { SendRequest } from '#core/submission/compose/compose.ts'
import { hardName, isHarmless } from '../../../support/hard-names.ts'
import { readByPython, withPython } from '../../../support/peers/python-email.ts'
import { Seeded } from '../../../support/seeded.ts'
import { composedOf, filesInOrder, isMeant } from './readers.ts'

const types = [
  ...[
    undefined,
    undefined,
    'application/octet-stream',
    'application/pdf',
    'text/plain',
    'text/html; charset=utf-8',
    'TEXT/csv;header="present"',
  ],
  ...['image/svg+xml', 'message/rfc822', 'application/json; profile="a;b, c"', 'application/x; name=other.txt', 'x-a/b!#$&^_.+-'],
]
const pieces = ['\r\n', '\n', '\r', '.\r\n', 'From ', '--', '=', 'a', 'ü', '\0', '\t ', ' \r\n', 'X: y\r\n', '=_mixed_', 'x'.repeat(500)]

function content(chance: Seeded): Buffer {
  const size = chance.pick([0, 1, 2, 56, 57, 58, 1000, chance.between(0, 5000)])
  if (chance.chance(0.4)) return Buffer.from(Array.from({ length: size }, () => chance.between(0, 255)))
  const text = Array.from({ length: chance.between(0, 30) }, () => chance.pick(pieces)).join('')
  return Buffer.from(chance.chance(0.3) ? `Subject: x\r\n\r\n${text}` : text)
}

function given(chance: Seeded): GivenAttachment {
  const file = Base64File.parse(content(chance).toString('base64'))
  if (!(file instanceof Base64File)) throw new Error(file.fault)
  const filename = chance.chance(0.1) ? undefined : hardName(chance)
  const contentId = chance.chance(0.3) ? `id-${chance.between(0, 1_000_000)}@example.com` : undefined
  return { filename, contentType: chance.pick(types), content: file, contentId }
}

function random(chance: Seeded): { readonly request: SendRequest; readonly composed: Buffer } {
  const from = parseMailbox('Shop <shop@example.com>')
  if (!from) throw new Error('no mailbox')
  const attachments = attachmentsOf(Array.from({ length: chance.between(1, 8) }, () => given(chance)))
  const html = chance.chance(0.5) ? '<p>Hello</p>' : undefined
  const request = { from, to: [from], cc: [], bcc: [], replyTo: [], subject: 'x', text: 'Hello', html, headers: [], attachments }
  return { request, composed: composedOf(request) }
}

const chance = new Seeded('attachments')
const mails = Array.from({ length: 150 }, () => random(chance))

test('attachments: file names are safe and unique in a message', (t) => {
  for (const { attachments } of mails.map(({ request }) => request)) {
    t.true(attachments.every(({ filename }) => isHarmless(filename)))
    t.is(new Set(attachments.map(({ filename }) => filename.toLowerCase())).size, attachments.length)
  }
})

test('attachments: lines of the message are short and end in CRLF', (t) => {
  for (const { composed } of mails) {
    t.notRegex(composed.toString('latin1'), /[^\r]\n|\r[^\n]|\0|[\u0080-\u00ff]/)
    t.true(
      composed
        .toString('latin1')
        .split('\r\n')
        .every((line) => line.length <= 998),
    )
  }
})

test('attachments: mailparser reads every file octet by octet', async (t) => {
  for (const { request, composed } of mails) {
    const { attachments } = await simpleParser(composed, { skipTextToHtml: true, skipHtmlToText: true })
    t.deepEqual(
      attachments.map(({ filename, cid, content: octets }) => [filename, cid, octets.toString('base64')]),
      filesInOrder(request).map(({ filename, contentId, content: file }) => [filename, contentId, file.decoded().toString('base64')]),
    )
  }
})

withPython('Python finds every attached file, octet by octet and without a defect', async (t) => {
  const read = await readByPython(mails.map(({ composed }) => composed))
  for (const [i, { request }] of mails.entries()) {
    const mail = read[i]
    t.deepEqual(
      mail?.defects.filter((defect) => !isMeant(defect, request)),
      [],
    )
    t.deepEqual(
      mail?.parts
        .slice(request.html === undefined ? 1 : 2)
        .map(({ filename, name, octets }) => [filename, name, octets.toString('base64')]),
      filesInOrder(request).map(({ filename, content: file }) => [filename, filename, file.decoded().toString('base64')]),
    )
  }
})
