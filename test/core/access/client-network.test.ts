import test from 'ava'
import { clientNetwork } from '#core/access/client-network.ts'

test('clientNetwork() is the address of IPv4 and the /64 of IPv6', (t) => {
  t.is(clientNetwork('192.0.2.1'), '192.0.2.1')
  t.is(clientNetwork('::ffff:192.0.2.1'), '192.0.2.1')
  t.is(clientNetwork('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  t.is(clientNetwork('2001:db8:1:2::6'), '2001:db8:1:2')
  t.is(clientNetwork('2001:db8::6'), '2001:db8:0:0')
  t.is(clientNetwork('::1'), '0:0:0:0')
})
