import test from '#test'
import { addressedMime } from '../../../../protocols/relay/http/contract/addressed-mime.ts'
import type { MessageFields, NamedAddress } from '../../../../protocols/relay/http/contract/vendor.ts'

const named = (address: string, name = ''): NamedAddress => ({ name, address })

const noFields: MessageFields = {
  from: named('shop@site.test'),
  ...{ to: [], cc: [], bcc: [], replyTo: [], headers: [], attachments: [] },
  ...{ subject: '', text: undefined, html: undefined },
}

async function addressed(mime: string, rcptTo: readonly string[], fields: Partial<MessageFields> = {}) {
  const { mime: made, hidden } = await addressedMime({
    ...{ traceId: 't', mailFrom: '', rcptTo },
    mime: () => Promise.resolve(Buffer.from(mime, 'latin1')),
    fields: () => Promise.resolve({ ...noFields, ...fields }),
  })
  return { text: made.toString('latin1'), hidden }
}

const head = 'Received: from a\r\n by b\r\nFrom: shop@site.test\r\n'
const rest = 'Subject: x\r\nX-To: z@peer.test\r\n\r\nTo: not a header\r\n\xe9\r\n'

const untouched: readonly (readonly [string, readonly string[]])[] = [
  ['To: a@peer.test\r\n', ['a@peer.test']],
  [
    'To: "Anna, Beispiel" <A@peer.test>,\r\n =?utf-8?q?B=C3=B6b?= <b@peer.test>\r\nCC: c@peer.test\r\n',
    ['c@peer.test', 'b@peer.test', 'a@PEER.test'],
  ],
  ['To: a@peer.test, a@peer.test\r\n', ['a@peer.test']],
]

for (const [fields, rcptTo] of untouched)
  test(`addressedMime(): keeps every byte if ${JSON.stringify(fields)} equals the recipients`, async (t) => {
    t.deepEqual(await addressed(head + fields + rest, rcptTo), { text: head + fields + rest, hidden: [] })
  })

test('addressedMime(): names exactly the recipients of the attempt', async (t) => {
  const mime = `${head}To: a@peer.test,\r\n b@peer.test\r\nCc: c@peer.test\r\nResent-To: d@peer.test\r\nBCC: e@peer.test\r\n${rest}`
  const { text, hidden } = await addressed(mime, ['b@peer.test', 'c@peer.test', 'f@peer.test'], {
    to: [named('b@peer.test', 'Bob "B" \\ Meier')],
    cc: [named('c@peer.test', 'Zoë 🐈'.repeat(9))],
    bcc: [named('f@peer.test')],
  })
  t.deepEqual(hidden, ['f@peer.test'])
  t.true(text.startsWith(head))
  t.true(text.endsWith(rest.slice(rest.indexOf('\r\n\r\n'))))
  t.false(/[ade]@peer\.test/.test(text))
  const fields = text.slice(0, text.indexOf('\r\n\r\n') + 2)
  t.true(fields.includes('To: "Bob \\"B\\" \\\\ Meier" <b@peer.test>\r\n'))
  t.true(fields.includes('\r\nBcc: f@peer.test\r\n'))
  t.true(fields.split('\r\n').every((line) => line.length <= 78 && /^[\x00-\x7f]*$/.test(line)))
  const words = [...fields.matchAll(/=\?UTF-8\?B\?([^?]+)\?=/g)].map(([, word = '']) => Buffer.from(word, 'base64').toString())
  t.is(words.join(''), 'Zoë 🐈'.repeat(9))
  t.true(words.every((word) => !word.includes('\ufffd')))
})

const doubtful: readonly string[] = [
  'garbage\r\nTo: other@peer.test\r\n',
  'To: "a@peer.test" <other@peer.test>\r\n',
  'To: undisclosed-recipients:;\r\n',
  'To: a@peer.test\r\nBcc: a@peer.test\r\n',
  'Subject: none\r\n',
]

for (const fields of doubtful)
  test(`addressedMime(): rewrites unclear addressing ${JSON.stringify(fields)}`, async (t) => {
    const { text } = await addressed(head + fields + rest, ['a@peer.test'], { to: [named('a@peer.test')] })
    t.deepEqual(text.match(/^(?:To|Bcc): .*$/gm)?.slice(0, 1), ['To: a@peer.test'])
    t.false(text.includes('other@peer.test'))
  })

test('addressedMime(): message without a body', async (t) => {
  const { text } = await addressed('From: shop@site.test\r\n', ['a@peer.test'], { to: [named('a@peer.test')] })
  t.is(text, 'From: shop@site.test\r\nTo: a@peer.test\r\n')
})
