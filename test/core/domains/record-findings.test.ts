import test from '#test'
import { checkRecords, withParents } from '#core/domains/check-records.ts'
import { dkimFinding, dmarcFinding, mxFinding, spfFinding } from '#core/domains/record-findings.ts'
import { spfMechanismOf } from '#core/domains/provider-spf.ts'
import { ResolveError, type RecordResolver } from '#core/outbound/resolver.ts'

const expectedKey = 'v=DKIM1; k=rsa; p=MIIBIjANabcdef'

for (const [verdict, found, hint] of [
  ['ok', ['v=DKIM1; k=rsa; p=MIIBIjANabcdef'], /^Published\.$/],
  ['ok', ['k=rsa;p=MIIBIjAN abcdef;'], /^Published\.$/],
  ['ok', ['v=DKIM1; t=y; h=sha1:sha256; s=email; p=MIIBIjANabcdef'], /remove t=y/],
  ['missing', [], /Publish/],
  ['mismatch', ['v=DKIM1; k=rsa; p=MIIBIjAN'], /is truncated/],
  ['mismatch', ['v=DKIM1; k=rsa; p=AAAA'], /another key/],
  ['mismatch', ['v=DKIM1; k=rsa; p='], /revoked/],
  ['mismatch', ['v=DKIM1; k=ed25519; p=MIIBIjANabcdef'], /k=rsa/],
  ['mismatch', ['v=DKIM1; h=sha1; p=MIIBIjANabcdef'], /SHA-256/],
  ['mismatch', ['v=DKIM1; s=tlsrpt; p=MIIBIjANabcdef'], /not for mail/],
  ['mismatch', ['v=DKIM1\\; k=rsa\\; p=MIIBIjANabcdef'], /quotes or backslashes/],
  ['mismatch', ['k=rsa; p=MIIBIjANabcdef; v=DKIM1'], /not a DKIM key record/],
  ['mismatch', ['v=DKIM1; p=MIIBIjANabcdef; p=MIIBIjANabcdef'], /not a DKIM key record/],
  ['mismatch', ['v=spf1 -all'], /not a DKIM key record/],
  ['mismatch', [expectedKey, 'v=DKIM1; p=AAAA'], /several records/],
] as const)
  test(`dkimfinding() ${JSON.stringify(found)} is ${verdict}`, (t) => {
    const finding = dkimFinding(found, expectedKey)
    t.is(finding.verdict, verdict)
    t.regex(finding.hint, hint)
  })

for (const [verdict, found, hint] of [
  ['ok', ['v=spf1 include:x.test ip4:192.0.2.1 ~all'], /Published/],
  ['ok', ['other', 'V=SPF1 +Include:X.test ip4:192.0.2.0/24 -all'], /Published/],
  ['ok', ['v=spf1 include:x.test ip4:192.0.2.1 redirect=y.test'], /Published/],
  ['missing', ['v=spf10 ip4:192.0.2.1 ~all'], /^Publish v=spf1 …\.$/],
  ['mismatch', ['v=spf1 a ~all'], /^Add include:x\.test ip4:192\.0\.2\.1: v=spf1 a include:x\.test ip4:192\.0\.2\.1 ~all$/],
  ['mismatch', ['v=spf1 include:x.test ip4:198.51.100.0/24 ?all'], /^Add ip4:192\.0\.2\.1: /],
  ['mismatch', ['v=spf1 include:x.test -ip4:192.0.2.1 ~all'], /^Add ip4:192\.0\.2\.1: /],
  ['mismatch', ['v=spf1 include:x.test ip4:192.0.2.1'], /^End the record/],
  ['mismatch', ['v=spf1 include:x.test ip4:192.0.2.1 all'], /authorizes every host/],
  ['mismatch', ['v=spf1 -all', 'v=spf1 include:x.test ip4:192.0.2.1 ~all'], /permerror/],
] as const)
  test(`spffinding() ${JSON.stringify(found)} is ${verdict}`, (t) => {
    const finding = spfFinding(found, ['include:x.test', 'ip4:192.0.2.1'], 'v=spf1 …')
    t.is(finding.verdict, verdict)
    t.regex(finding.hint, hint)
  })

test('spfFinding() accepts a network only within a network of the record', (t) => {
  const verdict = (record: string, mechanism: string) => spfFinding([`v=spf1 ${record} ~all`], [mechanism], '').verdict
  t.is(verdict('ip4:192.0.2.0/24', 'ip4:192.0.2.128/25'), 'ok')
  t.is(verdict('ip4:192.0.2.128/25', 'ip4:192.0.2.0/24'), 'mismatch')
  t.is(verdict('ip6:2001:db8::/32', 'ip6:2001:db8:1::7'), 'ok')
  t.is(verdict('ip4:192.0.2.1/99', 'ip4:192.0.2.1'), 'mismatch')
  t.is(verdict('ip4:0.0.0.0/0', 'ip6:2001:db8::1'), 'mismatch')
})

for (const [verdict, found, at, hint] of [
  ['ok', ['v=DMARC1; p=reject'], 'shop.example.ch', /^Published\.$/],
  ['ok', ['v=DMARC1; p=none; adkim=s'], 'shop.example.ch', /adkim=s.*only monitors/],
  ['ok', ['v=DMARC1; p=none; sp=reject'], 'example.ch', /^The record of example\.ch applies to this domain too\.$/],
  ['missing', [], 'shop.example.ch', /Publish/],
  ['missing', ['v=DMARC12; p=none'], 'shop.example.ch', /Publish/],
  ['mismatch', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'shop.example.ch', /several/],
  ['mismatch', ['v=DMARC1; rua=mailto:x@example.ch'], 'shop.example.ch', /policy/],
  ['mismatch', ['v=DMARC1; p=rejekt'], 'shop.example.ch', /policy/],
] as const)
  test(`dmarcfinding() ${JSON.stringify(found)} at ${at} is ${verdict}`, (t) => {
    const finding = dmarcFinding(found, at, 'shop.example.ch')
    t.is(finding.verdict, verdict)
    t.regex(finding.hint, hint)
  })

test('mxFinding() requires our host as the most preferred one', (t) => {
  t.is(mxFinding([], 'mx.post.test').verdict, 'missing')
  t.is(mxFinding([{ exchange: 'MX.post.test.', priority: 5 }], 'mx.post.test').verdict, 'ok')
  const ours = { exchange: 'mx.post.test', priority: 20 }
  t.regex(mxFinding([ours, { exchange: 'other.test', priority: 10 }], 'mx.post.test').hint, /goes to other\.test/)
})

test('checkRecords() finds a DMARC record of a parent, and stops at a failed lookup', async (t) => {
  const asked: string[] = []
  const resolver: RecordResolver = {
    async resolveTxt(name) {
      asked.push(name)
      if (name === '_dmarc.broken.example.ch') throw new ResolveError('timeout', 'late')
      return name === '_dmarc.example.ch' ? ['v=DMARC1; p=reject'] : []
    },
    resolveMx: () => Promise.reject(new Error('not asked')),
  }
  const dmarc = (name: string) => ({ purpose: 'dmarc', type: 'TXT', name, expected: '', required: false, hint: '' }) as const
  const facts = { spfMechanisms: [], bounceDomain: null, mxHost: '' }
  const [above, broken] = await checkRecords(resolver, [dmarc('_dmarc.a.b.example.ch'), dmarc('_dmarc.broken.example.ch')], facts)
  t.like(above, { verdict: 'ok', found: ['v=DMARC1; p=reject'] })
  t.like(broken, { verdict: 'error', found: [] })
  t.regex(broken?.hint ?? '', /The DNS lookup timed out/)
  t.deepEqual(asked.toSorted(), ['_dmarc.a.b.example.ch', '_dmarc.b.example.ch', '_dmarc.broken.example.ch', '_dmarc.example.ch'])
})

test('withParents() ends at two labels and after five parents', (t) => {
  t.deepEqual(withParents('a.b.example.ch'), ['a.b.example.ch', 'b.example.ch', 'example.ch'])
  t.is(withParents('1.2.3.4.5.6.7.8.example.ch').length, 6)
})

test('spfMechanismOf() matches hosts by whole labels, and API providers by name', (t) => {
  t.is(spfMechanismOf({ provider: 'smtp', host: 'email-smtp.eu-west-1.amazonaws.com' }), 'include:amazonses.com')
  t.is(spfMechanismOf({ provider: 'smtp', host: 'SMTP.sendgrid.net' }), 'include:sendgrid.net')
  t.is(spfMechanismOf({ provider: 'smtp', host: 'notsendgrid.net' }), undefined)
  t.is(spfMechanismOf({ provider: 'ses' }), 'include:amazonses.com')
})
