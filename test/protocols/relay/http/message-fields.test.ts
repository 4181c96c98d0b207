import test from '#test'
import type { MessageParts } from '#ingest/mime/message-parts.ts'
import { addressed } from '../../../../protocols/relay/http/contract/message-fields.ts'

const parts = (changes: Partial<MessageParts> = {}): MessageParts => ({
  from: [{ name: 'Shop', address: 'shop@site.test' }],
  to: [{ name: 'Anna', address: 'anna@PEER.test' }],
  cc: [{ name: '', address: 'bob@peer.test' }],
  replyTo: [],
  subject: 'hi',
  text: 'hi',
  html: undefined,
  headers: [
    { name: 'Received', value: 'by us' },
    { name: 'Content-Type', value: 'text/plain' },
    { name: 'References', value: '<1@site.test>' },
  ],
  attachments: [],
  ...changes,
})
const names = (list: readonly { readonly address: string }[]): string[] => list.map(({ address }) => address)

test('addressed() names recipients as the header does, in the spelling of the envelope, and hides the others', (t) => {
  const { fields, reached } = addressed(parts(), 'bounce@site.test', ['anna@peer.test', 'carl@peer.test', 'bob@peer.test'])
  t.deepEqual(
    [fields.to, names(fields.cc), names(fields.bcc)],
    [[{ name: 'Anna', address: 'anna@peer.test' }], ['bob@peer.test'], ['carl@peer.test']],
  )
  t.is(reached.length, 3)
  t.deepEqual(fields.headers, [{ name: 'References', value: '<1@site.test>' }])
})

test('addressed() leaves out who of the header is no recipient of this attempt', (t) => {
  const { fields } = addressed(parts(), '', ['bob@peer.test', 'carl@peer.test'])
  t.deepEqual([names(fields.to), names(fields.cc), names(fields.bcc)], [['bob@peer.test'], [], ['carl@peer.test']])
})

test('addressed() takes recipients whom the header does not name one at a time', (t) => {
  const { fields, reached } = addressed(parts(), '', ['carl@peer.test', 'dora@peer.test'])
  t.deepEqual([names(fields.to), names(fields.cc), names(fields.bcc)], [['carl@peer.test'], [], []])
  t.deepEqual(reached, ['carl@peer.test'])
})

test('addressed() names nobody twice, and finds international domains by either spelling', (t) => {
  const to = ['anna@bücher.test', 'Anna@BÜCHER.test'].map((address) => ({ name: '', address }))
  const { fields } = addressed(parts({ to, cc: to }), '', ['anna@xn--bcher-kva.test'])
  t.deepEqual([names(fields.to), names(fields.cc)], [['anna@xn--bcher-kva.test'], []])
})

test('addressed() takes the sender of the envelope when the header has none', (t) => {
  t.is(addressed(parts({ from: [] }), 'bounce@site.test', ['anna@peer.test']).fields.from.address, 'bounce@site.test')
})

test('addressed() takes an empty text or HTML for none', (t) => {
  const { fields } = addressed(parts({ text: '', html: '<p>hi</p>' }), '', ['anna@peer.test'])
  t.deepEqual([fields.text, fields.html], [undefined, '<p>hi</p>'])
  t.is(addressed(parts({ html: '' }), '', ['anna@peer.test']).fields.html, undefined)
})
