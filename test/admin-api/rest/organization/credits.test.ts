import test from '#test'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { errorOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'
import { zipOf } from '../../../support/web/zip-file.ts'
import { asking } from '../../sites/site-client.ts'

const gibibyte = 2 ** 30

async function use({ daemon, database, clock, organizationId }: Fixture, siteId: string, gibibytes: number): Promise<void> {
  const change = new Change()
  const trafficBytes = gibibytes * gibibyte
  await daemon.part('billing').credits.settle(change, { organizationId, siteId, trafficBytes, storedByteMs: 0n, untilMs: clock.now() })
  await database.commit(change)
}

test('used-up credits stop websites but not mail, notify members, and a grant restores them', async (t) => {
  const fixture = await startFixture(t, { plan: 'free', hasMail: true })
  const { rest, operator, organizationId, clock, database, daemon, addMember } = fixture
  await addMember('cashier@example.ch', 'billing')
  await addMember('reader@example.ch', 'viewer')
  const root = `/operator/v1/organizations/${organizationId}/credits`
  const { id } = await rest.must('POST', '/v1/sites', { slug: 'alpenblick' })
  const zip = zipOf([{ path: 'index.html', content: '<h1>Hello</h1>' }])
  await rest.call('POST', `/v1/sites/${String(id)}/deploys?activate=true`, zip, { 'content-type': 'application/zip' })
  const ask = asking(t, daemon.addresses.sites)
  const status = async (): Promise<number> => (await ask('alpenblick.sites.example.net', '/')).status
  t.is(await status(), 200)
  const full = await rest.must('GET', '/v1/billing/credits')
  t.like(full, { balance_credits: '200', is_unlimited: false, has_credit: true, alert_percent: 0 })
  t.like((full['grants'] as object[])[0], { kind: 'allowance', amount: '200', remaining: '200', expires_at: '2030-02-01T00:00:00.000Z' })
  await use(fixture, String(id), 16)
  t.like(await rest.must('GET', '/v1/billing/credits'), { balance_credits: '40', alert_percent: 80 })
  await daemon.pass(6 * 60_000)
  await use(fixture, String(id), 4.5)
  t.like(await rest.must('GET', '/v1/billing/credits'), { balance_credits: '-5', has_credit: false, alert_percent: 100, grants: [] })
  await daemon.pass(2 * 60_000)
  t.is(await status(), 503)
  await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' })
  const granted = await operator.must('POST', root, { credits: '12.500001', note: 'sorry' })
  t.like(granted, { kind: 'operator', amount: '12.500001', remaining: '7.500001', expires_at: null, note: 'sorry' })
  clock.advance(10_000)
  t.is(await status(), 200)
  const ledger = await Array.fromAsync(rest.rows('/v1/billing/credits/entries', 3))
  t.deepEqual(ledger.map(({ reason, credits }) => `${String(reason)} ${String(credits)}`).toSorted(), [
    'adjust -5',
    'adjust 5',
    'grant 12.500001',
    'grant 200',
    'traffic -200',
    'traffic -5',
  ])
  t.is((await operator.must('GET', root))['balance_credits'], '7.500001')
  const { data } = await rest.must('GET', '/v1/audit?act=credit.granted')
  t.deepEqual(
    (data as { details: unknown }[]).map(({ details }) => details),
    [{ kind: 'operator', credits: '12.500001', note: 'sorry' }],
  )
  await daemon.people.background.idle()
  const { rows } = await database.list(traces, { organizationId: systemOrganizationId }, { limit: 10, ascending: true })
  t.deepEqual(
    rows.map(({ record: { subject, recipients } }) => [subject, ...column(recipients, 'address')]),
    [
      ['Warning in Default: Credits are at 80 % of the limit', 'cashier@example.ch'],
      ['Error in Default: The limit of 200 credits is reached', 'cashier@example.ch'],
    ],
  )
  await daemon.sites.traffic.flush()
  clock.advance(3_700_000)
  await daemon.settled()
  const { traffic_bytes } = await rest.must('GET', `/v1/sites/${String(id)}/usage`)
  const settled = ((await rest.must('GET', '/v1/billing/credits/entries'))['data'] as Record<string, unknown>[]).filter(
    ({ grant_id }) => grant_id === granted['id'],
  )
  t.like(
    settled.find(({ reason }) => reason === 'traffic'),
    { site_id: id, quantity: String(traffic_bytes) },
    'traffic is charged to the byte',
  )
  t.true(settled.some(({ reason, quantity }) => reason === 'storage' && Number(quantity) > 0))
})

test('a new month brings new credits; an invalid amount is refused', async (t) => {
  const { rest, operator, organizationId, clock, addOrganization } = await startFixture(t, { plan: 'basic' })
  const root = `/operator/v1/organizations/${organizationId}/credits`
  await operator.must('POST', root, { credits: '1', kind: 'purchased' })
  clock.advance(31 * 86_400_000)
  const { balance_credits, grants } = await rest.must('GET', '/v1/billing/credits')
  t.is(balance_credits, '1601')
  const { data: plans } = await rest.must('GET', '/v1/plans')
  t.deepEqual(
    (plans as Record<string, unknown>[]).map(({ name, credits_per_month }) => [name, credits_per_month]),
    [
      ['anonymous', 0],
      ['free', 200],
      ['basic', 800],
      ['pro', 4000],
      ['enterprise', null],
    ],
  )
  t.deepEqual(
    (grants as Record<string, unknown>[]).map(({ kind, remaining, expires_at }) => [kind, remaining, expires_at]),
    [
      ['allowance', '800', '2030-08-01T00:00:00.000Z'],
      ['allowance', '800', '2030-09-01T00:00:00.000Z'],
      ['purchased', '1', null],
    ],
  )
  for (const credits of ['0', '0.000000', '-1', '1.0000001', '100000000', '01', '', 'x', 5])
    t.is(errorOf(await operator.call('POST', root, { credits })).code, 'validation_failed', String(credits))
  const past = await operator.call('POST', root, { credits: '1', expires_at: '2030-01-01T00:00:00Z' })
  t.regex(errorOf(past).message, /^expires_at: must be in the future/)
  for (let i = 0; i < 9; i++) await operator.must('POST', root, { credits: '99999999.999999', kind: 'purchased' })
  const beyond = await operator.call('POST', root, { credits: '99999999.999999', kind: 'purchased' })
  t.regex(errorOf(beyond).message, /^credits: would make the balance larger/)
  t.is((await rest.must('GET', '/v1/billing/credits'))['balance_credits'], '900001600.999991', 'to the micro-credit')
  t.is((await operator.call('POST', root.replace(organizationId, 'org_0'), { credits: '1' })).status, 404)
  const { rest: other } = await addOrganization('enterprise')
  t.like(await other.must('GET', '/v1/billing/credits'), { balance_credits: '0', is_unlimited: true, has_credit: true, grants: [] })
})
