/** What goes, and when: old deliveries, and everything of deleted projects and organizations. */
import test from 'ava'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { officeOf } from '../administration/office.ts'
import { organizationId, quiet, principal, until } from '../house.ts'
import { take } from '../scripted-transport.ts'
import { receiverOf, webhookRig } from './rig.ts'
import { T } from '../../../daemon/composition/parts.ts'
import { column, columns } from '../../support/column.ts'

const day = 86_400_000

test('what succeeded goes after 7 days, what did not after 30, and what was asked for again counts from then', async (t) => {
  const receiver = await receiverOf(t, { answer: (response, _request, nth) => response.writeHead(nth > 130 ? 500 : 200).end() })
  const rig = await webhookRig(t)
  const retention = rig.house.part(T.Retention)
  await rig.endpoint(receiver.url)
  await rig.announce(Array.from({ length: 130 }, (_, n) => `r${n}@example.net`))
  await rig.core.webhookDispatcher.idle()
  await rig.announce(['failing@example.net'])
  await rig.core.webhookDispatcher.idle()
  for (let hours = 0; hours < 45; hours++) await rig.pass(3_600_000)
  t.deepEqual([...new Set((await rig.deliveries()).map(({ status }) => status))].toSorted(), ['parked', 'succeeded'])
  await rig.pass(7 * day - 46 * 3_600_000)
  await retention.round()
  t.is((await rig.deliveries()).length, 131)
  const [first] = await rig.deliveries()
  await rig.core.webhookDeliveries.redeliver(principal, first!.id)
  receiver.answer = (response) => response.writeHead(200).end()
  await rig.core.webhookDispatcher.idle()
  await rig.pass(2 * 3_600_000)
  await retention.round()
  t.deepEqual(column(await rig.deliveries(), 'status'), ['succeeded', 'parked'])
  await rig.pass(31 * day)
  await retention.round()
  t.is((await rig.deliveries()).length, 0)
  t.deepEqual(await rig.house.keys('webhook.'), [])
  t.deepEqual(await rig.house.keys('wha_'), [])
})

test('a plan that keeps traces for 7 days keeps no delivery longer', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const rig = await webhookRig(t)
  await rig.endpoint(receiver.url)
  await rig.house.organization({ plan: 'free' })
  await rig.announce()
  await rig.core.webhookDispatcher.idle()
  for (let hours = 0; hours < 45; hours++) await rig.pass(3_600_000)
  await rig.pass(7 * day)
  await rig.house.part(T.Retention).round()
  t.is((await rig.deliveries()).length, 0)
})

test('a trace that goes leaves the event of it on its way', async (t) => {
  const receiver = await receiverOf(t)
  const rig = await webhookRig(t, { isIdle: true })
  const { house } = rig
  await house.destination()
  await house.rule({ domain: 'example.com' })
  await rig.endpoint(receiver.url)
  house.transport.script = (call) => take(call, 'permanent')
  const { traceId } = await house.submit()
  await until('it is given up', async () => (await house.trace(traceId)).status === 'failed')
  await quiet(house)
  t.true(await removeTrace(house.database, organizationId, traceId, house.clock.now()))
  await rig.core.webhookDispatcher.start()
  await rig.reaches('succeeded')
  t.like(JSON.parse(receiver.received[0]?.body ?? ''), { data: { trace_id: traceId } })
  t.deepEqual(await rig.problems(), [])
})

test('a deleted project takes its endpoints and events with it, and nothing more is sent', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const rig = await webhookRig(t)
  const { house, core } = rig
  const office = officeOf(house)
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const own = await rig.endpoint(receiver.url, { projectId: 'prj_2' })
  const moved = await rig.endpoint(receiver.url, { projectId: 'prj_2' })
  const kept = await rig.endpoint(receiver.url)
  await rig.announce(['a@example.net'], { project: 'prj_2' })
  await rig.announce(['a@example.net'])
  await core.webhookDispatcher.idle()
  await core.webhooks.update(principal, moved.id, { projectId: 'prj_1' })
  t.is(receiver.received.length, 3)
  await office.projects.remove(principal, 'prj_2', { discardQueued: false })
  await rig.pass(60_000)
  t.is(receiver.received.length, 4, 'only that of the project that is left')
  await office.removals.idle()
  t.deepEqual(columns(await rig.deliveries(), 'endpointId', 'projectId'), [[kept.id, 'prj_1']])
  const left = (await house.database.all(webhookEndpoints, { organizationId })).map(({ record }) => record.id)
  t.deepEqual(left.toSorted(), [kept.id, moved.id].toSorted())
  t.deepEqual(
    (await house.keys(own.id)).filter((key) => !key.includes('audit')),
    [],
  )
  t.deepEqual(await rig.problems(), [])
  await office.removals.stop()
})

test('a deleted organization is sent nothing, and what is due says why', async (t) => {
  const receiver = await receiverOf(t)
  const rig = await webhookRig(t, { isIdle: true })
  const { house } = rig
  await rig.endpoint(receiver.url)
  await rig.announce()
  await house.organization({ deletedAt: house.clock.now() })
  await rig.core.webhookDispatcher.start()
  await rig.reaches('failed')
  t.like(await rig.delivery(), { lastError: 'The organization is deleted.' })
  t.is(receiver.connections, 0)
})
