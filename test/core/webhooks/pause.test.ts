/** Endpoints that are paused: nothing is attempted, events wait, and nobody spins over them. Real receivers on loopback. */
import test from 'ava'
import { sweepDeliveries } from '#core/webhooks/sending/cleanup.ts'
import { organizationId, quiet, principal } from '../house.ts'
import { receiverOf, webhookRig, type WebhookRig } from './rig.ts'
import { columns } from '../../support/column.ts'

const minute = 60_000
const day = 86_400_000

const pause = ({ core }: WebhookRig, id: string, paused = true) => core.webhooks.update(principal, id, { paused })

test('events of a paused endpoint wait as pending, and go in order when it is resumed', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await receiverOf(t)
  const { id } = await rig.endpoint(receiver.url)
  const { pausedAt } = await pause(rig, id)
  t.is(pausedAt, rig.house.clock.now())
  rig.house.clock.advance(minute)
  t.is((await pause(rig, id)).pausedAt, pausedAt, 'twice is the same as once')
  for (const name of ['a', 'b', 'c']) {
    await rig.announce([`${name}@example.net`])
    await rig.pass(minute)
  }
  t.is(receiver.received.length, 0)
  const { rows } = await rig.core.webhookDeliveries.list(principal, { limit: 10 })
  t.deepEqual(
    columns(rows, 'status', 'attemptCount', 'paused'),
    Array.from({ length: 3 }, () => ['pending', 0, true]),
  )
  t.deepEqual(await rig.problems(), [])
  t.is((await pause(rig, id, false)).pausedAt, undefined)
  await receiver.hasReceived(3)
  await rig.reaches('succeeded', 3)
  t.deepEqual(receiver.received.map(({ body }) => (JSON.parse(body) as { data: { recipient: string } }).data.recipient).toSorted(), [
    'a@example.net',
    'b@example.net',
    'c@example.net',
  ])
})

test('what failed before the pause is tried again after it, on its schedule', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await receiverOf(t, { answer: (response) => void response.writeHead(500).end() })
  const { id } = await rig.endpoint(receiver.url)
  await rig.announce()
  await rig.reaches('failed')
  await pause(rig, id)
  await rig.pass(10 * minute)
  t.is(receiver.received.length, 1)
  t.like(await rig.delivery(), { status: 'failed', attemptCount: 1 })
  await pause(rig, id, false)
  await receiver.hasReceived(2)
  await rig.core.webhookDispatcher.idle()
  t.like(await rig.delivery(), { status: 'failed', attemptCount: 2 })
  t.is((await rig.delivery()).nextAttemptAt, rig.house.clock.now() + 5 * minute)
})

test('a paused endpoint is still paused for the next process, other endpoints go on, and a test is sent', async (t) => {
  const first = await webhookRig(t)
  const [paused, other] = [await receiverOf(t), await receiverOf(t)]
  const { id } = await first.endpoint(paused.url, { paused: true })
  await first.endpoint(other.url)
  await first.announce()
  await other.hasReceived(1)
  const rig = await first.crash()
  await rig.announce()
  await other.hasReceived(2)
  await rig.core.webhookDispatcher.idle()
  t.is(paused.received.length, 0)
  const result = await rig.core.webhookTests.run(principal, id, 'bounced', new AbortController().signal)
  t.like(result, { statusCode: 204, error: null })
  t.is(paused.received.length, 1)
  await pause(rig, id, false)
  await paused.hasReceived(3)
  await rig.reaches('succeeded', 4)
})

test('what waited since an earlier process goes in order too when the endpoint is resumed', async (t) => {
  const first = await webhookRig(t)
  const receiver = await receiverOf(t, { answer: () => undefined }) // answers nothing, so that those under way are the first
  const { id } = await first.endpoint(receiver.url, { paused: true })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await first.announce([`${name}@example.net`])
    await first.pass(1)
  }
  const rig = await first.crash()
  await rig.core.webhookDispatcher.idle()
  await pause(rig, id, false)
  await receiver.hasReceived(2)
  const told = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { recipient: string } }).data.recipient)
  t.deepEqual(told.toSorted(), ['a@example.net', 'b@example.net'])
})

test('nobody reads or attempts anything for a paused endpoint, however many events and however long it is', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await receiverOf(t)
  const { id } = await rig.endpoint(receiver.url, { paused: true })
  await rig.announce(Array.from({ length: 300 }, (_, n) => `r${n}@example.net`))
  await rig.core.webhookDispatcher.idle()
  const { kv } = rig.house
  let reads = 0
  const { range, get } = kv
  kv.range = (options) => (reads++, range.call(kv, options))
  kv.get = (key) => (reads++, get.call(kv, key))
  for (let n = 0; n < 100; n++) {
    rig.house.clock.advance(minute)
    await quiet(rig.house)
  }
  t.is(reads, 0)
  Object.assign(kv, { range, get })
  await pause(rig, id, false)
  await rig.reaches('succeeded', 300)
  t.is(receiver.received.length, 300)
})

test('an endpoint that is paused and resumed again and again while events come loses none of them', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await receiverOf(t)
  const { id } = await rig.endpoint(receiver.url)
  for (let n = 0; n < 20; n++) {
    const announced = rig.announce([`r${n}@example.net`])
    await pause(rig, id)
    await announced
    await pause(rig, id, false)
  }
  await rig.reaches('succeeded', 20)
  t.is(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 20)
})

test('asking for a delivery again while paused keeps it for later; deleting the endpoint removes what waits', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await receiverOf(t)
  const { id } = await rig.endpoint(receiver.url)
  await rig.announce()
  await rig.reaches('succeeded')
  await pause(rig, id)
  const { id: delivery } = await rig.delivery()
  t.like(await rig.core.webhookDeliveries.redeliver(principal, delivery), { status: 'pending', paused: true })
  await rig.core.webhookDispatcher.idle()
  t.is(receiver.received.length, 1)
  await rig.core.webhooks.remove(principal, id)
  await rig.core.webhookDispatcher.idle()
  t.deepEqual(await rig.deliveries(), [])
  t.deepEqual(await rig.problems(), [])
})

test('what waits for a paused endpoint is kept as long as every other delivery', async (t) => {
  const rig = await webhookRig(t)
  const { id } = await rig.endpoint('https://hooks.example.net/', { paused: true })
  await rig.announce()
  const { database, clock } = rig.house
  const sweep = () => sweepDeliveries({ database, stopping: () => false }, organizationId, { nowMs: clock.now() })
  await rig.pass(30 * day)
  await sweep()
  t.is((await rig.deliveries()).length, 1)
  await rig.pass(1000)
  await sweep()
  t.is((await rig.deliveries()).length, 0)
  await pause(rig, id, false)
  await rig.core.webhookDispatcher.idle()
  t.deepEqual(await rig.problems(), [])
})
