/** Checks 5 to 11, with a mail for each outcome: the sending server, DNS lists, and the sender's domains. */
import { prove, type Fixture } from './one-check.ts'
import { alternative, type Changes } from './golden.ts'

const pointer = '25.113.0.203.in-addr.arpa PTR'
const at = (zone: Changes['zone']): Changes => ({ zone: zone ?? {} })
const client = (clientIp: string, zone: Changes['zone'] = {}): Changes => ({ session: { clientIp }, zone })
const nibbles = '9.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'

prove('fcrdns', [
  { what: 'a confirmed name', status: 'pass', points: 8 },
  {
    ...{ what: 'a confirmed name of an IPv6 address', status: 'pass', points: 8 },
    changes: client('2001:db8::19', { [`${nibbles}.ip6.arpa PTR`]: ['mail.example.com'], 'mail.example.com AAAA': ['2001:0db8:0::19'] }),
  },
  ...['ip-203-0-113-25.example.net', '25.113.0.203.example.net', 'dyn-4.example.net', 'a.dsl.example.net', 'cb007119.example.net'].map(
    (name): Fixture => ({
      ...{ what: `the name ${name}`, status: 'warn', points: 4 },
      changes: at({ [pointer]: [name], [`${name} A`]: ['203.0.113.25'] }),
    }),
  ),
  ...['2001-db8--19.example.net', '2001-db8-0-0-0-0-0-19.example.net', '20010db8000000000000000000000019.example.net'].map(
    (name): Fixture => ({
      ...{ what: `the name ${name}`, status: 'warn', points: 4 },
      changes: client('2001:db8::19', { [`${nibbles}.ip6.arpa PTR`]: [name], [`${name} AAAA`]: ['2001:db8::19'] }),
    }),
  ),
  {
    ...{ what: 'a name that contains the word pool inside another word', status: 'pass', points: 8 },
    changes: at({ [pointer]: ['liverpool.example.net'], 'liverpool.example.net A': ['203.0.113.25'] }),
  },
  { what: 'no name', status: 'fail', points: 0, changes: at({ [pointer]: undefined }) },
  {
    ...{ what: 'a name that resolves elsewhere', status: 'fail', points: 0 },
    changes: at({ [pointer]: ['www.example.net'], 'www.example.net A': ['192.0.2.1'] }),
  },
  { what: 'a private address', status: 'na', points: 0, changes: client('10.0.0.1') },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: at({ [pointer]: 'ETIMEOUT' }) },
])

prove('helo', [
  { what: 'a name that resolves to the client', status: 'pass', points: 3 },
  {
    ...{ what: 'a name that resolves elsewhere', status: 'warn', points: 2 },
    changes: at({ 'mail.example.com A': ['192.0.2.1'], [pointer]: undefined }),
  },
  { what: 'the name in PTR that does not resolve', status: 'warn', points: 2, changes: at({ 'mail.example.com A': undefined }) },
  { what: 'a name that does not resolve', status: 'warn', points: 1, changes: { session: { helo: 'none.example.com' } } },
  { what: 'the address of the client', status: 'warn', points: 1, changes: { session: { helo: '[203.0.113.25]' } } },
  ...['[192.0.2.1]', 'server', 'localhost', 'localhost.localdomain', 'mx.postern.test', 'in.postern.test', '203.0.113.25', ''].map(
    (helo): Fixture => ({ what: `the greeting "${helo}"`, status: 'fail', points: 0, changes: { session: { helo } } }),
  ),
  { what: 'a fault of DNS', status: 'na', points: 0, changes: at({ 'mail.example.com A': 'ETIMEOUT' }) },
])

prove('tls', [
  { what: 'TLS 1.3', status: 'pass', points: 5 },
  { what: 'TLS 1.0', status: 'warn', points: 2, changes: { session: { tls: { protocol: 'TLSv1', cipher: 'AES128-SHA' } } } },
  { what: 'plain text', status: 'fail', points: 0, changes: { session: { tls: null } } },
  { what: 'a listener without TLS', status: 'na', points: 0, changes: { session: { tls: null, tlsOffered: false } } },
])

const listed = (zone: string, code = '127.0.0.2'): Changes => at({ [`25.113.0.203.${zone} A`]: [code] })
const major = { zone: 'major.ip.test', kind: 'ip', weight: 'major', ignore: [] } as const

prove('ip_blocklist', [
  { what: 'an address on no list', status: 'pass', points: 8 },
  { what: 'an address on a minor list', status: 'warn', points: 4, changes: listed('minor.ip.test') },
  { what: 'an address on a major list', status: 'fail', points: 0, changes: listed('major.ip.test') },
  {
    ...{ what: 'an IPv6 address on a major list', status: 'fail', points: 0 },
    changes: client('2001:db8::19', { [`${nibbles}.major.ip.test A`]: ['127.0.0.2'] }),
  },
  { what: 'an answer outside 127.0.0.0/8', status: 'pass', points: 8, changes: listed('major.ip.test', '198.51.100.1') },
  { what: 'a list that refuses queries above its limit', status: 'pass', points: 8, changes: listed('major.ip.test', '127.255.255.254') },
  { what: 'an address in the ignore setting', status: 'pass', points: 8, changes: listed('minor.ip.test', '127.0.0.1') },
  { what: 'a private address', status: 'na', points: 0, changes: client('192.168.1.1') },
  { what: 'no list', status: 'na', points: 0, changes: { lists: [] } },
  {
    ...{ what: 'a list that is off', status: 'na', points: 0 },
    changes: { ...listed('major.ip.test'), lists: [{ ...major, off: 'all' }] },
  },
  {
    ...{ what: 'a list that does not answer', status: 'na', points: 0 },
    changes: { lists: [major], zone: { '25.113.0.203.major.ip.test A': 'ETIMEOUT' } },
  },
])

prove('domain_blocklist', [
  { what: 'domains on no list', status: 'pass', points: 5 },
  {
    ...{ what: 'a link host on a minor list', status: 'warn', points: 2 },
    changes: {
      body: alternative('Hello https://deep.linked.test/', '<p>Hello</p>'),
      zone: { 'linked.test.minor.domain.test A': ['127.0.0.2'] },
    },
  },
  {
    ...{ what: 'a link host on a major list', status: 'fail', points: 0 },
    changes: {
      body: alternative('Hello https://deep.linked.test/', '<p>Hello</p>'),
      zone: { 'linked.test.major.domain.test A': ['127.0.1.2'] },
    },
  },
  {
    ...{ what: 'the domain of From on a major list', status: 'fail', points: 0 },
    changes: at({ 'example.com.major.domain.test A': ['127.0.1.2'] }),
  },
  { what: 'no list', status: 'na', points: 0, changes: { lists: [] } },
])

prove('sender_domain', [
  { what: 'domains that accept mail', status: 'pass', points: 4 },
  {
    ...{ what: 'an address and no MX', status: 'warn', points: 2 },
    changes: at({ 'shop.example.com MX': 'ENODATA', 'shop.example.com A': ['192.0.2.1'] }),
  },
  { what: 'an MX that is an alias', status: 'warn', points: 2, changes: at({ 'mx.example.com CNAME': ['other.test'] }), says: /alias/ },
  {
    ...{ what: 'From without, Reply-To with MX', status: 'warn', points: 2 },
    changes: {
      header: { From: 'Shop <a@silent.example.com>', 'Reply-To': 'a@example.com' },
      zone: { 'silent.example.com MX': 'ENODATA' },
    },
  },
  {
    ...{ what: 'From that does not exist, Reply-To with MX', status: 'fail', points: 0 },
    says: /does not exist/,
    changes: { header: { From: 'Shop <a@silent.example.com>', 'Reply-To': 'a@example.com' } },
  },
  {
    ...{ what: 'From with a null MX, Reply-To with MX', status: 'fail', points: 0 },
    says: /null MX/,
    changes: {
      header: { From: 'Shop <a@silent.example.com>', 'Reply-To': 'a@example.com' },
      zone: { 'silent.example.com MX': [{ exchange: '.', priority: 0 }] },
    },
  },
  {
    ...{ what: 'From and Reply-To without MX', status: 'fail', points: 0 },
    says: /neither MX/,
    changes: {
      header: { From: 'Shop <a@silent.example.com>', 'Reply-To': 'a@quiet.example.com' },
      zone: { 'silent.example.com MX': 'ENODATA', 'quiet.example.com MX': 'ENODATA' },
    },
  },
  { what: 'a null MX', status: 'fail', points: 0, changes: at({ 'example.com MX': [{ exchange: '', priority: 0 }] }), says: /null MX/ },
  {
    ...{ what: 'neither MX nor address', status: 'fail', points: 0 },
    changes: at({ 'shop.example.com MX': 'ENODATA', 'shop.example.com A': 'ENODATA', 'shop.example.com AAAA': 'ENODATA' }),
  },
  {
    ...{ what: 'a domain that does not exist', status: 'fail', points: 0 },
    changes: at({ 'shop.example.com MX': undefined }),
    says: /does not exist/,
  },
  { what: 'an MX that does not resolve', status: 'fail', points: 0, changes: at({ 'mx.example.com A': undefined }) },
  {
    ...{ what: 'a null sender: only From counts', status: 'pass', points: 4 },
    changes: { session: { mailFrom: '' }, zone: { 'shop.example.com MX': undefined } },
  },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: at({ 'example.com MX': 'ESERVFAIL' }) },
])

const noDane = { '_25._tcp.mx.example.com TLSA': undefined }
const sts = { ...noDane, '_mta-sts.example.com TXT': [['v=STSv1; id=1']] }
const policy = (mode: string) => async (domain: string) => `version: STSv1\r\nmode: ${mode}\r\nmx: mx.${domain}\r\nmax_age: 86400\r\n`

prove('domain_hardening', [
  { what: 'DANE with reports', status: 'pass', points: 2 },
  { what: 'MTA-STS that is enforced, with reports', status: 'pass', points: 2, changes: { zone: sts, fetchPolicy: policy('enforce') } },
  { what: 'MTA-STS for testing', status: 'warn', points: 1, changes: { zone: sts, fetchPolicy: policy('testing') } },
  {
    ...{ what: 'an invalid policy, with reports', status: 'warn', points: 1 },
    changes: { zone: sts, fetchPolicy: async () => 'mode: enforce' },
  },
  {
    ...{ what: 'a policy that could not be fetched', status: 'na', points: 0 },
    changes: { zone: sts, fetchPolicy: () => Promise.reject(new Error('no answer')) },
  },
  { what: 'reports alone', status: 'warn', points: 1, changes: at(noDane) },
  {
    what: 'nothing',
    status: 'fail',
    points: 0,
    changes: at({ ...noDane, '_smtp._tls.example.com TXT': undefined }),
    says: /recommendation/,
  },
  { what: 'MTA-STS whose policy may not be fetched', status: 'na', points: 0, changes: at(sts), says: /fetches no MTA-STS policies/ },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: at({ ...noDane, '_mta-sts.example.com TXT': 'ETIMEOUT' }) },
])
