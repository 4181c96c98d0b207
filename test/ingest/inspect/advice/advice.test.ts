/** The advice of the checks. It is derived from the facts of the report, and following it must not break anything. */
import test from '#test'
import { inEnglish } from '#ingest/inspect/sentences/say.ts'
import { adviceExamples } from './advice-examples.ts'
import type { CheckId } from '#ingest/inspect/checks/verdict.ts'
import { alternative, keyRecord, newsletter, rsaKey, signed, type Changes, type letter } from '../golden.ts'
import { resultOf } from '../one-check.ts'
import { forwarded } from '../forwarded.ts'

interface Row {
  readonly what: string
  readonly check: CheckId
  readonly changes?: Changes | Promise<Changes>
  readonly mail?: typeof letter
  /** The complete advice, or null. */
  readonly fix: string | null
}

const spf = (...records: readonly string[]): Changes => ({ zone: { 'shop.example.com TXT': records.map((record) => [record]) } })
const dmarc = (record: string | undefined, more: Changes = {}): Changes => ({
  ...more,
  zone: { ...more.zone, '_dmarc.example.com TXT': record === undefined ? undefined : [[record]] },
})
const begin = 'As a first step, publish the TXT record "v=DMARC1; p=none; rua=mailto:dmarc@example.com" at _dmarc.example.com.'
const foreign = 'Use a MAIL FROM address of your own domain; only the owner of bounce.provider.test can change its DNS records.'
const own = 'Send from an address of your own domain.'
const gmail: Changes = {
  sign: () => '',
  header: { From: 'Shop <shop@gmail.com>' },
  zone: {
    '_dmarc.gmail.com TXT': [['v=DMARC1; p=none; sp=quarantine; rua=mailto:reports@google.com']],
    'gmail.com MX': [{ exchange: 'mx.example.com', priority: 10 }],
  },
}
const signedBy = (domain: string) => (message: string) => signed(message, { domain })
const list = (changes: Record<string, string | null>, more: Changes = {}): Changes => ({ ...more, header: changes })
const policy = (record: string): Changes => ({
  fetchPolicy: () => Promise.resolve(record),
  zone: { '_mta-sts.example.com TXT': [['v=STSv1; id=1']], '_25._tcp.mx.example.com TLSA': undefined },
})
const mx = (...hosts: readonly string[]): Changes => ({
  zone: { 'shop.example.com MX': hosts.map((exchange) => ({ exchange, priority: 10 })) },
})

const rows: readonly Row[] = [
  {
    ...{ what: 'a softfail extends the record and keeps its other senders', check: 'spf' },
    changes: {
      zone: { ...spf('v=spf1 ip4:198.51.100.9 include:mail.test ~all').zone, 'mail.test TXT': [['v=spf1 ip4:198.51.100.8 -all']] },
    },
    fix: 'Extend the SPF record of shop.example.com with ip4:203.0.113.25: "v=spf1 ip4:198.51.100.9 include:mail.test ip4:203.0.113.25 ~all".',
  },
  {
    ...{ what: 'a softfail extends the record', check: 'spf' },
    changes: spf('v=spf1 ip4:198.51.100.9 mx ~all'),
    fix: 'Extend the SPF record of shop.example.com with ip4:203.0.113.25: "v=spf1 ip4:198.51.100.9 mx ip4:203.0.113.25 ~all".',
  },
  {
    ...{ what: 'the new term precedes a term that forbids the server', check: 'spf' },
    changes: spf('v=spf1 mx -ip4:203.0.113.25 a -all'),
    fix: 'Extend the SPF record of shop.example.com with ip4:203.0.113.25: "v=spf1 mx ip4:203.0.113.25 -ip4:203.0.113.25 a -all".',
  },
  {
    ...{ what: 'a record that redirects is extended', check: 'spf' },
    changes: { zone: { ...spf('v=spf1 redirect=other.test').zone, 'other.test TXT': [['v=spf1 -all']] } },
    fix: 'Extend the SPF record of shop.example.com with ip4:203.0.113.25: "v=spf1 ip4:203.0.113.25 redirect=other.test".',
  },
  {
    ...{ what: 'a long record is not repeated', check: 'spf' },
    changes: spf(`v=spf1 ${Array.from({ length: 30 }, (_, at) => `ip4:198.51.100.${at}`).join(' ')} -all`),
    fix: 'Add ip4:203.0.113.25 to the SPF record of shop.example.com, directly after v=spf1.',
  },
  {
    ...{ what: 'no record', check: 'spf', changes: { zone: { 'shop.example.com TXT': undefined } } },
    fix: 'Publish a TXT record of shop.example.com that lists every server that sends for it, such as "v=spf1 ip4:203.0.113.25 ~all".',
  },
  {
    ...{ what: 'a private address of the client is not published', check: 'spf' },
    changes: { ...spf('v=spf1 mx -all'), session: { clientIp: '127.0.0.1' } },
    fix: 'The mail came from a private address. Add the public address of the sending server to the SPF record of shop.example.com.',
  },
  {
    ...{ what: 'two records become one', check: 'spf' },
    changes: spf('v=spf1 ip4:198.51.100.9 -all', 'v=spf1 mx ip4:203.0.113.25 ip4:198.51.100.9 ~all'),
    fix: 'Join the 2 SPF records of shop.example.com into one: "v=spf1 ip4:198.51.100.9 mx ip4:203.0.113.25 ~all".',
  },
  {
    ...{ what: 'of two records that redirect, both stay', check: 'spf' },
    changes: {
      zone: {
        ...spf('v=spf1 redirect=a.test exp=x.test', 'v=spf1 ip4:203.0.113.25 redirect=b.test').zone,
        'a.test TXT': [['v=spf1 -all']],
      },
    },
    fix: 'Join the 2 SPF records of shop.example.com into one: "v=spf1 include:a.test ip4:203.0.113.25 include:b.test".',
  },
  {
    ...{ what: 'a syntax error', check: 'spf', changes: spf('v=spf1 ipfour:1 -all') },
    fix: 'Correct the problem in the SPF record of shop.example.com, or remove the term that causes it.',
  },
  {
    ...{ what: '+all keeps the server that sent the mail', check: 'spf', changes: spf('v=spf1 mx +all') },
    fix: 'List the servers that send, and end the record with ~all in place of +all: "v=spf1 mx ip4:203.0.113.25 ~all".',
  },
  {
    ...{ what: 'MAIL FROM of another organization', check: 'spf' },
    changes: { session: { mailFrom: 'b1@bounce.provider.test' }, zone: { 'bounce.provider.test TXT': [['v=spf1 -all']] } },
    fix: foreign,
  },
  {
    ...{ what: 'the mail exchanger of MAIL FROM of another organization', check: 'sender_domain' },
    changes: { session: { mailFrom: 'b1@bounce.provider.test' }, zone: { 'bounce.provider.test A': ['192.0.2.1'] } },
    fix: foreign,
  },
  { what: 'no DMARC record', check: 'dmarc', changes: dmarc(undefined), fix: begin },
  { what: 'no DMARC record', check: 'dmarc_policy', changes: dmarc(undefined), fix: begin },
  {
    ...{ what: 'a record without a policy keeps its other tags', check: 'dmarc_policy' },
    changes: dmarc('v=DMARC1; rua=mailto:d@example.com; adkim=s'),
    fix: 'Change the TXT record at _dmarc.example.com to "v=DMARC1; p=none; rua=mailto:d@example.com; adkim=s".',
  },
  {
    ...{ what: 'an unusable record, the same in both checks', check: 'dmarc' },
    changes: dmarc('v=DMARC1; adkim=s'),
    fix: 'Change the TXT record at _dmarc.example.com to "v=DMARC1; p=none; adkim=s".',
  },
  {
    ...{ what: 'alignment by SPF needs a signature only', check: 'dmarc', changes: { sign: () => '' } },
    fix: 'Sign the mail with DKIM for example.com.',
  },
  {
    ...{ what: 'an own signature that is broken', check: 'dmarc' },
    changes: { session: { mailFrom: 'x@other.test' }, after: (text: string) => text.replace('teapot is', 'kettle is') },
    fix: 'Repair the DKIM signature of example.com as described in the check “DKIM signature”.',
  },
  {
    ...{ what: 'a forwarder of a mail without an own signature', check: 'dmarc', changes: forwarded(['google.com', 'pass']) },
    fix: 'Sign the mail with DKIM for example.com.',
  },
  {
    ...{ what: 'reports to a domain that does not accept them', check: 'dmarc_policy' },
    changes: dmarc('v=DMARC1; p=reject; rua=mailto:d@reports.test'),
    fix: 'Ask the owner of reports.test to publish the TXT record "v=DMARC1" at example.com._report._dmarc.reports.test, or receive reports at an address of example.com.',
  },
  ...(['dkim', 'dmarc'] as const).map((check): Row => ({ what: 'a domain of a public mailbox provider', check, changes: gmail, fix: own })),
  ...(['dmarc_policy', 'domain_hardening'] as const).map((check): Row => ({
    what: 'a domain of a public mailbox provider',
    check,
    changes: gmail,
    fix: null,
  })),
  { what: 'a domain of a public mailbox provider', check: 'subject_and_sender', changes: gmail, fix: own },
  {
    ...{ what: 'no signature', check: 'dkim', changes: { sign: () => '' } },
    fix: 'Sign with DKIM for example.com: publish the public key below selector._domainkey.example.com, and let the sending service sign.',
  },
  {
    ...{ what: 'a key that is not published', check: 'dkim', changes: { zone: { 'k1._domainkey.example.com TXT': undefined } } },
    fix: 'Publish the public key of the signature as the TXT record of k1._domainkey.example.com.',
  },
  {
    ...{ what: 'a body that was changed', check: 'dkim' },
    changes: { after: (text: string) => text.replace('teapot is', 'kettle is') },
    fix: 'Make sure that nothing changes the body after it is signed, such as footers, rewritten links and wrapped lines.',
  },
  {
    ...{ what: 'a broken signature of another organization only', check: 'dkim' },
    changes: { sign: signedBy('provider.test') },
    fix: 'Sign with DKIM for example.com: publish the public key below selector._domainkey.example.com, and let the sending service sign.',
  },
  {
    ...{ what: 'unsubscribing without a covering signature', check: 'list_unsubscribe', mail: newsletter },
    changes: { sign: (message: string) => signed(message).then((field) => field.replace(/List-Unsubscribe-Post:?/gi, 'X:')) },
    fix: 'Let a DKIM signature cover List-Unsubscribe and List-Unsubscribe-Post: name both in its tag h=.',
  },
  {
    ...{ what: 'unsubscribing by mail only', check: 'list_unsubscribe', mail: newsletter },
    changes: list({ 'List-Unsubscribe': '<mailto:leave@example.com>' }),
    fix: 'Add an https address to List-Unsubscribe.',
  },
  {
    ...{ what: 'unsubscribing by mail only, and not in one click', check: 'list_unsubscribe', mail: newsletter },
    changes: list({ 'List-Unsubscribe': '<mailto:leave@example.com>', 'List-Unsubscribe-Post': null }),
    fix: 'Add an https address to List-Unsubscribe. Add "List-Unsubscribe-Post: List-Unsubscribe=One-Click", covered by the DKIM signature.',
  },
  {
    ...{ what: 'unsubscribing with a page in between', check: 'list_unsubscribe', mail: newsletter },
    changes: list({ 'List-Unsubscribe-Post': null }),
    fix: 'Add "List-Unsubscribe-Post: List-Unsubscribe=One-Click", covered by the DKIM signature.',
  },
  {
    ...{ what: 'a null MX', check: 'sender_domain', changes: mx('') },
    fix: 'Replace the null MX of shop.example.com with an MX record that names a server that receives its mail, or use another domain.',
  },
  {
    ...{ what: 'an alias as MX', check: 'sender_domain' },
    changes: {
      zone: {
        'shop.example.com MX': [{ exchange: 'al.example.com', priority: 1 }],
        'al.example.com A': ['192.0.2.1'],
        'al.example.com CNAME': ['mx.example.com'],
      },
    },
    fix: 'Replace the CNAME of al.example.com with address records, or name the target of the CNAME in the MX record.',
  },
  {
    ...{ what: 'an MX without an address', check: 'sender_domain', changes: mx('gone.example.com') },
    fix: 'Add address records for the mail servers of shop.example.com (gone.example.com), or name other servers in its MX record.',
  },
  {
    ...{ what: 'a policy without reports', check: 'domain_hardening' },
    changes: { zone: { '_smtp._tls.example.com TXT': undefined } },
    fix: 'Publish "v=TLSRPTv1; rua=mailto:tls@example.com" as TXT record of _smtp._tls.example.com.',
  },
  {
    ...{ what: 'reports and no policy', check: 'domain_hardening', changes: { zone: { '_25._tcp.mx.example.com TLSA': undefined } } },
    fix: 'Publish an MTA-STS policy with mode: enforce, or TLSA records for the MX of example.com.',
  },
  {
    ...{
      what: 'a policy that only tests',
      check: 'domain_hardening',
      changes: policy('version: STSv1\nmode: testing\nmx: mx.example.com\nmax_age: 86400\n'),
    },
    fix: 'Change the MTA-STS policy of example.com to mode: enforce.',
  },
  {
    ...{ what: 'text in no named charset', check: 'mime_structure' },
    changes: {
      body: alternative('x', '<p>x</p>').replace('; charset=utf-8\r\n\r\nx', '\r\nContent-Transfer-Encoding: 8bit\r\n\r\nÄ\u0081'),
    },
    fix: 'Encode the text in UTF-8, and add charset=utf-8 to its Content-Type.',
  },
]

for (const { what, check, changes, mail, fix } of rows)
  test(`${check} advises: ${what}`, async (t) => {
    const result = await resultOf({ check, ...(changes && { changes: await changes }), ...(mail && { mail }) })
    t.is(result.fix, fix, `${result.status}: ${result.summary}`)
  })

for (const { what, changes, fix } of rows.filter(({ check, fix: advice }) => check === 'spf' && advice?.includes('"')))
  test(`spf passes with the advised record: ${what}`, async (t) => {
    const given = (await changes) ?? {}
    const record = /"([^"]*)"/.exec(fix ?? '')?.[1] ?? ''
    const { status, summary } = await resultOf({
      check: 'spf',
      changes: { ...given, zone: { ...given.zone, ...spf(record).zone } },
    })
    t.is(status, 'pass', summary)
  })

for (const [code, [check, changes, mail]] of Object.entries(adviceExamples))
  test(`${check} gives the advice ${code}`, async (t) => {
    const { fix, fixSaid = [], summary } = await resultOf({ check, changes: await changes, ...(mail && { mail }) })
    const advice = fixSaid.find((said) => said.code === code)
    t.truthy(advice, `${summary} ${fix ?? ''}`)
    t.true(advice && fix?.includes(inEnglish(advice)))
    t.notRegex(fix ?? '', /[{}]/, 'every value of the sentence is there')
  })

test('a key record is never advised for another organization', async (t) => {
  const zone = { 'k1._domainkey.provider.test TXT': [[keyRecord(rsaKey(1024).publicKey)]] }
  const { fix } = await resultOf({ check: 'dkim', changes: { sign: signedBy('provider.test'), zone } })
  t.notRegex(fix ?? '', /provider\.test/)
})
