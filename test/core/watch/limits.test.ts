/** Quick checks of limits, payment and logins. */
import test from '#test'
import {
  organizationSendCounter,
  dayOf,
  storedTracesCounter,
  captureCounter,
  monthOf,
  sendCounter,
  usageCounter,
} from '#core/tenancy/counters.ts'
import { prices } from '#core/billing/price.ts'
import { closeMonth } from '#core/billing/closing/close-month.ts'
import { findingText } from '#core/findings/finding-text.ts'
import { Change } from '#store/change.ts'
import type { Element } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'
import { day, hour, minute, Watched } from './watched.ts'

type Test = Parameters<typeof coreFixture>[0]

const add = async ({ fixture }: Watched, key: readonly Element[], many: number): Promise<void> => {
  await fixture.database.commit(new Change().add(key, many))
  fixture.part('watch').note(organizationId, projectId)
}

const watched = async (t: Test, prepare: (fixture: CoreFixture) => Promise<unknown>): Promise<Watched> => {
  const fixture = await coreFixture(t)
  await prepare(fixture)
  return Watched.of(fixture)
}

test('quota: sends a day from 80 %, until the next day', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ plan: 'free' }))
  const key = organizationSendCounter(organizationId, dayOf(here.now))
  await add(here, key, 79)
  await here.round()
  t.deepEqual(await here.open(), [])
  await add(here, key, 1)
  await here.round()
  t.regex(
    await here.summary('quota.nearly_used'),
    /^80 % of the limit of 100 messages a day are used \(80\)\. At this pace, the limit is reached at 2030-01-15T15:0\d:\d\d\.\d+Z\.$/,
  )
  await add(here, key, 20)
  await here.round()
  t.deepEqual(await here.open(), ['quota.used error'])
  t.is(await here.summary('quota.used'), 'The limit of 100 messages a day is reached. New messages are refused until midnight UTC.')
  await here.pass(day)
  t.deepEqual(await here.open(), [])
})

test('quota: budget of a project, captures a month and stored traces, until a higher limit', async (t) => {
  const here = await watched(t, async (fixture) => {
    await fixture.organization({ plan: 'free' })
    await fixture.project({ sendBudget: 10, monthlyCaptureCap: 20 })
  })
  const { fixture } = here
  await add(here, sendCounter(organizationId, projectId, dayOf(here.now)), 9)
  await add(here, captureCounter(organizationId, projectId, monthOf(here.now)), 20)
  await add(here, storedTracesCounter(organizationId), 1000)
  await here.round()
  const found = (await here.findings()).map(({ kind, subject, severity }) => `${kind} ${subject} ${severity}`)
  t.deepEqual(found.toSorted(), [
    `quota.nearly_used project_sends_today/${projectId} warning`,
    `quota.used captures_month/${projectId} error`,
    'quota.used traces_stored warning',
  ])
  await fixture.project({ sendBudget: 100, monthlyCaptureCap: 200 })
  await fixture.organization({ plan: 'enterprise' })
  await here.round()
  t.deepEqual(await here.open(), [])
})

/** Uses traffic of websites, and returns the open findings after the next round. */
async function used(here: Watched, credits: number): Promise<readonly unknown[]> {
  const { fixture, now } = here
  const change = new Change()
  const use = { organizationId, siteId: 'sit_1', trafficBytes: Math.ceil((credits / 10) * 2 ** 30), storedByteMs: 0n, untilMs: now }
  await fixture.part('billing').credits.settle(change, use)
  await fixture.database.commit(change)
  await here.round()
  return (await here.findings()).flatMap(({ kind, severity, state, params }) =>
    state === 'open' ? [[kind, severity, params['percent'], params['used']]] : [],
  )
}

test('quota: credits of an organization without mail, at 80, 95 and 100 %, until a grant', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ plan: 'free' }))
  t.deepEqual(await used(here, 155), [])
  t.deepEqual(await used(here, 5), [['quota.nearly_used', 'warning', 80, 160]])
  t.regex(await here.summary('quota.nearly_used'), /^80 % of the limit of 200 credits are used \(160\)\. When no credits remain,/)
  t.deepEqual(await used(here, 30), [['quota.nearly_used', 'error', 95, 190]])
  t.deepEqual(await used(here, 9), [['quota.nearly_used', 'error', 95, 190]], 'figures are stored once an hour')
  t.deepEqual(await used(here, 5), [['quota.used', 'error', 102, 204]])
  t.is(await here.summary('quota.used'), 'The limit of 200 credits is reached. The websites are paused. Mail and forms are not affected.')
  await here.fixture.part('billing').credits.give(organizationId, { kind: 'purchased', amountUcr: 50_000_000, expiresAt: null, note: '' })
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('quota: credits of the next month and of a contract end the finding', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ plan: 'free' }))
  t.is((await used(here, 200)).length, 1)
  here.fixture.clock.step(31 * day)
  await here.round()
  t.deepEqual(await here.open(), [])
  t.is((await used(here, 200)).length, 1)
  await here.fixture.organization({ plan: 'enterprise' })
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('quota: a limit that the day ends first is not nearly used', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ plan: 'free' }))
  await here.pass(6 * hour)
  const key = organizationSendCounter(organizationId, dayOf(here.now))
  await add(here, key, 80)
  await here.round()
  t.deepEqual(await here.open(), ['quota.nearly_used warning'])
  await here.pass(2 * hour)
  t.deepEqual(await here.open(), [], 'at 20:00 UTC')
})

test('payment.overdue: of a restored organization, without mail', async (t) => {
  const state = { paymentState: 'past_due' as const, deletedAt: Date.UTC(2030, 0, 15) }
  const here = await watched(t, (fixture) => fixture.organization(state))
  await here.fixture.core.restoreOrganization(organizationId)
  await here.round()
  t.deepEqual(await here.open(), ['payment.overdue notice'])
})

test('quota: the next use announces credits again if a crash lost the look', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.organization({ plan: 'free' })
  const { credits } = fixture.part('billing')
  const change = new Change()
  await credits.settle(change, {
    organizationId,
    siteId: 'sit_1',
    trafficBytes: 17 * 2 ** 30,
    storedByteMs: 0n,
    untilMs: fixture.clock.now(),
  })
  await fixture.database.commit(change)
  const here = await Watched.of(await fixture.crash())
  t.is((await used(here, 0.1)).length, 1)
})

test('payment.overdue: until the payment is confirmed', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ paymentState: 'past_due' }))
  await here.fixture.submit()
  await here.round()
  t.deepEqual(await here.open(), ['payment.overdue notice'])
  await here.fixture.organization({ paymentState: 'manual_ok' })
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('payment.overdue: names the month of the oldest unpaid invoice that is due', async (t) => {
  const here = await watched(t, (fixture) => fixture.organization({ createdAt: 0 }))
  const [core, billing] = [here.fixture.part('core'), here.fixture.part('billing')]
  const { operator } = here.fixture.core
  const titles = async (): Promise<readonly string[]> => {
    const finding = await here.finding('payment.overdue')
    return ['en', 'de', 'fr', 'it'].map((language) => (finding ? findingText(finding, language).title : ''))
  }
  const change = new Change()
  const price = { id: 'prc_1', axis: 'captures' as const, unitPriceUrp: 1_000_000, effectiveFrom: '2029-10', setAt: 0, number: 0 }
  change.insert(prices, organizationId, price)
  for (const month of ['2029-10', '2029-11', '2029-12']) change.add(usageCounter(organizationId, 'captures', month), 100)
  await here.fixture.database.commit(change)
  const options = { ...core, invoices: billing.invoices, issuer: [], paymentDays: 10 }
  await closeMonth(options, organizationId, '2029-10')
  await closeMonth(options, organizationId, '2029-11')
  await here.pass(11 * day)
  await closeMonth(options, organizationId, '2029-12') // not due
  await operator.setPaymentState(organizationId, 'past_due')
  await here.round()
  t.deepEqual(await titles(), [
    'The invoice of October 2029 is overdue',
    'Die Rechnung für Oktober 2029 ist überfällig',
    'Une facture est en retard\u00a0: octobre 2029',
    'La fattura di ottobre 2029 è scaduta',
  ])
  const { rows } = await billing.register.list(organizationId, { limit: 10 })
  const paid = rows.find(({ document }) => document.month === '2029-10')
  await billing.register.mark(paid?.document.id ?? '', 'paid', '')
  await here.pass(2 * hour)
  t.is((await titles())[0], 'The invoice of November 2029 is overdue')
})

test('payment.overdue: without mail, when the operator sets the state', async (t) => {
  const here = await watched(t, async () => {})
  const { operator } = here.fixture.core
  await operator.setPaymentState(organizationId, 'past_due')
  await here.round()
  t.deepEqual(await here.open(), ['payment.overdue notice'])
  await operator.setPaymentState(organizationId, 'manual_ok')
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('login.attacked: a hundred failed sign-ins within an hour', async (t) => {
  const here = await watched(t, (fixture) => fixture.credential('right'))
  const { door, clock } = here.fixture
  const fail = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await t.throwsAsync(door.login('cms-user', 'wrong', `2001:db8:${(++visitors).toString(16)}::1`))
    clock.advance(1000)
    await here.fixture.settled()
  }
  let visitors = 0
  await fail(99)
  await here.round()
  t.is(await here.finding('login.attacked'), undefined)
  await fail(1)
  await here.round()
  t.is(await here.summary('login.attacked'), 'The SMTP login CMS had 100 failed sign-ins within an hour.')
  await here.pass(2 * hour + minute)
  t.is(await here.finding('login.attacked'), undefined)
})
