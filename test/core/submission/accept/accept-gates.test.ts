/** Gates that depend on the plan of an organization. */
import test from '#test'
import type { PlanName } from '#config/plans/plans.ts'
import { organizationSendCounter, storedTracesCounter } from '#core/tenancy/counters.ts'
import { type Organization } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../../core-fixture.ts'

async function onPlan(t: Parameters<typeof coreFixture>[0], plan: PlanName, changes: Partial<Organization> = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.organization({ plan, ...changes })
  return fixture
}

const passed = async (sends: readonly Promise<unknown>[]): Promise<number> =>
  (await Promise.allSettled(sends)).filter(({ status }) => status === 'fulfilled').length

test('plan sends: a fixed plan limits sends per day over all projects', async (t) => {
  const fixture = await onPlan(t, 'anonymous')
  await fixture.project({ id: 'prj_2', isDefault: false })
  const send = (i: number) => fixture.submit({ projectId: i % 2 ? 'prj_2' : 'prj_1' })
  t.is(await passed(Array.from({ length: 130 }, (_, i) => send(i))), 100)
  await t.throwsAsync(send(0), {
    code: 'quota_exhausted',
    message: 'The limit of 100 sends per day of the plan anonymous is reached; raise the plan, or send again after midnight UTC.',
  })
  fixture.clock.advance(12 * 3600 * 1000)
  t.is((await send(0)).outcome, 'captured.no_route')
})

test('plan sends: a refusal uses no project budget, and the reverse', async (t) => {
  const fixture = await onPlan(t, 'anonymous')
  await fixture.project({ sendBudget: 3 })
  const key = organizationSendCounter(organizationId, '2030-01-15')
  t.is(await passed(Array.from({ length: 10 }, () => fixture.submit())), 3)
  t.is(await fixture.kv.counter(pack(key)), 3)
  await fixture.database.commit(new Change().add(key, 97))
  await fixture.project({ sendBudget: 50 })
  await t.throwsAsync(fixture.submit(), { code: 'quota_exhausted' })
  t.is(await fixture.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 3)
})

const sendsOf = (fixture: CoreFixture) => fixture.kv.counter(pack(organizationSendCounter(organizationId, '2030-01-15')))

test('plan free: counts volume without refusing it while the bill is paid', async (t) => {
  const fixture = await onPlan(t, 'free', { paymentState: 'manual_ok' })
  t.is(await passed(Array.from({ length: 120 }, () => fixture.submit())), 120)
  t.is(await sendsOf(fixture), 120)
})

for (const paymentState of [undefined, 'none', 'past_due'] as const) {
  test(`plan free: payment state ${paymentState} allows its daily sends; refusals do not count`, async (t) => {
    const fixture = await onPlan(t, 'free', { paymentState })
    t.is(await passed(Array.from({ length: 300 }, () => fixture.submit())), 100)
    await t.throwsAsync(fixture.submit(), { code: 'quota_exceeded' })
    t.is(await sendsOf(fixture), 100)
    t.is(await fixture.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 100)
    t.is(await fixture.kv.counter(pack(storedTracesCounter(organizationId))), 100)
    fixture.clock.advance(12 * 3600 * 1000 - 1)
    await t.throwsAsync(fixture.submit(), { code: 'quota_exceeded' }, 'one millisecond before midnight')
    fixture.clock.advance(1)
    t.is((await fixture.submit()).outcome, 'captured.no_route')
  })
}

test('gates: concurrent sends never exceed day, budget or month', async (t) => {
  const day = await onPlan(t, 'basic', { overrides: { sendsPerDay: 20 } })
  t.is(await passed(Array.from({ length: 60 }, () => day.submit())), 20)
  const budget = await onPlan(t, 'enterprise')
  await budget.project({ sendBudget: 20 })
  t.is(await passed(Array.from({ length: 60 }, () => budget.submit())), 20)
  const month = await onPlan(t, 'free', { paymentState: 'manual_ok', overrides: { capturesPerMonth: 20 } })
  t.is(await passed(Array.from({ length: 60 }, () => month.submit())), 20)
  t.is(await sendsOf(month), 20)
  await t.throwsAsync(month.submit(), { code: 'quota_exhausted_captures' })
})

test("captures: reset monthly; a project limit can be lower than the plan's", async (t) => {
  const fixture = await onPlan(t, 'free', { paymentState: 'manual_ok', overrides: { capturesPerMonth: 3 } })
  await fixture.project({ monthlyCaptureCap: 2 })
  t.is(await passed(Array.from({ length: 6 }, () => fixture.submit())), 2)
  await fixture.project({ monthlyCaptureCap: 9 })
  t.is(await passed(Array.from({ length: 6 }, () => fixture.submit())), 1)
  fixture.clock.advance((16 * 24 + 12) * 3_600_000 - 1)
  await t.throwsAsync(fixture.submit(), { code: 'quota_exhausted_captures' }, 'one millisecond before February')
  fixture.clock.advance(1)
  t.is(await passed(Array.from({ length: 6 }, () => fixture.submit())), 3)
})

test("override: replaces the plan's limit; -1 removes it", async (t) => {
  const more = await onPlan(t, 'anonymous', { overrides: { sendsPerDay: -1 } })
  t.is(await passed(Array.from({ length: 150 }, () => more.submit())), 150)
  const attachments = await onPlan(t, 'basic', { overrides: { attachments: true } })
  t.is((await attachments.submit({ attachments: 1 })).outcome, 'captured.no_route')
})

test('flag smtp_relay: closes SMTP and leaves REST open', async (t) => {
  const fixture = await onPlan(t, 'pro', { flags: { smtp_relay: false } })
  await t.throwsAsync(fixture.submit({ door: 'smtp' }), { code: 'feature_disabled' })
  t.is((await fixture.submit()).outcome, 'captured.no_route')
})

test('attachments: require a plan with attachments, over REST and SMTP', async (t) => {
  const refused = {
    code: 'feature_disabled',
    message: 'The plan basic sends no attachments; link to the files, or raise the plan to pro or enterprise.',
  }
  const basic = await onPlan(t, 'basic')
  await t.throwsAsync(basic.submit({ attachments: 1 }), refused)
  t.is((await basic.submit({ attachments: 0 })).outcome, 'captured.no_route')
  await t.throwsAsync(basic.submit({ attachments: 1, door: 'smtp' }), refused)
  const pro = await onPlan(t, 'pro')
  t.is((await pro.submit({ attachments: 1 })).outcome, 'captured.no_route')
})
