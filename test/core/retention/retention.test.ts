import test, { type ExecutionContext } from 'ava'
import { captures, inboxes } from '#core/capture/capture.ts'
import { optOuts } from '#core/feedback/suppression/opt-out.ts'
import { routingRules } from '#core/routing/rule.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { storedTracesCounter, storedTracesKey } from '#core/tenancy/counters.ts'
import { type Organization } from '#core/tenancy/organization.ts'
import { engagements, nothingSeen, type Engagement } from '#core/trace/story/engagement.ts'
import { recipientOfVerp } from '#core/trace/return-paths.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { decode } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { houseOf, organizationId, projectId, quiet, principal, secrets, type House } from '../house.ts'
import { T } from '../../../daemon/composition/parts.ts'
import { column } from '../../support/column.ts'

const dayMs = 86_400_000

async function houseWith(t: ExecutionContext, changes: Partial<Organization>): Promise<House> {
  const house = await houseOf(t, { deaf: true })
  await house.organization({ plan: 'basic', ...changes })
  await house.inbox()
  return house
}

async function submitted(house: House, count: number, changes: Parameters<House['submit']>[0] = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push((await house.submit(changes)).traceId)
    house.clock.advance(1000)
  }
  await quiet(house)
  return ids
}

const kept = async ({ database }: House): Promise<string[]> =>
  (await database.list(traces, principal, { index: 'time', limit: 1000, ascending: true })).rows.map(({ record }) => record.id)
const counted = ({ kv }: House): Promise<number> => kv.counter(pack(storedTracesCounter(organizationId)))
test('settled traces go when they are as old as the plan keeps them, with all that belongs to them', async (t) => {
  const house = await houseWith(t, {})
  const large = await submitted(house, 1, { content: `Subject: large\r\n\r\n${'x'.repeat(600_000)}\r\n` })
  const old = await submitted(house, 250)
  house.clock.advance(30 * dayMs - 251_000)
  t.is(await house.part(T.Retention).round(), 0, 'thirty days are not over for any')
  house.clock.advance(1)
  t.is(await house.part(T.Retention).round(), 1)
  t.deepEqual(await kept(house), old)
  house.clock.advance(dayMs)
  const young = await submitted(house, 3)
  t.is(await house.part(T.Retention).round(), 250)
  t.deepEqual(await kept(house), young)
  t.is(await counted(house), 3)
  t.is((await house.database.list(captures, principal, { limit: 1000 })).rows.length, 3)
  for (const id of [...large, ...old]) t.deepEqual(await house.keys(id), [])
  t.deepEqual(await house.problems(), [])
})

test('what is queued stays, however old, and goes once it is settled', async (t) => {
  const house = await houseWith(t, {})
  await house.destination()
  await house.rule({ any: true })
  const [queued = ''] = await submitted(house, 1)
  t.is((await house.trace(queued)).status, 'queued')
  await house.remove(routingRules, 'rul_1')
  await submitted(house, 120)
  house.clock.advance(40 * dayMs)
  t.is(await house.part(T.Retention).round(), 120)
  t.deepEqual(await kept(house), [queued])
  await house.edit(traces, queued, { status: 'failed' })
  t.true(await removeTrace(house.database, organizationId, queued, house.clock.now()))
  t.is(await counted(house), 0)
})

test('return paths, openings and clicks go with their trace', async (t) => {
  const house = await houseWith(t, {})
  await house.destination()
  await house.rule({ any: true })
  const [id = ''] = await submitted(house, 1, { verp: { bounceDomain: null } })
  const { record } = (await house.database.get(traces, principal, id))!
  const returnPath = record.recipients[0]?.verp ?? ''
  t.is((await recipientOfVerp(house.database, secrets, returnPath))?.traceId, id)
  await house.put<Engagement>(engagements, { id, projectId, ...nothingSeen, opens: 1 })
  await house.edit(traces, id, { status: 'failed' })
  t.true(await removeTrace(house.database, organizationId, id, house.clock.now()))
  t.is(await recipientOfVerp(house.database, secrets, returnPath), undefined)
  t.is(await house.database.get(engagements, principal, id), undefined)
})

test('of more traces than the plan stores, the oldest settled ones go', async (t) => {
  const house = await houseWith(t, { overrides: { tracesStored: 40 } })
  const ids = await submitted(house, 150)
  t.is(await house.part(T.Retention).round(), 110)
  t.deepEqual(await kept(house), ids.slice(110))
  t.is(await counted(house), 40)
  t.is(await house.part(T.Retention).round(), 0)
})

test('where the overage is billed, more traces than included are kept as long as somebody answers for the bill', async (t) => {
  const house = await houseWith(t, { plan: 'free', overrides: { tracesStored: 5 }, paymentState: 'manual_ok' })
  await submitted(house, 8)
  t.is(await house.part(T.Retention).round(), 0)
  await house.organization({ paymentState: 'past_due' })
  t.is(await house.part(T.Retention).round(), 3)
})

test('a plan without limits removes nothing', async (t) => {
  const house = await houseWith(t, { plan: 'enterprise' })
  await submitted(house, 3)
  house.clock.advance(4000 * dayMs)
  t.is(await house.part(T.Retention).round(), 0)
})

test('a crash in the middle of a round leaves each trace whole or gone, and the next round goes on', async (t) => {
  let house = await houseWith(t, {})
  const ids = await submitted(house, 230)
  house.clock.advance(31 * dayMs)
  let writes = 0
  const reached = Promise.withResolvers<void>()
  house.kv.beforeWrite = () => {
    if (++writes === 130) reached.resolve()
    return writes >= 130 ? new Promise<void>(() => {}) : undefined
  }
  void house.part(T.Retention).round()
  await reached.promise
  house = await house.crash()
  const left = await kept(house)
  t.is(left.length, 230 - 129)
  t.is(await counted(house), left.length)
  t.deepEqual(await house.problems(), [])
  for (const id of ids.filter((one) => !left.includes(one))) t.deepEqual(await house.keys(id), [])
  t.is(await house.part(T.Retention).round(), left.length)
  t.deepEqual(await kept(house), [])
})

test('a trace that is queued again while it is looked at stays', async (t) => {
  const house = await houseWith(t, {})
  const [id = ''] = await submitted(house, 1)
  const stored = await house.database.get(traces, principal, id)
  let isFirst = true
  house.kv.beforeWrite = async () => {
    if (!isFirst) return
    isFirst = false
    await house.put<Trace>(traces, { ...stored!.record, status: 'queued' })
  }
  t.false(await removeTrace(house.database, organizationId, id, house.clock.now()))
  t.is((await house.trace(id)).status, 'queued')
  t.is(await counted(house), 1)
})

test('inboxes lose the captures and stay', async (t) => {
  const house = await houseWith(t, {})
  await submitted(house, 2)
  house.clock.advance(31 * dayMs)
  await house.part(T.Retention).round()
  t.deepEqual((await house.inboxes.messages(principal, 'inb_1', { limit: 10 })).rows, [])
  t.is((await house.database.all(inboxes, principal)).length, 1)
})

test('an inbox that is listed while its messages go shows those that are left', async (t) => {
  const house = await houseWith(t, {})
  const ids = await submitted(house, 5)
  const { database } = house
  const list = database.list.bind(database)
  let isFirst = true
  database.list = async (kind, reach, page) => {
    const found = await list(kind, reach, page)
    if (isFirst) {
      isFirst = false
      t.true(await removeTrace(database, organizationId, ids[1] ?? '', house.clock.now()))
    }
    return found
  }
  const { rows } = await house.inboxes.messages(principal, 'inb_1', { limit: 10 })
  t.deepEqual(column(rows, 'trace', 'id'), [ids[4], ids[3], ids[2], ids[0]])
})

test('an unsubscribe link works on when its message is gone, for a year', async (t) => {
  const house = await houseWith(t, {})
  await house.destination()
  await house.rule({ any: true })
  const [id = '', other = ''] = [...(await submitted(house, 1, { unsubscribeLink: 'public' })), ...(await submitted(house, 1))]
  for (const one of [id, other]) {
    await house.edit(traces, one, { status: 'sent' })
  }
  const { database, clock, core } = house
  const { unsubscribes } = core
  const tokenOf = (one: string): string => unsubscribes.fieldsFor(one)[0]?.value.slice(1, -1).split('/').at(-1) ?? ''
  house.clock.advance(31 * dayMs)
  t.is(await house.part(T.Retention).round(), 2)
  t.like(await unsubscribes.look(tokenOf(id)), { recipient: 'anna@example.net', sender: 'shop@example.com', isUnsubscribed: false })
  await t.throwsAsync(unsubscribes.look(tokenOf(other)), { code: 'not_found' }, 'its message had no link')
  await unsubscribes.unsubscribe(tokenOf(id))
  t.deepEqual(
    (await database.all(optOuts, principal)).map(({ record }) => [record.email, record.name]),
    [['anna@example.net', 'shop@example.com']],
  )
  house.clock.advance(334 * dayMs)
  await database.sweep(clock.now())
  await t.throwsAsync(unsubscribes.look(tokenOf(id)), { code: 'not_found' })
})

test('rounds begin with the start and come about every hour; a service where nothing happens writes nothing', async (t) => {
  const house = await houseWith(t, { plan: 'enterprise' })
  await submitted(house, 2)
  const retention = house.part(T.Retention)
  retention.start()
  await quiet(house)
  const snapshot = await house.kv.get(pack(storedTracesKey(organizationId, '2030-01-15')))
  t.is(snapshot && decode<number>(snapshot.value), 2)
  let writes = 0
  house.kv.beforeWrite = () => void writes++
  for (let hour = 0; hour < 72; hour++) {
    house.clock.advance(3_600_000)
    await quiet(house)
  }
  t.is(writes, 0)
  t.is(house.clock.pending, 1)
  house.kv.beforeWrite = undefined
  await submitted(house, 1)
  house.clock.advance(dayMs)
  await quiet(house)
  const later = await house.kv.get(pack(storedTracesKey(organizationId, '2030-01-19')))
  t.is(later && decode<number>(later.value), 3)
  await retention.stop()
  t.is(house.clock.pending, 0)
})
