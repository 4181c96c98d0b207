import test from '#test'
import { addressGuard, webPortsOnly, isLoopbackAddress, isPublicAddress } from '#core/outbound/address-guard.ts'

const publicOnes = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.0.1',
  '172.32.0.1',
  '192.167.1.1',
  '2606:4700::1111',
  '2a00:1450:4001::5',
]

const others = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.9.9.9', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '::', '::1', 'fe80::1', 'fec0::1', 'fc00::1', 'fd12::1', 'ff02::1', '100::1', '2001:db8::1', '3fff::1'],
  // Addresses that embed another address: mapped, compatible, translated (RFC 6052, RFC 6145), 6to4, Teredo.
  ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '::7f00:1', '::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b::808:808'],
  ...['64:ff9b:1::1', '::ffff:0:808:808', '2002:7f00:1::1', '2002:808:808::1', '2001:0:808:808::1'],
  // Unassigned space.
  ...['4000::1', '5f00::1', 'e000::1'],
  // Not plain literals.
  ...[
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '010.0.0.1',
    '8.8.8.8 ',
    '8.8.8.8/32',
    '[::1]',
    '2606:4700::1111%eth0',
    'fe80::1%lo',
  ],
]

test('isPublicAddress(): accepts only public unicast addresses', (t) => {
  for (const address of publicOnes) t.true(isPublicAddress(address), address)
  for (const address of others) t.false(isPublicAddress(address), address)
})

test('isLoopbackAddress(): accepts 127.0.0.0/8 and ::1', (t) => {
  for (const address of ['127.0.0.1', '127.255.0.1', '::1']) t.true(isLoopbackAddress(address), address)
  for (const address of ['128.0.0.1', '10.0.0.1', '::2', '::ffff:127.0.0.1', 'localhost', '']) t.false(isLoopbackAddress(address), address)
})

test('addressGuard(): without a list, permits the public internet', (t) => {
  const guard = addressGuard([])
  for (const address of publicOnes) t.true(guard(address, 25), address)
  for (const address of others) t.false(guard(address, 25), address)
})

test('addressGuard(): permits listed ranges on their port', (t) => {
  const guard = addressGuard([
    { cidr: '127.0.0.1/32', port: 2600 },
    { cidr: '10.1.0.0/16' },
    { cidr: 'fd00::/8' },
    { cidr: '::1', port: 25 },
  ])
  t.true(guard('127.0.0.1', 2600))
  t.false(guard('127.0.0.1', 2601))
  t.false(guard('127.0.0.2', 2600))
  t.true(guard('10.1.255.1', 1))
  t.false(guard('10.2.0.1', 1))
  t.true(guard('fd12::1', 587))
  t.true(guard('::1', 25))
  t.false(guard('::1', 26))
  t.false(guard('::ffff:127.0.0.1', 2600))
  t.true(guard('8.8.8.8', 25))
})

test('addressGuard(): refuses invalid ranges', (t) => {
  for (const cidr of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0/8',
    'fe80::1%lo/64',
    '::/129',
    '10.0.0.0/-1',
    '10.0.0.0/1e1',
  ]) {
    t.like(
      t.throws(() => addressGuard([{ cidr }])),
      {
        code: 'validation_failed',
        message: `outbound_allow: "${cidr}" is not an address range; write it like 10.0.0.0/8.`,
      },
    )
  }
})

test('webPortsOnly(): limits public addresses to web ports; others follow the guard', (t) => {
  const guard = webPortsOnly(addressGuard([{ cidr: '10.0.0.0/8' }]))
  for (const port of [80, 443, 8080, 8443]) t.true(guard('93.184.216.34', port))
  for (const port of [22, 25, 465, 587, 3306, 6379]) t.false(guard('93.184.216.34', port))
  t.true(guard('10.1.1.1', 5000))
  t.false(guard('127.0.0.1', 80))
})
