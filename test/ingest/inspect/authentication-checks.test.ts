/** The four authentication checks of a deliverability test (SPF, DKIM, DMARC, DMARC policy), with a mail for each outcome. */
import test from '#test'
import { byMailauth, ed25519, edPem, edZone } from './dkim-variants.ts'
import { forwarded, type Hop } from './forwarded.ts'
import { keyRecord, now, rsaKey, signed, type Changes } from './golden.ts'
import { prove, resultOf, type Fixture } from './one-check.ts'

const spf = (record: string): Changes => ({ zone: { 'shop.example.com TXT': [[record]] } })
const includes = (count: number): Changes => ({
  zone: {
    'shop.example.com TXT': [[`v=spf1 ${Array.from({ length: count }, (_, at) => `include:i${at}.test`).join(' ')} ip4:203.0.113.25 -all`]],
    ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${at}.test TXT`, [['v=spf1 ip4:192.0.2.1 -all']]])),
  },
})

prove('spf', [
  { what: 'an address that is allowed', status: 'pass', points: 8 },
  {
    ...{ what: 'a null sender whose greeting name is allowed', status: 'pass', points: 8 },
    changes: { session: { mailFrom: '' }, zone: { 'mail.example.com TXT': [['v=spf1 a -all']] } },
  },
  { what: 'softfail', status: 'warn', points: 3, changes: spf('v=spf1 ip4:192.0.2.1 ~all') },
  { what: 'neutral', status: 'warn', points: 3, changes: spf('v=spf1 ip4:192.0.2.1 ?all') },
  { what: '+all', status: 'warn', points: 3, changes: spf('v=spf1 +all'), says: /any server/ },
  { what: 'nine look-ups', status: 'warn', points: 3, changes: includes(9), says: /9 DNS lookups/ },
  { what: 'eight look-ups', status: 'pass', points: 8, changes: includes(8) },
  { what: 'fail', status: 'fail', points: 0, changes: spf('v=spf1 ip4:192.0.2.1 -all'), says: /forbids/ },
  { what: 'no record', status: 'fail', points: 0, changes: { zone: { 'shop.example.com TXT': undefined } } },
  { what: 'a broken record', status: 'fail', points: 0, changes: spf('v=spf1 ipfour:1 -all'), says: /invalid/ },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: { zone: { 'shop.example.com TXT': 'ESERVFAIL' } } },
])

const withKey = (bits: number, tags = ''): Changes => ({
  sign: (message) => signed(message, { bits }),
  zone: { 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(bits).publicKey, tags)]] },
})
prove('dkim', [
  { what: 'a signature with 2048 bits', status: 'pass', points: 10 },
  {
    ...{ what: 'Ed25519 in addition to RSA of 1024 bits', status: 'pass', points: 10 },
    changes: {
      sign: async (message) => (await byMailauth({ privateKey: edPem, selector: 'ed' })(message)) + (await signed(message, { bits: 1024 })),
      zone: { ...edZone, 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(1024).publicKey)]] },
    },
  },
  {
    ...{ what: 'Ed25519 alone', status: 'warn', points: 6 },
    changes: ed25519,
    says: /Ed25519/,
  },
  { what: 'a key of 1024 bits', status: 'warn', points: 6, changes: withKey(1024), says: /1024 bits/ },
  { what: 'l=', status: 'warn', points: 6, changes: { sign: byMailauth({ maxBodyLength: 20 }) }, says: /l=/ },
  { what: 't=y', status: 'warn', points: 6, changes: withKey(2048, ' t=y;'), says: /t=y/ },
  {
    ...{ what: 'a signature that expires within the day', status: 'warn', points: 6 },
    changes: { sign: byMailauth({ expires: new Date(now + 3_600_000) }) },
    says: /expires/,
  },
  { what: 'From that is signed once', status: 'warn', points: 6, changes: { sign: byMailauth() }, says: /second From field/ },
  { what: 'no signature', status: 'fail', points: 0, changes: { sign: () => '' }, says: /not signed/ },
  { what: 'an expired signature', status: 'fail', points: 0, changes: { sign: byMailauth({ expires: new Date(now - 1000) }) } },
  {
    ...{ what: 'rsa-sha1', status: 'fail', points: 0 },
    changes: { sign: byMailauth({ algorithm: 'rsa-sha1' }) },
    says: /rsa-sha1, which receivers do not accept/,
  },
  { what: 'a key of 768 bits', status: 'fail', points: 0, changes: withKey(768), says: /shorter than 1024/ },
  {
    ...{ what: 'another key in DNS', status: 'fail', points: 0 },
    changes: { zone: { 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(1024).publicKey)]] } },
  },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: { zone: { 'k1._domainkey.example.com TXT': 'ETIMEOUT' } } },
])

const dmarc = (record: string, more: Record<string, readonly unknown[]> = {}): Changes => ({
  zone: { '_dmarc.example.com TXT': [[record]], ...more },
})
const outsider = { session: { mailFrom: 'x@other.test' }, sign: () => '' }

prove('dmarc', [
  { what: 'alignment by DKIM', status: 'pass', points: 12 },
  { what: 'alignment by SPF alone', status: 'pass', points: 10, changes: { sign: () => '' } },
  { what: 'alignment without a record', status: 'warn', points: 5, changes: { zone: { '_dmarc.example.com TXT': undefined } } },
  { what: 'neither aligned', status: 'fail', points: 0, changes: outsider },
  ...(['dmarc', 'dmarc_policy'] as const).map((check): Fixture => ({
    ...{ what: 'no From', check, status: 'fail', points: 0, says: /no From domain/ },
    changes: { header: { From: null }, sign: () => '' },
  })),
  {
    ...{ what: 'two From fields', status: 'fail', points: 0 },
    says: /2 From fields/,
    changes: { header: { From: ['A <orders@example.com>', 'B <orders@example.com>'] } },
  },
  {
    ...{ what: 'two From fields of two domains', status: 'fail', points: 0 },
    says: /2 From fields/,
    changes: { header: { From: ['A <orders@example.com>', 'B <boss@bank.test>'] } },
  },
  {
    ...{ what: 'authors of two domains', status: 'fail', points: 0 },
    says: /authors of 2 domains/,
    changes: { header: { From: 'A <orders@example.com>, B <boss@bank.test>', Sender: 'orders@example.com' } },
  },
  {
    ...{ what: 'two authors of one domain', status: 'pass', points: 12 },
    changes: { header: { From: 'A <a@example.com>, B <b@example.com>', Sender: 'a@example.com' } },
  },
  {
    ...{ what: 'two records, aligned', status: 'warn', points: 5 },
    says: /_dmarc\.example\.com has 2 records/,
    changes: { zone: { '_dmarc.example.com TXT': [['v=DMARC1; p=reject'], ['v=DMARC1; p=none']] } },
  },
  {
    ...{ what: 'two records, not aligned', status: 'fail', points: 0 },
    says: /has 2 records/,
    changes: { ...outsider, zone: { '_dmarc.example.com TXT': [['v=DMARC1; p=reject'], ['v=DMARC1; p=none']] } },
  },
  {
    ...{ what: 'neither aligned, and no record', status: 'fail', points: 0 },
    changes: { ...outsider, zone: { '_dmarc.example.com TXT': undefined } },
  },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: { sign: () => '', zone: { '_dmarc.example.com TXT': 'ETIMEOUT' } } },
])

prove('dmarc_policy', [
  {
    ...{ what: 'a policy of quarantine with reports', status: 'pass', points: 4 },
    changes: dmarc('v=DMARC1; p=quarantine; rua=mailto:d@example.com'),
  },
  {
    ...{ what: 'reports to another domain that takes them', status: 'pass', points: 4 },
    changes: dmarc('v=DMARC1; p=reject; rua=mailto:d@reports.test', { 'example.com._report._dmarc.reports.test TXT': [['v=DMARC1']] }),
  },
  { what: 'p=none', status: 'warn', points: 2, changes: dmarc('v=DMARC1; p=none; rua=mailto:d@example.com') },
  { what: 'no reports', status: 'warn', points: 2, changes: dmarc('v=DMARC1; p=reject'), says: /reports/ },
  {
    ...{ what: 'reports to an invalid mail address', status: 'warn', points: 2 },
    changes: dmarc('v=DMARC1; p=reject; rua=https://example.com/dmarc'),
    says: /reports/,
  },
  { what: 'pct=50', status: 'warn', points: 2, changes: dmarc('v=DMARC1; p=reject; pct=50; rua=mailto:d@example.com') },
  { what: 'sp=none', status: 'warn', points: 2, changes: dmarc('v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com') },
  {
    ...{ what: 'reports to a domain that does not accept them', status: 'warn', points: 2 },
    changes: dmarc('v=DMARC1; p=reject; rua=mailto:d@reports.test'),
  },
  { what: 'no record', status: 'fail', points: 0, changes: { zone: { '_dmarc.example.com TXT': undefined } } },
  {
    ...{ what: 'two records', status: 'fail', points: 0 },
    says: /2 records/,
    changes: { zone: { '_dmarc.example.com TXT': [['v=DMARC1; p=reject'], ['v=DMARC1; p=none']] } },
  },
  { what: 'a record without a policy', status: 'fail', points: 0, changes: dmarc('v=DMARC1; p=maybe; rua=mailto:d@example.com') },
  { what: 'a fault of DNS', status: 'na', points: 0, changes: { zone: { '_dmarc.example.com TXT': 'ESERVFAIL' } } },
])

const afterForwarding = async (...hops: readonly Hop[]): Promise<[string, number]> => {
  const { status, points } = await resultOf({ check: 'dmarc', changes: await forwarded(...hops) })
  return [status, points]
}

test('dmarc: a trusted forwarder in a trusted chain saw a pass: warn with 6', async (t) => {
  t.deepEqual(await afterForwarding(['google.com', 'pass']), ['warn', 6])
  t.deepEqual(await afterForwarding(['google.com', 'pass'], ['outlook.com', 'fail']), ['warn', 6])
  t.deepEqual(await afterForwarding(['forwarder.test', 'fail'], ['google.com', 'pass']), ['warn', 6])
})

test('dmarc: an untrusted forwarder, or a forwarder that saw a fail: fail', async (t) => {
  t.deepEqual(await afterForwarding(['forwarder.test', 'pass']), ['fail', 0])
  t.deepEqual(await afterForwarding(['google.com', 'fail']), ['fail', 0])
  t.deepEqual(await afterForwarding(['forwarder.test', 'pass'], ['google.com', 'fail']), ['fail', 0])
  t.deepEqual(await afterForwarding(['google.com', 'pass'], ['forwarder.test', 'pass']), ['fail', 0])
})
