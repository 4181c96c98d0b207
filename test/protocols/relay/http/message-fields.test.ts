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

test('addressed(): header roles with envelope spelling; other recipients are hidden', (t) => {
  const { fields, reached } = addressed(parts(), 'bounce@site.test', ['anna@peer.test', 'carl@peer.test', 'bob@peer.test'])
  t.deepEqual(
    [fields.to, names(fields.cc), names(fields.bcc)],
    [[{ name: 'Anna', address: 'anna@peer.test' }], ['bob@peer.test'], ['carl@peer.test']],
  )
  t.is(reached.length, 3)
  t.deepEqual(fields.headers, [{ name: 'References', value: '<1@site.test>' }])
})

test('addressed(): omits header addresses that are not recipients', (t) => {
  const { fields } = addressed(parts(), '', ['bob@peer.test', 'carl@peer.test'])
  t.deepEqual([names(fields.to), names(fields.cc), names(fields.bcc)], [['bob@peer.test'], [], ['carl@peer.test']])
})

test('addressed(): recipients missing in the header get separate requests', (t) => {
  const { fields, reached } = addressed(parts(), '', ['carl@peer.test', 'dora@peer.test'])
  t.deepEqual([names(fields.to), names(fields.cc), names(fields.bcc)], [['carl@peer.test'], [], []])
  t.deepEqual(reached, ['carl@peer.test'])
})

test('addressed(): no duplicates; matches international domains in both forms', (t) => {
  const to = ['anna@bücher.test', 'Anna@BÜCHER.test'].map((address) => ({ name: '', address }))
  const { fields } = addressed(parts({ to, cc: to }), '', ['anna@xn--bcher-kva.test'])
  t.deepEqual([names(fields.to), names(fields.cc)], [['anna@xn--bcher-kva.test'], []])
})

test('addressed(): falls back to the envelope sender', (t) => {
  t.is(addressed(parts({ from: [] }), 'bounce@site.test', ['anna@peer.test']).fields.from.address, 'bounce@site.test')
})

test('addressed(): empty text or HTML counts as missing', (t) => {
  const { fields } = addressed(parts({ text: '', html: '<p>hi</p>' }), '', ['anna@peer.test'])
  t.deepEqual([fields.text, fields.html], [undefined, '<p>hi</p>'])
  t.is(addressed(parts({ html: '' }), '', ['anna@peer.test']).fields.html, undefined)
})
