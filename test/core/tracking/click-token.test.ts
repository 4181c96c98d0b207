import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { clickToken, readClickToken } from '#core/tracking/click-token.ts'
import { newTraceId } from '#store/ids.ts'
import { Seeded } from '../../support/seeded.ts'
import { secrets } from '../core-fixture.ts'

const target = 'https://shop.example.ch/order?id=1&lang=de#top'

test('readClickToken() returns the contents of the token', (t) => {
  for (const to of ['http://a.test/', target, `https://a.test/${'x'.repeat(2033)}`]) {
    for (const link of [1, 1000]) {
      const click = { traceId: newTraceId(), link, target: to }
      const token = clickToken(secrets, click)
      t.regex(token, /^[\w-]+$/)
      t.deepEqual(readClickToken(secrets, token), click)
    }
  }
})

test('readClickToken() refuses a token with any changed, missing or added character', (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const end of ['', '1', '12']) {
    const token = clickToken(secrets, { traceId: newTraceId(), link: 3, target: target + end })
    for (let at = 0; at < token.length; at++) {
      const before = token.slice(0, at)
      const after = token.slice(at + 1)
      for (const character of alphabet) if (character !== token[at]) t.is(readClickToken(secrets, before + character + after), undefined)
      t.is(readClickToken(secrets, before + after), undefined)
    }
    for (const more of ['A', '=', '==', ' ', '\n', '.', '%3D', '/', token]) t.is(readClickToken(secrets, token + more), undefined, more)
    for (const first of [' ', '=', 'A']) t.is(readClickToken(secrets, first + token), undefined)
    t.is(readClickToken(secrets, token.replaceAll('-', '+').replaceAll('_', '/') + '='), undefined)
  }
})

test('readClickToken() refuses tokens of other services and malformed ones', (t) => {
  const token = clickToken(new SecretBox(Buffer.alloc(32, 8)), { traceId: newTraceId(), link: 1, target })
  t.is(readClickToken(secrets, token), undefined)
  const seeded = new Seeded('tokens')
  for (let round = 0; round < 500; round++) {
    const bytes = Buffer.from(Array.from({ length: seeded.between(0, 90) }, () => seeded.between(0, 255)))
    t.is(readClickToken(secrets, bytes.toString('base64url')), undefined)
  }
  for (const text of ['', '.', 'null', target, Buffer.from(target).toString('base64url')]) t.is(readClickToken(secrets, text), undefined)
})

test('readClickToken() accepts only normalized web URLs, even with a valid MAC', (t) => {
  const others = [
    ...[
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.test/',
      '/path',
      'evil.test',
      'ftp://a.test/',
      'file:///etc/passwd',
      ' https://a.test/',
    ],
    ...[
      'https://a.test',
      'HTTPS://a.test/',
      'https://a.test/\r\nSet-Cookie: a=b',
      'https://a.test/\n',
      'https://a.test/\0',
      'https://a.test/\u00fc',
    ],
    ...['https:a.test/', 'https:///a.test/', 'https://a.test/ x', 'https:\\\\a.test\\'],
  ]
  for (const to of others) t.is(readClickToken(secrets, clickToken(secrets, { traceId: newTraceId(), link: 1, target: to })), undefined, to)
})
