/** What sites use goes into credits once, to the byte; and a site without credit is away within ten seconds, as it is back. */
import test from '#test'
import { SiteAddresses } from '#core/sites/addresses.ts'
import type { SiteUse } from '#core/sites/metering/site-credits.ts'
import { SiteViews } from '#core/sites/serving/site-views.ts'
import { siteUpkeep } from '#core/sites/site-upkeep.ts'
import { siteUsages } from '#core/sites/site.ts'
import type { Change } from '#store/change.ts'
import { domain, startSites } from '../../admin-api/sites/site-client.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { problemsOf } from '../../support/problems.ts'

const hour = 3_600_000

test('traffic and octets times time are settled once, in the write that takes them from the site, also for a site that is gone', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, create, deploy, ask, rest } = await startSites(t, { replacements: { clock } })
  await daemon.sites.upkeep.stop() // what is settled is settled here
  const core = daemon.part('core')
  const paid: SiteUse[] = []
  let isRefused = false
  const ledger = ['', 'ledger']
  const settle = async (change: Change, use: SiteUse): Promise<void> => {
    if (isRefused)
      change.check(ledger, 1n) // another write came between
    else paid.push(use)
  }
  const upkeep = siteUpkeep({ ...core, credits: { hasCredit: async () => true, settle }, onError: (error) => t.fail(String(error)) })
  const round = async (): Promise<void> => {
    upkeep.wake()
    await upkeep.idle()
  }
  const sum = (of: (use: SiteUse) => bigint): bigint => paid.reduce((total, use) => total + of(use), 0n)
  const site = await create('gipfel')
  await deploy(site, [{ path: 'a.bin', content: Buffer.alloc(1000, 1) }])
  clock.advance(hour)
  await deploy(site, [
    { path: 'a.bin', content: Buffer.alloc(1000, 1) },
    { path: 'b.bin', content: Buffer.alloc(500, 2) },
  ])
  for (let i = 0; i < 3; i++) await ask(`gipfel.${domain}`, '/b.bin')
  await daemon.sites.traffic.flush()
  const { traffic_bytes: sent } = await rest.must('GET', `/v1/sites/${site}/usage`)
  clock.advance(2 * hour)
  isRefused = true
  await round()
  t.deepEqual(paid, [])
  isRefused = false
  clock.advance(hour)
  await round()
  t.is(
    sum(({ trafficBytes }) => BigInt(trafficBytes)),
    BigInt(Number(sent)),
  )
  t.is(
    sum(({ storedByteMs }) => storedByteMs),
    BigInt(hour) * (1000n + 3n * 1500n),
  )
  await round()
  t.is(paid.length, 1, 'nothing is settled twice')
  clock.advance(hour / 2)
  await ask(`gipfel.${domain}`, '/a.bin')
  await daemon.sites.traffic.flush()
  const { traffic_bytes: all } = await rest.must('GET', `/v1/sites/${site}/usage`)
  await rest.must('DELETE', `/v1/sites/${site}`)
  clock.advance(hour)
  await round()
  t.is(
    sum(({ storedByteMs }) => storedByteMs),
    BigInt(hour) * (1000n + 3n * 1500n) + (BigInt(hour) * 1500n) / 2n,
  )
  t.true(Number(all) > Number(sent) + 1000)
  t.is(
    sum(({ trafficBytes }) => BigInt(trafficBytes)),
    BigInt(Number(all)),
    'what was sent last is settled too, and nothing twice',
  )
  t.deepEqual(await daemon.database.all(siteUsages, { organizationId: daemon.organizationId }), [])
  t.deepEqual(await problemsOf(daemon), [])
})

test('a site without credit is away within ten seconds, and back within ten of a grant', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, create, deploy } = await startSites(t, { replacements: { clock } })
  await deploy(await create('gipfel'), [{ path: 'index.html', content: 'home' }])
  let hasCredit = true
  const views = new SiteViews({
    ...daemon.part('core'),
    addresses: new SiteAddresses(domain, 'https'),
    credits: { hasCredit: async () => hasCredit },
  })
  const state = async (): Promise<unknown> => (views.cached(`gipfel.${domain}`) ?? (await views.find(`gipfel.${domain}`)))?.state
  t.is(await state(), 'live')
  hasCredit = false
  clock.advance(10_000)
  t.is(await state(), 'paused')
  hasCredit = true
  clock.advance(10_000)
  t.is(await state(), 'live')
})
