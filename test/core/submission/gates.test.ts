/** The gates that follow from the plan of an organization. */
import test from 'ava'
import type { PlanName } from '#config/plans.ts'
import { organizationSendCounter } from '#core/tenancy/counters.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { houseOf, organizationId, projectId, type House } from '../house.ts'
import { startOfTime } from '../fake-clock.ts'

async function onPlan(t: Parameters<typeof houseOf>[0], plan: PlanName): Promise<House> {
  const house = await houseOf(t, { deaf: true })
  await house.put(organizations, { id: organizationId, name: 'Acme', plan, defaultProjectId: projectId, createdAt: startOfTime })
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
    message: 'The 100 sends a day of the plan anonymous are used up; raise the plan, or send again after midnight UTC.',
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

test('a plan whose overage is billed refuses no volume', async (t) => {
  const house = await onPlan(t, 'free')
  t.is(await passed(Array.from({ length: 120 }, () => house.submit())), 120)
})

test('attachments need a plan that has them, by REST', async (t) => {
  const refused = { code: 'quota_exhausted', message: 'The plan basic sends no attachments; link to the files, or raise the plan.' }
  const basic = await onPlan(t, 'basic')
  await t.throwsAsync(basic.submit({ attachments: 1 }), refused)
  t.is((await basic.submit({ attachments: 0 })).outcome, 'captured.no_route')
  t.is((await basic.submit({ attachments: 1, door: 'smtp' })).outcome, 'captured.no_route')
  const pro = await onPlan(t, 'pro')
  t.is((await pro.submit({ attachments: 1 })).outcome, 'captured.no_route')
})
