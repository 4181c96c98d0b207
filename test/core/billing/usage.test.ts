/** Metered usage, compared with the operations made. */
import test, { type ExecutionContext } from '#test'
import { Invoices, type Invoice } from '#core/billing/invoice.ts'
import { storedTracesCounter } from '#core/tenancy/counters.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { Seeded } from '../../support/seeded.ts'
import { coreFixture, organizationId, projectId, principal } from '../core-fixture.ts'

const dayMs = 86_400_000

async function officeOf(t: ExecutionContext, changes: Partial<Organization> = {}) {
  const fixture = await coreFixture(t, { deaf: true, env: { POSTERN_VAT_BASIS_POINTS: '810' } })
  await fixture.organization({ plan: 'pro', ...changes })
  return { fixture, ...fixture.core, credentials: fixture.part('credentials'), retention: fixture.part('retention') }
}

const amountOf = async (invoices: Invoices, axis: string, month?: string): Promise<number | undefined> =>
  (await invoices.preview(organizationId, month)).lines.find((line) => line.axis === axis)?.amountRappen

test('usage is the sum of all accepted operations by project and month', async (t) => {
  const { fixture, usage } = await officeOf(t, { overrides: { sendsPerDay: 40 } })
  await fixture.destination()
  await fixture.rule({ domain: 'live.test' })
  await fixture.project({ id: 'prj_2', isDefault: false, sendBudget: 11 })
  const random = new Seeded(7)
  const done = new Map<string, number>()
  const count = (what: string): unknown => done.set(what, (done.get(what) ?? 0) + 1)
  for (let round = 0; round < 40; round++) {
    const sends = Array.from({ length: random.between(0, 12) }, async () => {
      const project = random.chance(0.4) ? 'prj_2' : projectId
      const door = random.chance(0.5) ? ('smtp' as const) : ('rest' as const)
      const headerFrom = random.chance(0.5) ? 'a@live.test' : 'a@other.test'
      const month = new Date(fixture.clock.now()).toISOString().slice(0, 7)
      const idempotencyKey = random.chance(0.3) ? `same ${random.between(1, 3)} ${String(round)}` : undefined
      const facts = { ...defaultFacts, headerFrom }
      const made = await fixture
        .submit({ projectId: project, door, facts, ...(idempotencyKey !== undefined && { idempotencyKey }) })
        .catch(() => undefined)
      if (!made || made.repeated) return
      for (const place of ['all', project]) {
        count(`${month} ${place} sends`)
        if (door === 'smtp') count(`${month} ${place} smtp`)
        if (made.outcome !== 'relayed') count(`${month} ${place} captures`)
      }
    })
    await Promise.all(sends)
    fixture.clock.advance(random.between(0, dayMs))
  }
  t.true(done.size > 15, 'two months, two projects and every kind of send')
  for (const month of ['2030-01', '2030-02']) {
    const report = await usage.of(organizationId, month)
    const of = (place: string, what: string): number => done.get(`${month} ${place} ${what}`) ?? 0
    t.is(report.sends, of('all', 'sends'))
    t.is(report.axes.smtp_messages, of('all', 'smtp'))
    t.is(report.axes.captures, of('all', 'captures'))
    for (const { projectId: id, sends, smtpMessages, captures } of report.projects)
      t.deepEqual([sends, smtpMessages, captures], [of(id, 'sends'), of(id, 'smtp'), of(id, 'captures')], `${month} ${id}`)
  }
})

const defaultFacts = {
  prefix: '',
  subject: 'hi',
  messageId: 'm@example.com',
  headerFrom: '',
  headerAddresses: [],
  eightBit: false,
}

const partsOf = ({ lines }: Invoice, axis: string): string[] =>
  (lines.find((line) => line.axis === axis)?.projects ?? []).map(({ projectId: id, quantity }) => `${String(id)} ${quantity}`)

test('the monthly maximum of SMTP credentials above the plan is billed; rotation adds none', async (t) => {
  const { fixture, usage, invoices, credentials } = await officeOf(t, { plan: 'free', paymentState: 'manual_ok' })
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const [first, second] = [await credentials.create(principal, {}), await credentials.create(principal, { projectId: 'prj_2' })]
  const third = await credentials.create(principal, {})
  await credentials.rotate(principal, first.record.id)
  await credentials.revoke(principal, second.record.id)
  await credentials.revoke(principal, third.record.id)
  await credentials.revoke(principal, third.record.id)
  t.is((await usage.of(organizationId, undefined)).axes.smtp_credentials, 3)
  t.is(await amountOf(invoices, 'smtp_credentials'), 200)
  const projectsIn = async (month: string) => partsOf(await invoices.preview(organizationId, month), 'smtp_credentials')
  t.deepEqual(await projectsIn('2030-01'), [`${projectId} 2`, 'prj_2 1'], 'by project at the time of the maximum')
  await credentials.update(principal, first.record.id, { projectId: 'prj_2' })
  t.deepEqual(await projectsIn('2030-01'), [`${projectId} 2`, 'prj_2 1'], 'unchanged when one moves')
  await fixture.organization({ overrides: { smtpCredentials: -1 } })
  t.is(await amountOf(invoices, 'smtp_credentials'), 0, 'without an agreed limit, all are included')
  await fixture.organization({ overrides: undefined })
  fixture.clock.advance(31 * dayMs)
  t.is((await usage.of(organizationId, undefined)).axes.smtp_credentials, 1, 'credentials of last month still count')
  t.is(await amountOf(invoices, 'smtp_credentials'), 0)
  t.deepEqual(await projectsIn('2030-02'), ['prj_2 1'], 'in its project since last month')
  await credentials.revoke(principal, first.record.id)
  t.is((await usage.of(organizationId, undefined)).axes.smtp_credentials, 1, 'it existed in this month')
  fixture.clock.advance(31 * dayMs)
  t.is((await usage.of(organizationId, undefined)).axes.smtp_credentials, 0)
  t.is((await usage.of(organizationId, '2030-01')).axes.smtp_credentials, 3, 'the past is unchanged')
  await fixture.assertSound(t)
})

test('resources of a deleted project do not count for limits', async (t) => {
  const { fixture, usage } = await officeOf(t)
  const used = async () => (await usage.of(organizationId, undefined)).limits?.find(({ name }) => name === 'smtp_credentials')?.used
  const before = await used()
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.credential('one', { id: 'smc_2', username: 'u2', projectId: 'prj_2' })
  t.is(await used(), (before ?? 0) + 1)
  await fixture.project({ id: 'prj_2', isDefault: false, deletedAt: fixture.clock.now() })
  t.is(await used(), before)
})

test('traces_stored is the average over the days of the month', async (t) => {
  const { fixture, usage, invoices, retention } = await officeOf(t, { plan: 'enterprise' })
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  fixture.clock.advance(17 * dayMs - 12 * 3_600_000) // the first of February
  for (let i = 0; i < 28; i++) await fixture.submit()
  await fixture.settled()
  await retention.round()
  fixture.clock.advance(7 * dayMs)
  for (let i = 0; i < 28; i++) await fixture.submit({ projectId: 'prj_2' })
  await fixture.settled()
  await retention.round()
  await retention.round()
  fixture.clock.advance(dayMs)
  // 28 traces on seven days, 56 on two, of 28 days
  t.is((await usage.of(organizationId, '2030-02')).axes.traces_stored, 7 + 4)
  fixture.clock.advance(30 * dayMs)
  t.is((await usage.of(organizationId, '2030-02')).axes.traces_stored, 7 + 42, 'a day without a count repeats the previous one')
  t.is((await usage.of(organizationId, '2030-01')).axes.traces_stored, 0)
  // 28 of the first project on all days, and 28 of the second on 21
  const projectsNow = async () => partsOf(await invoices.preview(organizationId, '2030-02'), 'traces_stored')
  t.deepEqual(await projectsNow(), [`${projectId} 28`, 'prj_2 21'])
  const { projects, removals } = fixture.part('administration')
  await projects.remove(principal, 'prj_2', { discardQueued: true })
  removals.wake()
  await removals.idle()
  t.deepEqual(await projectsNow(), [`${projectId} 28`, 'null 21'])
  await fixture.assertSound(t)
  await fixture.database.commit(new Change().add(storedTracesCounter(organizationId, projectId), 1))
  t.deepEqual(await fixture.problems(), [`${projectId} has records of the kind send that weigh 28, but their counter says 29.`])
})

test('sends above the daily limit of plan free are overage, day by day', async (t) => {
  const { fixture, usage, operator, invoices } = await officeOf(t, {
    plan: 'free',
    paymentState: 'manual_ok',
    overrides: { sendsPerDay: 3 },
  })
  const send = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await fixture.submit()
  }
  await send(5)
  fixture.clock.advance(dayMs)
  await send(2)
  fixture.clock.advance(dayMs)
  await send(7)
  t.is((await usage.of(organizationId, undefined)).axes.sends_overage, 2 + 0 + 4)
  await operator.setPrices(organizationId, [{ axis: 'sends_overage', unitPriceUrp: 2_500_000 }])
  t.is(await amountOf(invoices, 'sends_overage'), 15)
  await operator.setPlan(organizationId, 'basic')
  await operator.setOverrides(organizationId, { sendsPerDay: null })
  t.is((await usage.of(organizationId, undefined)).axes.sends_overage, 2, 'a day on two plans has the larger number')
  fixture.clock.advance(dayMs)
  await send(9)
  t.is((await usage.of(organizationId, undefined)).axes.sends_overage, 2)
})

test('fees: billed by day, at the largest fee among the plans of the day', async (t) => {
  const { fixture, operator, invoices } = await officeOf(t, { plan: 'free' })
  const bill = async (month: string) => {
    const { plan, netRappen, vatRappen, totalRappen } = await invoices.preview(organizationId, month)
    return [plan, netRappen, vatRappen, totalRappen]
  }
  t.deepEqual(await bill('2030-01'), ['free', 0, 0, 0])
  await operator.setPlan(organizationId, 'pro')
  fixture.clock.advance(1000)
  await operator.setPlan(organizationId, 'basic')
  // Created on the 15th: a day of pro is 158, and 16 days of basic are 516.
  t.deepEqual(await bill('2030-01'), ['pro', 674, 55, 729])
  t.deepEqual(
    (await invoices.preview(organizationId, '2030-01')).lines.slice(0, 2).map(({ label }) => label),
    ['Plan pro, 1 of 31 days', 'Plan basic, 16 of 31 days'],
  )
  fixture.clock.advance(31 * dayMs)
  t.deepEqual(await bill('2030-02'), ['basic', 1000, 81, 1081])
  await operator.setOverrides(organizationId, { monthlyFeeRappen: 777 })
  t.deepEqual(await bill('2030-02'), ['basic', 536 + 361, 73, 970], '15 days at 1000, 13 at 777')
  fixture.clock.advance(31 * dayMs)
  t.deepEqual(await bill('2030-03'), ['basic', 777, 63, 840])
  t.deepEqual(await bill('2030-01'), ['pro', 674, 55, 729], 'the past is unchanged')
  await fixture.assertSound(t)
})

test('usage: a period is a past month or the current month', async (t) => {
  const { usage } = await officeOf(t)
  for (const month of ['2030-02', '2030-13', '2030-1', '2030', '', 'now', '2030-01-01'])
    await t.throwsAsync(usage.of(organizationId, month), { code: 'validation_failed' }, month)
  t.is((await usage.of(organizationId, '2029-02')).sends, 0)
  await t.throwsAsync(usage.of('org_2', undefined), { code: 'not_found' })
})
