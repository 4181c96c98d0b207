/** HMAC-SHA-256 from two prepared digests, compared with Node's. */
import { createHmac } from 'node:crypto'
import test from '#test'
import { hmac, hmacKey } from '../../../daemon/core/access/hmac.ts'
import { Seeded } from '../../support/seeded.ts'

test('keys and messages of any length give the same HMAC as createHmac', (t) => {
  const random = new Seeded('keys and messages')
  for (const keyBytes of [0, 1, 20, 32, 63, 64, 65, 131, 500])
    for (const bytes of [0, 1, 55, 56, 64, 152, 5000]) {
      const [key, message] = [random.bytes(keyBytes), random.bytes(bytes)]
      const expected = createHmac('sha256', key).update(message).digest('hex')
      const half = bytes >> 1
      t.is(hmac(hmacKey(key), message).toString('hex'), expected, `${String(keyBytes)} and ${String(bytes)}`)
      t.is(hmac(hmacKey(key), message.subarray(0, half), message.subarray(half)).toString('hex'), expected)
    }
})

test('the second test case of RFC 4231', (t) => {
  const mac = hmac(hmacKey(Buffer.from('Jefe')), Buffer.from('what do ya want for nothing?'))
  t.is(mac.toString('hex'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})
