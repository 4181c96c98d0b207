/** Encrypted secrets open only in their context, with their key, and unchanged. */
import { createHmac, hkdfSync } from 'node:crypto'
import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'

const box = new SecretBox(Buffer.alloc(32, 1))
const place = 'destination/dst_1/password'

test('SecretBox.open() returns the sealed secret', (t) => {
  for (const secret of ['', 'x', 'pässwörd 🔑', 'x'.repeat(10_000)]) t.is(box.open(box.seal(secret, place), place), secret)
  t.is(new SecretBox(Buffer.alloc(32, 1)).open(box.seal('x', place), place), 'x', 'another process with the same key')
})

test('SecretBox.seal() returns a different text each time, which hides the secret', (t) => {
  const sealed = box.seal('hunter2', place)
  t.not(sealed, box.seal('hunter2', place))
  t.regex(sealed, /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/)
  t.false(sealed.includes(Buffer.from('hunter2').toString('base64url')))
})

test('SecretBox.open() refuses another context', (t) => {
  const sealed = box.seal('x', place)
  for (const other of ['destination/dst_2/password', 'destination/dst_1', '', `${place}/`]) t.is(box.open(sealed, other), undefined)
})

test('SecretBox.open() refuses another key, also with a forged key id', (t) => {
  const other = new SecretBox(Buffer.alloc(32, 2))
  const sealed = box.seal('x', place)
  t.is(other.open(sealed, place), undefined)
  t.is(other.open(sealed.replace(box.keyId, other.keyId), place), undefined)
  t.not(other.keyId, box.keyId)
})

test('SecretBox.open() refuses every changed octet and every malformed text', (t) => {
  const sealed = box.seal('secret', place)
  const [version = '', keyId = '', nonce = '', body = ''] = sealed.split('.')
  for (const [name, part] of Object.entries({ nonce, body })) {
    const bytes = Buffer.from(part, 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      const text = changed.toString('base64url')
      const parts = name === 'nonce' ? [version, keyId, text, body] : [version, keyId, nonce, text]
      t.is(box.open(parts.join('.'), place), undefined, `${name} ${i}`)
    }
  }
  const cut = Buffer.from(body, 'base64url')
  const junk = [
    ...['', 'v1', 'v2' + sealed.slice(2), 'x', `v1.${keyId}`, `v1.${keyId}..`, `v1.${keyId}.${nonce}.`, `v1.${keyId}..${body}`],
    ...[4, 8, 12, 15].map((n) => `v1.${keyId}.${nonce}.${cut.subarray(-n).toString('base64url')}`),
  ]
  for (const text of junk) t.is(box.open(text, place), undefined, text)
})

test('SecretBox.fingerprint() is keyed, and matches() compares it', (t) => {
  const print = box.hash('password')
  t.true(box.matches('password', print))
  t.false(box.matches('passwore', print))
  t.false(box.matches('', print))
  t.false(box.matches('password', ''))
  t.not(new SecretBox(Buffer.alloc(32, 2)).hash('password'), print)
})

test('SecretBox requires a key of 32 bytes', (t) => {
  t.throws(() => new SecretBox(Buffer.alloc(31)), { instanceOf: TypeError, message: 'a master key has 32 bytes' })
})

test('SecretBox.open() refuses a truncated tag', (t) => {
  // an empty secret consists of the tag only
  const [version, keyId, nonce, tag = ''] = box.seal('', place).split('.')
  for (const bytes of [4, 8, 12, 13, 14, 15]) {
    const cut = Buffer.from(tag, 'base64url').subarray(0, bytes).toString('base64url')
    t.is(box.open([version, keyId, nonce, cut].join('.'), place), undefined, `${bytes}`)
  }
})

test('SecretBox.mac() is HMAC-SHA-256 with a separate key for each purpose', (t) => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 1), '', 'postern tokens', 32))
  for (const data of ['', 'x', 'y'.repeat(500)]) {
    const expected = createHmac('sha256', key).update(`link\0${data}`).digest()
    t.deepEqual(box.mac('link', Buffer.from(data)), expected)
    t.notDeepEqual(box.mac('other', Buffer.from(data)), expected)
  }
})
