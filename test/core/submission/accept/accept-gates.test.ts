/** The gates that follow from the plan of an organization. */
import test from 'ava'
import type { PlanName } from '#config/plans/plans.ts'
import { organizationSendCounter, storedTracesCounter } from '#core/tenancy/counters.ts'
import { type Organization } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { houseOf, organizationId, projectId, type House } from '../../house.ts'

async function onPlan(t: Parameters<typeof houseOf>[0], plan: PlanName, changes: Partial<Organization> = {}): Promise<House> {
  const house = await houseOf(t, { deaf: true })
  await house.organization({ plan, ...changes })
  return house
}

const passed = async (sends: readonly Promise<unknown>[]): Promise<number> =>
  (await Promise.allSettled(sends)).filter(({ status }) => status === 'fulfilled').length

test('a fixed plan takes exactly its sends of a day, over all projects, and begins anew at midnight', async (t) => {
  const house = await onPlan(t, 'anonymous')
  await house.project({ id: 'prj_2', isDefault: false })
  const send = (i: number) => house.submit({ projectId: i % 2 ? 'prj_2' : 'prj_1' })
  t.is(await passed(Array.from({ length: 130 }, (_, i) => send(i))), 100)
  await t.throwsAsync(send(0), {
    code: 'quota_exhausted',
    message: 'The limit of 100 sends per day of the plan anonymous is reached; raise the plan, or send again after midnight UTC.',
  })
  house.clock.advance(12 * 3600 * 1000)
  t.is((await send(0)).outcome, 'captured.no_route')
})

test('a send that the plan refuses spends no budget of its project, and the other way round', async (t) => {
  const house = await onPlan(t, 'anonymous')
  await house.project({ sendBudget: 3 })
  const key = organizationSendCounter(organizationId, '2030-01-15')
  t.is(await passed(Array.from({ length: 10 }, () => house.submit())), 3)
  t.is(await house.kv.counter(pack(key)), 3)
  await house.database.commit(new Change().add(key, 97))
  await house.project({ sendBudget: 50 })
  await t.throwsAsync(house.submit(), { code: 'quota_exhausted' })
  t.is(await house.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 3)
})

const sendsOf = (house: House) => house.kv.counter(pack(organizationSendCounter(organizationId, '2030-01-15')))

test('plan free refuses no volume while somebody answers for the bill, and counts all of it', async (t) => {
  const house = await onPlan(t, 'free', { paymentState: 'manual_ok' })
  t.is(await passed(Array.from({ length: 120 }, () => house.submit())), 120)
  t.is(await sendsOf(house), 120)
})

for (const paymentState of [undefined, 'none', 'past_due'] as const) {
  test(`plan free with the payment state ${paymentState} takes exactly its sends, and what it refuses consumes nothing`, async (t) => {
    const house = await onPlan(t, 'free', { paymentState })
    t.is(await passed(Array.from({ length: 300 }, () => house.submit())), 100)
    await t.throwsAsync(house.submit(), { code: 'quota_exceeded' })
    t.is(await sendsOf(house), 100)
    t.is(await house.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 100)
    t.is(await house.kv.counter(pack(storedTracesCounter(organizationId))), 100)
    house.clock.advance(12 * 3600 * 1000 - 1)
    await t.throwsAsync(house.submit(), { code: 'quota_exceeded' }, 'one millisecond before midnight')
    house.clock.advance(1)
    t.is((await house.submit()).outcome, 'captured.no_route')
  })
}

test('of three times as many sends at the same time, exactly as many pass as the day, the budget or the month allow', async (t) => {
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

test('the captures of a month begin anew with the month, and a project can have fewer than its plan but not more', async (t) => {
  const house = await onPlan(t, 'free', { paymentState: 'manual_ok', overrides: { capturesPerMonth: 3 } })
  await house.project({ monthlyCaptureCap: 2 })
  t.is(await passed(Array.from({ length: 6 }, () => house.submit())), 2)
  await house.project({ monthlyCaptureCap: 9 })
  t.is(await passed(Array.from({ length: 6 }, () => house.submit())), 1)
  house.clock.advance((16 * 24 + 12) * 3_600_000 - 1)
  await t.throwsAsync(house.submit(), { code: 'quota_exhausted_captures' }, 'one millisecond before February')
  house.clock.advance(1)
  t.is(await passed(Array.from({ length: 6 }, () => house.submit())), 3)
})

test('an override takes the place of the limit of the plan, and -1 is none', async (t) => {
  const more = await onPlan(t, 'anonymous', { overrides: { sendsPerDay: -1 } })
  t.is(await passed(Array.from({ length: 150 }, () => more.submit())), 150)
  const attachments = await onPlan(t, 'basic', { overrides: { attachments: true } })
  t.is((await attachments.submit({ attachments: 1 })).outcome, 'captured.no_route')
})

test('a flag that is off closes SMTP, and leaves REST open', async (t) => {
  const house = await onPlan(t, 'pro', { flags: { smtp_relay: false } })
  await t.throwsAsync(house.submit({ door: 'smtp' }), { code: 'feature_disabled' })
  t.is((await house.submit()).outcome, 'captured.no_route')
})

test('attachments need a plan that has them, by REST and by SMTP', async (t) => {
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
