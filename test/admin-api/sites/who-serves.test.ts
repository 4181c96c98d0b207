/** Control over the responses of a site: owner, operator, flag, and DNS for custom domains. */
import test from '#test'
import { siteDomainCheck } from '#core/doctor/site-domain-check.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeNames } from '../rest/fixture/fake-providers.ts'
import { startFixture } from '../rest/fixture/rest-fixture.ts'
import { zipOfFiles } from '../../support/web/zip-file.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { asking, siteSettings, startSites } from './site-client.ts'

const zip = { 'content-type': 'application/zip' }
const home = zipOfFiles({ 'index.html': 'home' })

test('domains: a site domain must not share a registered domain with the service', async (t) => {
  const env = { ...siteSettings, POSTERN_BASE_URL: 'https://post.example.co.uk' }
  const start = (domain: string) => startDaemon(t, { env: { ...env, POSTERN_SITES_DOMAIN: domain } })
  await t.throwsAsync(start('sites.example.co.uk'), {
    name: 'ConfigInvalid',
    message: /POSTERN_BASE_URL is at post\.example\.co\.uk: browsers share cookies below example\.co\.uk/,
  })
  await t.throwsAsync(start('sites.post.example.co.uk'), { name: 'ConfigInvalid' })
  await t.notThrowsAsync(start('other.co.uk'))
})

test('site: paused by its owner, taken down by the operator, or disabled by the flag', async (t) => {
  const fixture = await startFixture(t, { settings: siteSettings })
  const { rest, operator, organizationId, daemon } = fixture
  const ask = asking(t, daemon.addresses.sites)
  const { id } = await rest.must('POST', '/v1/sites', { slug: 'gipfel' })
  await rest.call('POST', `/v1/sites/${String(id)}/deploys?activate=true`, home, zip)
  const host = 'gipfel.sites.test'
  t.is((await ask(host, '/')).text, 'home')
  t.is((await rest.must('PATCH', `/v1/sites/${String(id)}`, { paused: true }))['status'], 'paused')
  const paused = await ask(host, '/')
  t.like(paused, { status: 503, headers: { 'retry-after': '600', 'cache-control': 'no-store' } })
  t.notRegex(paused.text, /gipfel|credit|Postern/i)
  await rest.must('PATCH', `/v1/sites/${String(id)}`, { paused: false })

  const takedown = '/operator/v1/sites/gipfel/takedown'
  t.is((await rest.call('PUT', takedown, { status: 451, reason: 'Order' })).status, 401)
  await operator.must('PUT', takedown, { status: 451, reason: 'Order' })
  t.is((await ask(host, '/')).status, 451)
  t.like(await rest.must('GET', `/v1/sites/${String(id)}`), { status: 'taken_down', takedown: { status: 451, reason: 'Order' } })
  await operator.must('PUT', `/operator/v1/sites/${String(id)}/takedown`, { status: 410, reason: 'Phishing' })
  t.is((await ask(host, '/')).status, 410)
  t.is((await operator.call('PUT', '/operator/v1/sites/unknown/takedown', { status: 410, reason: 'x' })).status, 404)
  await operator.must('DELETE', takedown)
  t.is((await ask(host, '/')).status, 200)
  const acts = ((await rest.must('GET', '/v1/audit?limit=5'))['data'] as { act: string; actor: { kind: string } }[]).map(({ act }) => act)
  t.deepEqual(acts.slice(0, 3), ['site.let_back', 'site.taken_down', 'site.taken_down'])

  const flags = `/operator/v1/organizations/${organizationId}/flags`
  await operator.must('PUT', flags, { managed_websites: false })
  t.is((await ask(host, '/')).status, 404)
  t.is((await rest.call('GET', '/v1/sites')).status, 403)
  await operator.must('PUT', flags, { managed_websites: true })
  t.is((await ask(host, '/')).status, 200)
  const target = String((await rest.must('POST', '/v1/projects', { name: 'Target' }))['id'])
  await rest.must('PATCH', `/v1/sites/${String(id)}`, { project_id: target, slug: 'gletscher' })
  t.is((await ask(host, '/')).status, 404)
  t.is((await ask('gletscher.sites.test', '/')).text, 'home')
  await rest.must('DELETE', `/v1/projects/${target}?discard_queued=true`)
  t.is((await ask('gletscher.sites.test', '/')).status, 404, 'it is deleted with its project')
})

test('domains: a domain serves the site in DNS, and moves when DNS changes', async (t) => {
  const [records, aliases] = [new FakeNames(), new Map<string, string>()]
  const lookUp = (name: string, type: string) =>
    type === 'CNAME' && aliases.has(name)
      ? Promise.resolve([aliases.get(name)])
      : Promise.reject(Object.assign(new Error(name), { code: 'ENODATA' }))
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, rest, ask, create, deploy } = await startSites(t, { replacements: { resolver: records, lookUp, clock } })
  const [one, two] = [await create('eins'), await create('zwei')]
  await deploy(one, [{ path: 'index.html', content: 'eins' }])
  await deploy(two, [{ path: 'index.html', content: 'zwei' }])
  const claim = async (site: string) => {
    const { records: wanted } = await rest.must('POST', `/v1/sites/${site}/domains`, { domain: 'WWW.example.ch.' })
    return (wanted as { type: string; name: string; value: string }[]).find(({ type }) => type === 'TXT')
  }
  const verify = async (site: string) => rest.call('POST', `/v1/sites/${site}/domains/www.example.ch/verify`)
  const [first, second] = [await claim(one), await claim(two)]
  t.regex(
    String(((await verify(one)).body as { problem: string }).problem),
    /^The TXT record _postern-site\.www\.example\.ch does not contain/,
  )
  records.txt.set('_postern-site.www.example.ch', [first?.value ?? ''])
  t.regex(String(((await verify(one)).body as { problem: string }).problem), /does not point to this site/)
  aliases.set('www.example.ch', 'eins.sites.test')
  t.like((await verify(one)).body, { status: 'verified', problem: null })
  t.is((await ask('www.example.ch', '/')).text, 'eins')
  t.is((await ask('127.0.0.1', '/internal/tls-allow?domain=www.example.ch')).status, 200)
  records.txt.set('_postern-site.www.example.ch', [first?.value ?? '', second?.value ?? ''])
  aliases.set('www.example.ch', 'zwei.sites.test')
  t.is((await verify(two)).status, 409, 'the first record remains')
  records.txt.set('_postern-site.www.example.ch', [second?.value ?? ''])
  t.like((await verify(two)).body, { status: 'verified' })
  t.is((await ask('www.example.ch', '/')).text, 'zwei')
  t.deepEqual((await rest.must('GET', `/v1/sites/${one}`))['domains'], [])

  const checked = async (hours: number) => {
    clock.advance(hours * 3_600_000)
    await daemon.sites.recheck?.idle()
    const { data } = await rest.must('GET', `/v1/sites/${two}/domains`)
    return (data as { problem: string | null; status: string }[])[0]
  }
  const look = { signal: new AbortController().signal, isAsked: true, openAt: new Set<string>() }
  const findings = async () => (await siteDomainCheck(daemon.part('core')).look(look)).found.map(({ kind }) => kind)
  aliases.set('www.example.ch', 'elsewhere.example')
  t.is((await checked(2))?.problem, null, 'it is not due yet')
  t.regex(String((await checked(11))?.problem), /does not point to this site/)
  t.is((await checked(1))?.status, 'verified')
  t.is((await ask('www.example.ch', '/')).text, 'zwei', 'the other site keeps the domain')
  t.deepEqual(await findings(), ['site.domain'])
  aliases.set('www.example.ch', 'zwei.sites.test')
  t.is((await checked(2))?.problem, null)
  records.txt.set('_postern-site.www.example.ch', new ResolveError('timeout', 'no response'))
  t.is((await checked(13))?.problem, null, 'a missing response changes nothing')
  t.deepEqual(await findings(), [])
  records.txt.delete('_postern-site.www.example.ch')
  t.regex(String((await checked(13))?.problem), /^The TXT record/)
  await rest.must('DELETE', `/v1/sites/${two}/domains/www.example.ch`)
  t.is((await ask('www.example.ch', '/')).status, 404)
  for (const domain of ['eins.sites.test', 'sites.test', 'localhost', '127.0.0.1', 'a b.ch', '*.example.ch'])
    t.is((await rest.call('POST', `/v1/sites/${one}/domains`, { domain })).status, 400, domain)
})
