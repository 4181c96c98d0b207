import test from '#test'
import { spfFinding } from '#core/domains/record-findings.ts'
import { readSpf } from '#core/domains/spf-terms.ts'

/** A fake DNS of TXT records that records its queries. */
function dns(zone: Readonly<Record<string, string | readonly string[]>>) {
  const asked: string[] = []
  const resolveTxt = async (name: string): Promise<readonly string[]> => {
    asked.push(name)
    return [zone[name] ?? []].flat()
  }
  return { asked, resolveTxt }
}

const findingOf = async (resolver: ReturnType<typeof dns>, record: string, wanted: string) =>
  spfFinding([record], [wanted], '', await readSpf(resolver, record))

test('readSpf() includes the terms of included records', async (t) => {
  const resolver = dns({
    'spf.agency.test': 'v=spf1 include:amazonses.com -ip4:192.0.2.66 ~all',
    'amazonses.com': 'v=spf1 ip4:192.0.2.0/24 -all',
  })
  const reading = await readSpf(resolver, 'v=spf1 include:spf.agency.test mx ~all')
  t.deepEqual(reading, {
    terms: ['include:spf.agency.test', 'include:amazonses.com', 'ip4:192.0.2.0/24', 'mx', '~all'],
    lookups: 3,
    broken: [],
  })
  t.is((await findingOf(resolver, 'v=spf1 include:spf.agency.test ~all', 'include:amazonses.com')).verdict, 'ok')
  t.is((await findingOf(resolver, 'v=spf1 include:spf.agency.test ~all', 'ip4:192.0.2.7')).verdict, 'ok')
  t.is(
    (await findingOf(resolver, 'v=spf1 include:spf.agency.test ~all', 'ip4:192.0.2.66')).verdict,
    'ok',
    'the network that contains it passes',
  )
  t.is((await findingOf(resolver, 'v=spf1 include:spf.agency.test ~all', 'include:other.test')).verdict, 'mismatch')
})

test('readSpf() follows redirect= with all of its terms, unless the record has "all"', async (t) => {
  const resolver = dns({ 'b.test': 'v=spf1 ip4:192.0.2.1 -all', 'open.test': 'v=spf1 +all' })
  t.deepEqual((await readSpf(resolver, 'v=spf1 redirect=b.test')).terms, ['redirect=b.test', 'ip4:192.0.2.1', '-all'])
  t.deepEqual((await readSpf(resolver, 'v=spf1 -all redirect=b.test')).terms, ['-all', 'redirect=b.test'])
  t.deepEqual((await readSpf(resolver, 'v=spf1 include:open.test -all')).terms, ['include:open.test', '-all'])
  t.regex((await findingOf(resolver, 'v=spf1 redirect=open.test', 'redirect=open.test')).hint, /authorizes every host/)
})

test('readSpf() stops after ten lookups, also with circular includes', async (t) => {
  const resolver = dns({ 'a.test': 'v=spf1 include:b.test ~all', 'b.test': 'v=spf1 include:a.test ~all' })
  const reading = await readSpf(resolver, 'v=spf1 include:a.test ~all')
  t.is(reading.lookups, 11)
  t.is(resolver.asked.length, 10)
  t.regex((await findingOf(resolver, 'v=spf1 include:a.test ~all', 'include:a.test')).hint, /more than 10 DNS lookups/)
  const many = Array.from({ length: 11 }, (_, i) => `exists:e${String(i)}.test`).join(' ')
  t.regex((await findingOf(resolver, `v=spf1 ${many} ~all`, 'exists:e0.test')).hint, /more than 10 DNS lookups/)
})

test('readSpf() names a domain without a record, and ignores macros', async (t) => {
  const resolver = dns({ 'two.test': ['v=spf1 -all', 'v=spf1 ~all'] })
  t.regex((await findingOf(resolver, 'v=spf1 include:gone.test ~all', 'include:gone.test')).hint, /^gone\.test has no SPF record/)
  t.deepEqual((await readSpf(resolver, 'v=spf1 include:two.test ~all')).broken, ['two.test'])
  t.deepEqual((await readSpf(resolver, 'v=spf1 include:%{i}.x.test exists:%{l}.y.test ~all')).broken, [])
  t.deepEqual(resolver.asked, ['gone.test', 'two.test'])
})
