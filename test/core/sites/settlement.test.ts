/** Usage of sites is charged to credits once, to the byte. A site without credit stops within ten seconds and returns as fast. */
import test from '#test'
import { SiteAddresses } from '#core/sites/site-addresses.ts'
import type { SiteUse } from '#core/sites/metering/site-credits.ts'
import { SiteViews } from '#core/sites/serving/site-views.ts'
import { siteUpkeep } from '#core/sites/site-upkeep.ts'
import { answersCounter, owedKey, siteUsages, trafficCounter, unsettledCounter } from '#core/sites/site.ts'
import type { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { domain, startSites } from '../../admin-api/sites/site-client.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { assertSound } from '../../support/problems.ts'

const hour = 3_600_000
const day = 24 * hour

test('site traffic and storage time are settled once, in one write, also after a removal', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, create, deploy, ask, rest } = await startSites(t, { replacements: { clock } })
  await daemon.sites.upkeep.stop() // The test settles itself.
  const core = daemon.part('core')
  const paid: SiteUse[] = []
  let isRefused = false
  const ledger = ['', 'ledger']
  const settle = async (change: Change, use: SiteUse): Promise<void> => {
    if (isRefused)
      change.check(ledger, 1n) // another write happened in between
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
    'the latest traffic is settled too, and nothing twice',
  )
  t.deepEqual(await daemon.database.all(siteUsages, { organizationId: daemon.organizationId }), [])
  await assertSound(t, daemon)
})

test('a removed site: leaves no counter, even of traffic counted after its removal', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, create, deploy, ask, rest } = await startSites(t, { replacements: { clock } })
  const { database, organizationId } = daemon
  const { upkeep, traffic } = daemon.sites
  const site = await create('gipfel')
  await deploy(site, [{ path: 'a.bin', content: Buffer.alloc(1000, 1) }])
  const days = ['2030-01-01', '2030-01-02', '2030-01-03']
  const left = async (): Promise<readonly unknown[]> => [
    (await database.kv.get(pack(owedKey(organizationId, site)))) !== undefined,
    ...(await database.kv.counters(
      [
        unsettledCounter(organizationId, site),
        ...days.flatMap((date) => [trafficCounter(organizationId, site, date), answersCounter(organizationId, site, date)]),
      ].map(pack),
    )),
  ]
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    upkeep.wake()
    await upkeep.idle()
  }
  for (let visits = 0; visits < 2; visits++) {
    await ask(`gipfel.${domain}`, '/a.bin')
    await traffic.flush()
    await pass(day)
  }
  t.true((await left()).filter(Boolean).length >= 4, 'counters exist')
  await ask(`gipfel.${domain}`, '/a.bin')
  await rest.must('DELETE', `/v1/sites/${site}`)
  await pass(hour)
  t.deepEqual((await left()).slice(0, 2), [false, 0], 'its use is settled')
  traffic.count(organizationId, site, 700) // an answer that took an hour
  await traffic.flush()
  t.true((await left()).some(Boolean), 'traffic counts when the answer ends')
  await pass(hour)
  await pass(day)
  t.deepEqual((await left()).filter(Boolean), [])
  await assertSound(t, daemon)
})

test('a site without credit stops within ten seconds, and restarts as fast on a grant', async (t) => {
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
