/** Quick checks of an organization with more open findings than a look reads at once. */
import test from '#test'
import { observed } from '#core/findings/finding.ts'
import { Settle } from '#core/findings/settle.ts'
import { count, projectNames } from '#core/insights/count.ts'
import { coreFixture, organizationId } from '../core-fixture.ts'
import { minute, place, Watched } from './watched.ts'

test('a finding ends although a thousand more severe findings of other checks are open', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  await here.count((change, now) => count(change, place, ['xquota_exceeded'], now, 40))
  await here.round()
  t.deepEqual(await here.open(), ['mail.refused warning'])
  await here.pass(50 * minute)
  const { database, clock } = fixture
  const domains = Array.from({ length: 1100 }, (_, i) => observed('domain.dkim', `d${i}.example`, { domain: `d${i}.example` }))
  await new Settle({ database, clock }).settle({ organizationId, check: 'domains', observed: domains })
  await here.count((change, now) => count(change, place, [projectNames.relayed], now, 1))
  await here.pass(35 * minute)
  t.is(await here.finding('mail.refused'), undefined)
  t.is((await here.open()).length, 1100)
})
