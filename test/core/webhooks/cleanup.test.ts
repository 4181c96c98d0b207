/** Retention of deliveries, and deletion with projects and organizations. */
import test from '#test'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { officeOf } from '../administration/full-projects.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { take } from '../scripted-transport.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { webhookFixture } from './webhook-fixture.ts'
import { column, columns } from '../../support/column.ts'

const day = 86_400_000

test('succeeded deliveries are deleted after 7 days, others after 30; a repeat starts again', async (t) => {
  const receiver = await receiverOf(t, { answer: (response, _request, nth) => response.writeHead(nth > 130 ? 500 : 200).end() })
  const setup = await webhookFixture(t)
  const retention = setup.fixture.part('retention')
  await setup.endpoint(receiver.url)
  await setup.announce(Array.from({ length: 130 }, (_, n) => `r${n}@example.net`))
  await setup.core.webhookDispatcher.idle()
  await setup.announce(['failing@example.net'])
  await setup.core.webhookDispatcher.idle()
  for (let hours = 0; hours < 45; hours++) await setup.pass(3_600_000)
  t.deepEqual([...new Set((await setup.deliveries()).map(({ status }) => status))].toSorted(), ['parked', 'succeeded'])
  await setup.pass(7 * day - 46 * 3_600_000)
  await retention.round()
  t.is((await setup.deliveries()).length, 131)
  const [first] = await setup.deliveries()
  await setup.core.webhookDeliveries.redeliver(principal, first!.id)
  receiver.answer = (response) => response.writeHead(200).end()
  await setup.core.webhookDispatcher.idle()
  await setup.pass(2 * 3_600_000)
  await retention.round()
  t.deepEqual(column(await setup.deliveries(), 'status'), ['succeeded', 'parked'])
  await setup.pass(31 * day)
  await retention.round()
  t.is((await setup.deliveries()).length, 0)
  t.deepEqual(await setup.fixture.keys('webhook.'), [])
  t.deepEqual(await setup.fixture.keys('wha_'), [])
})

test('a plan that keeps traces for 7 days keeps no delivery longer', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const setup = await webhookFixture(t)
  await setup.endpoint(receiver.url)
  await setup.fixture.organization({ plan: 'free' })
  await setup.announce()
  await setup.core.webhookDispatcher.idle()
  for (let hours = 0; hours < 45; hours++) await setup.pass(3_600_000)
  await setup.pass(7 * day)
  await setup.fixture.part('retention').round()
  t.is((await setup.deliveries()).length, 0)
})

test('deleting a trace does not stop its event in delivery', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  await fixture.destination()
  await fixture.rule({ domain: 'example.com' })
  await setup.endpoint(receiver.url)
  fixture.transport.script = (call) => take(call, 'permanent')
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'the message is given up')
  t.true(await removeTrace(fixture.database, organizationId, traceId, fixture.clock.now()))
  await setup.core.webhookDispatcher.start()
  await setup.reaches('succeeded')
  t.like(JSON.parse(receiver.received[0]?.body ?? ''), { data: { trace_id: traceId } })
  await setup.assertSound(t)
})

test('deleting a project deletes its endpoints and events, and ends sending', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const setup = await webhookFixture(t)
  const { fixture, core } = setup
  const office = officeOf(fixture)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const own = await setup.endpoint(receiver.url, { projectId: 'prj_2' })
  const moved = await setup.endpoint(receiver.url, { projectId: 'prj_2' })
  const kept = await setup.endpoint(receiver.url)
  await setup.announce(['a@example.net'], { project: 'prj_2' })
  await setup.announce(['a@example.net'])
  await core.webhookDispatcher.idle()
  await core.webhooks.update(principal, moved.id, { projectId: 'prj_1' })
  t.is(receiver.received.length, 3)
  await office.projects.remove(principal, 'prj_2', { discardQueued: false })
  await setup.pass(60_000)
  t.is(receiver.received.length, 4, 'only the event of the remaining project')
  await office.removals.idle()
  t.deepEqual(columns(await setup.deliveries(), 'endpointId', 'projectId'), [[kept.id, 'prj_1']])
  const left = (await fixture.database.all(webhookEndpoints, { organizationId })).map(({ record }) => record.id)
  t.deepEqual(left.toSorted(), [kept.id, moved.id].toSorted())
  t.deepEqual(
    (await fixture.keys(own.id)).filter((key) => !key.includes('audit')),
    [],
  )
  await setup.assertSound(t)
  await office.removals.stop()
})

test('a deleted organization gets no events, and due ones name the reason', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  await setup.endpoint(receiver.url)
  await setup.announce()
  await fixture.organization({ deletedAt: fixture.clock.now() })
  await setup.core.webhookDispatcher.start()
  await setup.reaches('failed')
  t.like(await setup.delivery(), { lastError: 'The organization is deleted.' })
  t.is(receiver.connections, 0)
})
