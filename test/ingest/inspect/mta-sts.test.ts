/** The MTA-STS policy of a domain: the request and the parser. */
import test from '#test'
import type { Fetch, FetchedDocument } from '#core/outbound/fetch.ts'
import { policyFetcher, policyMode } from '#ingest/dns/mta-sts.ts'

const text = 'version: STSv1\r\nmode: enforce\r\nmx: *.example.com\r\nmax_age: 604800\r\n'
const plain = { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, text }

function site(answer: FetchedDocument): { readonly asked: unknown[]; readonly fetch: Fetch } {
  const asked: unknown[] = []
  const fetch: Fetch = async (url, limits) => {
    asked.push([url, limits])
    return answer
  }
  return { asked, fetch }
}

test('policyFetcher(): requests the well-known address, within limits', async (t) => {
  const { asked, fetch } = site(plain)
  t.is(await policyFetcher(fetch)('example.com', 1234), text)
  t.deepEqual(asked, [['https://mta-sts.example.com/.well-known/mta-sts.txt', { deadlineMs: 1234, maxBytes: 65_536 }]])
})

test('policyFetcher(): rejects redirects, missing files and web pages', async (t) => {
  for (const answer of [
    { ...plain, status: 301 },
    { ...plain, status: 404 },
    { ...plain, headers: { 'content-type': 'text/html' } },
    { ...plain, headers: {} },
  ])
    await t.throwsAsync(policyFetcher(site(answer).fetch)('example.com', 1000), { message: /policy/ })
})

test('policyFetcher(): a From domain cannot redirect the request', async (t) => {
  const { asked, fetch } = site(plain)
  for (const domain of [
    '',
    'localhost',
    'a.test/..',
    'a.test:25',
    'x@a.test',
    'a.test?b',
    'a.test#',
    'a b.test',
    '-a.test',
    '[::1]',
    'a..test',
    'Ä.test',
  ])
    await t.throwsAsync(policyFetcher(fetch)(domain, 1000), { message: /no domain/ }, domain)
  t.deepEqual(asked, [])
})

test('policyMode(): returns the mode of a complete policy, otherwise broken', (t) => {
  t.is(policyMode(text), 'enforce')
  t.is(policyMode(text.replace('enforce', 'testing')), 'testing')
  t.is(policyMode(text.replaceAll('\r', '').replace('enforce', 'none')), 'none')
  for (const broken of [
    '',
    'x'.repeat(100_000),
    text.replace('STSv1', 'STSv2'),
    text.replace('enforce', 'always'),
    text.replace(/max_age.*/, ''),
  ])
    t.is(policyMode(broken), 'broken')
})
