/** Paused endpoints: nothing is attempted, events wait, and no loop polls them. Real receivers on loopback. */
import test from '#test'
import { sweepDeliveries } from '#core/webhooks/sending/cleanup.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { webhookFixture, type WebhookFixture } from './webhook-fixture.ts'
import { columns } from '../../support/column.ts'

const minute = 60_000
const day = 86_400_000

const pause = ({ core }: WebhookFixture, id: string, paused = true) => core.webhooks.update(principal, id, { paused })

test('events of a paused endpoint are pending, and leave in order after resuming', async (t) => {
  const setup = await webhookFixture(t)
  const receiver = await receiverOf(t)
  const { id } = await setup.endpoint(receiver.url)
  const { pausedAt } = await pause(setup, id)
  t.is(pausedAt, setup.fixture.clock.now())
  setup.fixture.clock.advance(minute)
  t.is((await pause(setup, id)).pausedAt, pausedAt, 'repeating it changes nothing')
  for (const name of ['a', 'b', 'c']) {
    await setup.announce([`${name}@example.net`])
    await setup.pass(minute)
  }
  t.is(receiver.received.length, 0)
  const { rows } = await setup.core.webhookDeliveries.list(principal, { limit: 10 })
  t.deepEqual(
    columns(rows, 'status', 'attemptCount', 'paused'),
    Array.from({ length: 3 }, () => ['pending', 0, true]),
  )
  await setup.assertSound(t)
  t.is((await pause(setup, id, false)).pausedAt, undefined)
  await receiver.hasReceived(3)
  await setup.reaches('succeeded', 3)
  t.deepEqual(receiver.received.map(({ body }) => (JSON.parse(body) as { data: { recipient: string } }).data.recipient).toSorted(), [
    'a@example.net',
    'b@example.net',
    'c@example.net',
  ])
})

test('failures from before the pause are retried after it, on schedule', async (t) => {
  const setup = await webhookFixture(t)
  const receiver = await receiverOf(t, { answer: (response) => void response.writeHead(500).end() })
  const { id } = await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.reaches('failed')
  await pause(setup, id)
  await setup.pass(10 * minute)
  t.is(receiver.received.length, 1)
  t.like(await setup.delivery(), { status: 'failed', attemptCount: 1 })
  await pause(setup, id, false)
  await receiver.hasReceived(2)
  await setup.core.webhookDispatcher.idle()
  t.like(await setup.delivery(), { status: 'failed', attemptCount: 2 })
  t.is((await setup.delivery()).nextAttemptAt, setup.fixture.clock.now() + 5 * minute)
})

test('a pause survives a restart, other endpoints continue, and a test is sent', async (t) => {
  const first = await webhookFixture(t)
  const [paused, other] = [await receiverOf(t), await receiverOf(t)]
  const { id } = await first.endpoint(paused.url, { paused: true })
  await first.endpoint(other.url)
  await first.announce()
  await other.hasReceived(1)
  const setup = await first.crash()
  await setup.announce()
  await other.hasReceived(2)
  await setup.core.webhookDispatcher.idle()
  t.is(paused.received.length, 0)
  const result = await setup.core.webhookTests.run(principal, id, 'bounced', new AbortController().signal)
  t.like(result, { statusCode: 204, error: null })
  t.is(paused.received.length, 1)
  await pause(setup, id, false)
  await paused.hasReceived(3)
  await setup.reaches('succeeded', 4)
})

test('events from before a restart leave in order after resuming', async (t) => {
  const first = await webhookFixture(t)
  const receiver = await receiverOf(t, { answer: () => undefined }) // never answers, so the attempts in progress are the first ones
  const { id } = await first.endpoint(receiver.url, { paused: true })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await first.announce([`${name}@example.net`])
    await first.pass(1)
  }
  const setup = await first.crash()
  await setup.core.webhookDispatcher.idle()
  await pause(setup, id, false)
  await receiver.hasReceived(2)
  const told = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { recipient: string } }).data.recipient)
  t.deepEqual(told.toSorted(), ['a@example.net', 'b@example.net'])
})

test('a paused endpoint causes no reads and no attempts, with any number of events', async (t) => {
  const setup = await webhookFixture(t)
  const receiver = await receiverOf(t)
  const { id } = await setup.endpoint(receiver.url, { paused: true })
  await setup.announce(Array.from({ length: 300 }, (_, n) => `r${n}@example.net`))
  await setup.core.webhookDispatcher.idle()
  const { kv } = setup.fixture
  let reads = 0
  const { range, get } = kv
  kv.range = (options) => (reads++, range.call(kv, options))
  kv.get = (key) => (reads++, get.call(kv, key))
  for (let n = 0; n < 100; n++) {
    setup.fixture.clock.advance(minute)
    await setup.fixture.settled()
  }
  t.is(reads, 0)
  Object.assign(kv, { range, get })
  await pause(setup, id, false)
  await setup.reaches('succeeded', 300)
  t.is(receiver.received.length, 300)
})

test('repeated pausing and resuming during events loses none of them', async (t) => {
  const setup = await webhookFixture(t)
  const receiver = await receiverOf(t)
  const { id } = await setup.endpoint(receiver.url)
  for (let n = 0; n < 20; n++) {
    const announced = setup.announce([`r${n}@example.net`])
    await pause(setup, id)
    await announced
    await pause(setup, id, false)
  }
  await setup.reaches('succeeded', 20)
  t.is(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 20)
})

test('redelivery during a pause waits; deleting the endpoint deletes waiting events', async (t) => {
  const setup = await webhookFixture(t)
  const receiver = await receiverOf(t)
  const { id } = await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.reaches('succeeded')
  await pause(setup, id)
  const { id: delivery } = await setup.delivery()
  t.like(await setup.core.webhookDeliveries.redeliver(principal, delivery), { status: 'pending', paused: true })
  await setup.core.webhookDispatcher.idle()
  t.is(receiver.received.length, 1)
  await setup.core.webhooks.remove(principal, id)
  await setup.core.webhookDispatcher.idle()
  t.deepEqual(await setup.deliveries(), [])
  await setup.assertSound(t)
})

test('events of a paused endpoint have the same retention as others', async (t) => {
  const setup = await webhookFixture(t)
  const { id } = await setup.endpoint('https://hooks.example.net/', { paused: true })
  await setup.announce()
  const { database, clock } = setup.fixture
  const sweep = () => sweepDeliveries({ database, stopping: () => false }, organizationId, { nowMs: clock.now() })
  await setup.pass(30 * day)
  await sweep()
  t.is((await setup.deliveries()).length, 1)
  await setup.pass(1000)
  await sweep()
  t.is((await setup.deliveries()).length, 0)
  await pause(setup, id, false)
  await setup.core.webhookDispatcher.idle()
  await setup.assertSound(t)
})
