import test from '#test'
import { clientAddress, clientNetwork } from '#core/access/client-network.ts'

test('clientNetwork() returns the IPv4 address or the IPv6 /64, in any notation', (t) => {
  const networks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:192.0.2.1': '192.0.2.1',
    '::ffff:c000:201': '192.0.2.1',
    '192.0.2.1:50123': '192.0.2.1',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:0DB8:1:2::6': '2001:db8:1:2',
    '[2001:db8:1:2::6]:443': '2001:db8:1:2',
    '[2001:db8:1:2::6]': '2001:db8:1:2',
    '2001:db8::6': '2001:db8:0:0',
    'fe80::1%eth0': 'fe80:0:0:0',
    '::1': '0:0:0:0',
    unknown: '',
    '': '',
  }
  for (const [address, network] of Object.entries(networks)) t.is(clientNetwork(address), network, address)
})

test('clientAddress() returns the address without port and brackets', (t) => {
  const addresses = {
    '192.0.2.1': '192.0.2.1',
    '192.0.2.1:50123': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '[2001:DB8::6]:443': '2001:db8::6',
    'fe80::1%eth0': 'fe80::1',
    _hidden: '',
    '192.0.2.1:port': '',
    '010.0.0.1': '',
  }
  for (const [given, address] of Object.entries(addresses)) t.is(clientAddress(given), address, given)
})
