/** SPF of incoming mail according to RFC 7208. Each row has one record and one result. */
import test from '#test'
import { authenticateMail } from '#ingest/authentication/mail-authentication.ts'
import { StubDns, type Zone } from '../inspect/stub-dns.ts'

interface Row {
  /** Section of RFC 7208. */
  readonly rule: string
  readonly what: string
  /** TXT records of `shop.test`, or other DNS records. */
  readonly txt?: readonly string[] | string
  readonly zone?: Zone
  readonly from?: string
  readonly helo?: string
  readonly ip?: string
  readonly result: string
}

/** Included and redirected policies, and hosts of both address families. */
const world: Zone = {
  'allows.test TXT': [['v=spf1 ip4:192.0.2.7 -all']],
  'soft.test TXT': [['v=spf1 ~all']],
  'open.test TXT': [['v=spf1 ?all']],
  'broken.test TXT': [['v=spf1 ip4:none -all']],
  'plain.test TXT': [['some other text']],
  'silent.test TXT': 'ETIMEOUT',
  'loop.test TXT': [['v=spf1 include:loop.test -all']],
  'host.test A': ['192.0.2.7', '192.0.2.8'],
  'host.test AAAA': ['2001:db8::7'],
  'near.test A': ['192.0.2.1'],
  'mx.test MX': [
    { priority: 10, exchange: 'other.test' },
    { priority: 20, exchange: 'host.test' },
  ],
  'many.test MX': Array.from({ length: 11 }, (_, at) => ({ priority: at, exchange: `m${at}.many.test` })),
  'slow.test A': 'ETIMEOUT',
  '7.2.0.192.in-addr.arpa PTR': ['host.shop.test'],
  'host.shop.test A': ['192.0.2.7'],
  '192.0.2.7._ip.test A': ['127.0.0.2'],
  '7.2.0.192.in-addr._r.test A': ['127.0.0.2'],
  'ada._l.test A': ['127.0.0.2'],
  'shop.test._o.test A': ['127.0.0.2'],
  'mx.peer.test._h.test A': ['127.0.0.2'],
  'a.b._dash.test A': ['127.0.0.2'],
  'test._one.test A': ['127.0.0.2'],
  '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._v6.test A': ['127.0.0.2'],
  ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`n${at}.test TXT`, [['v=spf1 ?all']]])),
}

const includes = (count: number): string => Array.from({ length: count }, (_, at) => `include:n${at}.test`).join(' ')

const rows: readonly Row[] = [
  { rule: '2.4', what: 'the null sender is judged by its greeting', txt: 'v=spf1 -all', from: '', helo: 'shop.test', result: 'fail' },
  { rule: '4.3', what: 'a greeting without a dot is no domain', from: '', helo: 'localhost', result: 'none' },
  { rule: '4.3', what: 'a greeting by address is no domain', from: '', helo: '[192.0.2.7]', result: 'none' },
  { rule: '4.3', what: 'an empty label is no domain', from: 'ada@a..shop.test', result: 'none' },
  { rule: '4.3', what: 'a label of 64 characters is no domain', from: `ada@${'a'.repeat(64)}.test`, result: 'none' },
  { rule: '4.4', what: 'a domain that does not exist', from: 'ada@nowhere.test', result: 'none' },
  { rule: '4.4', what: 'silence of DNS is no result', from: 'ada@silent.test', result: 'temperror' },
  { rule: '4.5', what: 'other text records do not count', txt: ['hello', 'v=spf1 -all', 'v=spf10 +all', 'xv=spf1 +all'], result: 'fail' },
  { rule: '4.5', what: 'two records are an error', txt: ['v=spf1 -all', 'v=spf1 -all'], result: 'permerror' },
  { rule: '4.5', what: 'the version without a term is a record', txt: 'v=spf1', result: 'neutral' },
  { rule: '4.5', what: 'the version is case-insensitive', txt: 'V=sPf1 -all', result: 'fail' },
  { rule: '4.6', what: 'an unknown mechanism is an error', txt: 'v=spf1 ipv4:192.0.2.7 -all', result: 'permerror' },
  { rule: '4.6', what: 'an error after the match is an error all the same', txt: 'v=spf1 ip4:192.0.2.7 ip4:none', result: 'permerror' },
  { rule: '4.6', what: 'a modifier is no mechanism', txt: 'v=spf1 all=5 -all', result: 'fail' },
  { rule: '4.6.1', what: 'several blanks separate terms', txt: 'v=spf1   -all  ', result: 'fail' },
  { rule: '4.6.2', what: 'the first match decides', txt: 'v=spf1 ?ip4:192.0.2.7 -ip4:192.0.2.7 -all', result: 'neutral' },
  { rule: '4.6.2', what: 'each qualifier has its result', txt: 'v=spf1 ~all', result: 'softfail' },
  { rule: '4.6.2', what: 'no qualifier is a pass', txt: 'v=spf1 all', result: 'pass' },
  { rule: '4.6.4', what: 'ten questions are allowed', txt: `v=spf1 ${includes(10)} -all`, result: 'fail' },
  { rule: '4.6.4', what: 'eleven questions are an error', txt: `v=spf1 ${includes(11)} -all`, result: 'permerror' },
  { rule: '4.6.4', what: 'ip4, ip6 and all ask nothing', txt: `v=spf1 ${'ip4:192.0.2.99 '.repeat(12)}-all`, result: 'fail' },
  { rule: '4.6.4', what: 'a policy that includes itself is an error', txt: 'v=spf1 include:loop.test -all', result: 'permerror' },
  {
    rule: '4.6.4',
    what: 'three names without a record are an error',
    txt: 'v=spf1 a:x1.test a:x2.test a:x3.test -all',
    result: 'permerror',
  },
  { rule: '4.6.4', what: 'two void lookups are permitted', txt: 'v=spf1 a:x1.test a:x2.test -all', result: 'fail' },
  { rule: '4.6.4', what: 'more than ten mail exchangers are an error', txt: 'v=spf1 mx:many.test -all', result: 'permerror' },
  { rule: '4.7', what: 'no match is neutral', txt: 'v=spf1 ip4:192.0.2.99', result: 'neutral' },
  { rule: '4.8', what: 'a target ends in a top-level name', txt: 'v=spf1 a:host.test.127 -all', result: 'permerror' },
  { rule: '4.8', what: 'a target of one label is an error', txt: 'v=spf1 a:museum -all', result: 'permerror' },
  { rule: '5.1', what: 'terms after all are not used', txt: 'v=spf1 -all ip4:192.0.2.7', result: 'fail' },
  { rule: '5.1', what: 'all takes no argument', txt: 'v=spf1 -all:shop.test', result: 'permerror' },
  { rule: '5.1', what: 'all takes no prefix length', txt: 'v=spf1 -all/8', result: 'permerror' },
  { rule: '5.2', what: 'include matches when the other policy passes', txt: 'v=spf1 include:allows.test -all', result: 'pass' },
  { rule: '5.2', what: 'the qualifier of include decides', txt: 'v=spf1 ~include:allows.test -all', result: 'softfail' },
  { rule: '5.2', what: 'a softfail inside does not match', txt: 'v=spf1 include:soft.test -all', result: 'fail' },
  { rule: '5.2', what: 'a neutral result inside does not match', txt: 'v=spf1 include:open.test -all', result: 'fail' },
  { rule: '5.2', what: 'an error inside is an error', txt: 'v=spf1 include:broken.test -all', result: 'permerror' },
  { rule: '5.2', what: 'a missing policy inside is an error', txt: 'v=spf1 include:plain.test -all', result: 'permerror' },
  { rule: '5.2', what: 'silence inside is no result', txt: 'v=spf1 include:silent.test -all', result: 'temperror' },
  { rule: '5.2', what: 'include needs a domain', txt: 'v=spf1 include -all', result: 'permerror' },
  { rule: '5.2', what: 'include takes no prefix length', txt: 'v=spf1 include:allows.test/24 -all', result: 'permerror' },
  { rule: '5.3', what: 'a compares with the addresses of a name', txt: 'v=spf1 a:host.test -all', result: 'pass' },
  {
    rule: '5.3',
    what: 'a without a name asks the own domain',
    txt: 'v=spf1 a -all',
    zone: { 'shop.test A': ['192.0.2.7'] },
    result: 'pass',
  },
  { rule: '5.3', what: 'a takes a prefix length', txt: 'v=spf1 a:near.test/24 -all', result: 'pass' },
  { rule: '5.3', what: 'a prefix of 33 bits is an error', txt: 'v=spf1 a:host.test/33 -all', result: 'permerror' },
  { rule: '5.3', what: 'a prefix with a leading zero is an error', txt: 'v=spf1 a:host.test/024 -all', result: 'permerror' },
  { rule: '5.3', what: 'a with a colon and no name is an error', txt: 'v=spf1 a: -all', result: 'permerror' },
  { rule: '5.3', what: 'silence about an address is no result', txt: 'v=spf1 a:slow.test -all', result: 'temperror' },
  { rule: '5.3', what: 'an IPv6 client is compared with AAAA', txt: 'v=spf1 a:host.test -all', ip: '2001:db8::7', result: 'pass' },
  { rule: '5.3', what: 'both prefix lengths apply', txt: 'v=spf1 a:host.test/32//64 -all', ip: '2001:db8::9', result: 'pass' },
  { rule: '5.4', what: 'mx compares with all exchangers', txt: 'v=spf1 mx:mx.test -all', result: 'pass' },
  { rule: '5.4', what: 'no exchanger does not match', txt: 'v=spf1 mx:host.test -all', result: 'fail' },
  { rule: '5.5', what: 'ptr matches a name that leads back', txt: 'v=spf1 ptr -all', result: 'pass' },
  { rule: '5.5', what: 'ptr does not match a name elsewhere', txt: 'v=spf1 ptr:other.test -all', result: 'fail' },
  { rule: '5.5', what: 'ptr with a colon and no name is an error', txt: 'v=spf1 ptr: -all', result: 'permerror' },
  { rule: '5.6', what: 'ip4 takes a prefix length', txt: 'v=spf1 ip4:192.0.2.0/28 -all', result: 'pass' },
  { rule: '5.6', what: 'ip4 outside of the network does not match', txt: 'v=spf1 ip4:192.0.2.16/28 -all', result: 'fail' },
  { rule: '5.6', what: 'ip4 with three octets is an error', txt: 'v=spf1 ip4:192.0.2 -all', result: 'permerror' },
  { rule: '5.6', what: 'ip4 without an address is an error', txt: 'v=spf1 ip4 -all', result: 'permerror' },
  { rule: '5.6', what: 'ip4 with two slashes is an error', txt: 'v=spf1 ip4:192.0.2.7//32 -all', result: 'permerror' },
  { rule: '5.6', what: 'ip6 takes a prefix length', txt: 'v=spf1 ip6:2001:db8::/32 -all', ip: '2001:db8::7', result: 'pass' },
  { rule: '5.6', what: 'ip6 does not match an IPv4 client', txt: 'v=spf1 ip6:::/0 -all', result: 'fail' },
  { rule: '5.6', what: 'a mapped IPv4 client counts as IPv4', txt: 'v=spf1 ip4:192.0.2.7 -all', ip: '::ffff:192.0.2.7', result: 'pass' },
  { rule: '5.6', what: 'a prefix of 129 bits is an error', txt: 'v=spf1 ip6:::/129 -all', result: 'permerror' },
  { rule: '5.7', what: 'exists matches any address', txt: 'v=spf1 exists:host.test -all', result: 'pass' },
  { rule: '5.7', what: 'exists needs a domain', txt: 'v=spf1 exists: -all', result: 'permerror' },
  { rule: '6', what: 'a modifier twice is an error', txt: 'v=spf1 exp=a.test exp=b.test -all', result: 'permerror' },
  { rule: '6', what: 'unknown modifiers are not used', txt: 'v=spf1 moo=cow -all', result: 'fail' },
  { rule: '6', what: 'a modifier without a name is an error', txt: 'v=spf1 =cow -all', result: 'permerror' },
  { rule: '6.1', what: 'redirect takes the result of the other policy', txt: 'v=spf1 redirect=allows.test', result: 'pass' },
  { rule: '6.1', what: 'redirect comes after the mechanisms', txt: 'v=spf1 redirect=soft.test ip4:192.0.2.7', result: 'pass' },
  { rule: '6.1', what: 'redirect to no policy is an error', txt: 'v=spf1 redirect=plain.test', result: 'permerror' },
  { rule: '6.1', what: 'redirect is ignored if all is present', txt: 'v=spf1 redirect=allows.test -all', result: 'fail' },
  { rule: '6.1', what: 'redirect twice is an error', txt: 'v=spf1 redirect=soft.test redirect=soft.test', result: 'permerror' },
  { rule: '6.1', what: 'an empty redirect is an error', txt: 'v=spf1 redirect=', result: 'permerror' },
  { rule: '6.2', what: 'exp changes no result', txt: 'v=spf1 exp=nowhere.test -all', result: 'fail' },
  { rule: '7.1', what: 'an unknown macro is an error', txt: 'v=spf1 exists:%{y}.test -all', result: 'permerror' },
  { rule: '7.1', what: 'a lone percent sign is an error', txt: 'v=spf1 exists:%.test -all', result: 'permerror' },
  { rule: '7.1', what: 'zero labels are an error', txt: 'v=spf1 exists:%{d0}.test -all', result: 'permerror' },
  { rule: '7.2', what: '%{i} is the client', txt: 'v=spf1 exists:%{i}._ip.test -all', result: 'pass' },
  { rule: '7.2', what: '%{ir} turns it round', txt: 'v=spf1 exists:%{ir}.%{v}._r.test -all', result: 'pass' },
  { rule: '7.2', what: '%{l} is the local part', txt: 'v=spf1 exists:%{l}._l.test -all', result: 'pass' },
  { rule: '7.2', what: '%{o} is the domain of the sender', txt: 'v=spf1 exists:%{o}._o.test -all', result: 'pass' },
  { rule: '7.2', what: '%{h} is the greeting', txt: 'v=spf1 exists:%{h}._h.test -all', result: 'pass' },
  { rule: '7.2', what: '%{d1} is the last label', txt: 'v=spf1 exists:%{d1}._one.test -all', result: 'pass' },
  { rule: '7.2', what: 'other separators split', txt: 'v=spf1 exists:%{l-}._dash.test -all', from: 'a-b@shop.test', result: 'pass' },
  {
    rule: '7.4',
    what: '%{ir} of an IPv6 client has nibbles',
    txt: 'v=spf1 exists:%{ir}.%{v}._v6.test -all',
    ip: '2001:db8::7',
    result: 'pass',
  },
]

for (const { rule, what, txt = [], zone = {}, result, from = 'ada@shop.test', helo = 'mx.peer.test', ip = '192.0.2.7' } of rows)
  test(`SPF §${rule}: ${what}`, async (t) => {
    const records = [txt].flat().map((text) => [text])
    const dns = new StubDns({ ...world, ...(records.length > 0 && { 'shop.test TXT': records }), ...zone })
    const mail = { raw: Buffer.from('From: Ada <ada@shop.test>\r\n\r\nHello\r\n'), mailFrom: from, remoteAddress: ip, helo }
    t.is((await authenticateMail(mail, 'mx.site.test', dns.resolve)).spf.result, result)
  })
