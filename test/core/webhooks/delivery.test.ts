/** Delivery of webhook events: schedule, signatures, crashes, and redelivery. */
import { createHmac } from 'node:crypto'
import test from '#test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { dueKey } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { Change, encode } from '#store/change.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { webhookFixture } from './webhook-fixture.ts'
import { columns } from '../../support/column.ts'

const minute = 60_000
const hour = 60 * minute

test('an event arrives once, signed by the specification and by Standard Webhooks', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { clock: FakeClock.atMachineTime() }) // The packages use the machine's clock.
  const { secret } = await setup.endpoint(receiver.url)
  await setup.announce(['ada+ü@example.net'])
  const [first] = await receiver.hasReceived(1)
  const { headers, body } = first!
  await setup.reaches('succeeded')
  const { deliveryId, body: stored } = await setup.delivery()
  t.is(body, stored)
  t.is(headers['x-service-signature'], `sha256=${createHmac('sha256', secret).update(Buffer.from(body)).digest('hex')}`)
  t.is(headers['x-service-delivery'], deliveryId)
  t.is(headers['webhook-id'], deliveryId)
  t.is(headers['content-type'], 'application/json')
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const given = headers as Record<string, string>
  for (const webhook of [new StandardWebhook(secret), new SvixWebhook(secret)]) {
    t.notThrows(() => webhook.verify(body, given))
    t.throws(() => webhook.verify(body.replace('ada', 'bob'), given))
    t.throws(() => webhook.verify(body, { ...given, 'webhook-timestamp': String(Number(given['webhook-timestamp']) + 1) }))
  }
  t.like(JSON.parse(body), { type: 'failed', data: { recipient: 'ada+ü@example.net' } })
  t.is(receiver.received.length, 1)
})

test('after a rotation the next attempt has the new signature only', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const setup = await webhookFixture(t, { clock: FakeClock.atMachineTime() })
  const { id, secret } = await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.reaches('failed')
  const { secret: fresh } = await setup.core.webhooks.rotate(principal, id)
  setup.fixture.clock.advance(minute)
  const [, second] = await receiver.hasReceived(2)
  const { headers, body } = second!
  t.not(fresh, secret)
  const given = headers as Record<string, string>
  t.throws(() => new StandardWebhook(secret).verify(body, given))
  t.is(headers['x-service-signature'], `sha256=${createHmac('sha256', fresh).update(body).digest('hex')}`)
  t.not((await setup.fixture.database.get(webhookEndpoints, { organizationId }, id))!.record.sealedSecret, fresh)
})

test('a failing receiver gets retries after 1 m, 5 m, 25 m, 2 h, 12 h, 24 h, with one id', async (t) => {
  const times: number[] = []
  const setup = await webhookFixture(t)
  const { clock } = setup.fixture
  const receiver = await receiverOf(t, {
    answer(response) {
      times.push(clock.now() - startOfTime)
      response.writeHead(503).end(`down for ${times.length}`)
    },
  })
  await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.core.webhookDispatcher.idle()
  const delays = [minute, 5 * minute, 25 * minute, 2 * hour, 12 * hour, 24 * hour]
  for (const [at, delay] of delays.entries()) {
    t.like(await setup.delivery(), { status: 'failed', attemptCount: at + 1, nextAttemptAt: clock.now() + delay })
    await setup.pass(delay - 1)
    t.is(times.length, at + 1, 'not earlier')
    await setup.pass(1)
  }
  const sums = delays.map((_, at) => delays.slice(0, at + 1).reduce((sum, delay) => sum + delay, 0))
  t.deepEqual(times, [0, ...sums])
  t.like(await setup.delivery(), {
    status: 'parked',
    attemptCount: 7,
    lastStatusCode: 503,
    lastError: 'The receiver returned status 503.',
    nextAttemptAt: null,
  })
  await setup.pass(100 * hour)
  t.is(times.length, 7)
  t.is(new Set(receiver.received.map(({ headers, body }) => `${String(headers['x-service-delivery'])} ${body}`)).size, 1)
  const { attempts } = await setup.core.webhookDeliveries.get(principal, (await setup.delivery()).id)
  t.deepEqual(
    columns(attempts, 'number', 'statusCode', 'answer'),
    times.map((_, at) => [at + 1, 503, `down for ${at + 1}`]),
  )
  await setup.assertSound(t)
})

test('redelivery of parked and succeeded events: same id, immediately, with a new schedule', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const setup = await webhookFixture(t)
  await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.core.webhookDispatcher.idle()
  for (const delay of [minute, 5 * minute, 25 * minute, 2 * hour, 12 * hour, 24 * hour]) await setup.pass(delay)
  const parked = await setup.delivery()
  t.is(parked.status, 'parked')
  t.like(await setup.core.webhookDeliveries.redeliver(principal, parked.id), {
    status: 'pending',
    attemptCount: 7,
    deliveryId: parked.deliveryId,
  })
  await setup.core.webhookDispatcher.idle()
  t.like(await setup.delivery(), { status: 'failed', attemptCount: 8, nextAttemptAt: setup.fixture.clock.now() + minute })
  receiver.answer = (response) => response.writeHead(299).end()
  await setup.pass(minute)
  t.like(await setup.delivery(), { status: 'succeeded', attemptCount: 9, lastStatusCode: 299, lastError: null, nextAttemptAt: null })
  await setup.core.webhookDeliveries.redeliver(principal, parked.id)
  await setup.core.webhookDispatcher.idle()
  t.like(await setup.delivery(), { status: 'succeeded', attemptCount: 10 })
  t.is(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 1)
  await setup.assertSound(t)
})

test('redelivery requested during an attempt sends the event again after it', async (t) => {
  const setup = await webhookFixture(t)
  const release = Promise.withResolvers<void>()
  const receiver = await receiverOf(t, {
    answer: (response, _request, nth) => void (nth === 1 ? release.promise : Promise.resolve()).then(() => response.writeHead(200).end()),
  })
  await setup.endpoint(receiver.url)
  await setup.announce()
  await receiver.hasReceived(1)
  setup.fixture.clock.advance(1000)
  await setup.core.webhookDeliveries.redeliver(principal, (await setup.delivery()).id)
  release.resolve()
  await receiver.hasReceived(2)
  await setup.reaches('succeeded')
  t.like(await setup.delivery(), { attemptCount: 2 })
  await setup.assertSound(t)
})

test('a crash during or before an attempt repeats the event with the same delivery id', async (t) => {
  const receiver = await receiverOf(t, { answer: (response, _request, nth) => void (nth > 2 && response.writeHead(200).end()) })
  const first = await webhookFixture(t, { isIdle: true })
  await first.endpoint(receiver.url)
  await first.announce()
  const second = await first.crash()
  await receiver.hasReceived(1)
  const third = await second.crash()
  await receiver.hasReceived(2)
  const fourth = await third.crash()
  await receiver.hasReceived(3)
  await fourth.reaches('succeeded')
  t.like(await fourth.delivery(), { attemptCount: 1 })
  t.is(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 1)
})

test('a wait between two attempts continues in the next process', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const first = await webhookFixture(t)
  await first.endpoint(receiver.url)
  await first.announce()
  await first.reaches('failed')
  first.fixture.clock.advance(40_000)
  const next = await first.crash()
  await next.pass(19_999)
  t.is(receiver.received.length, 1)
  await next.pass(1)
  t.is(receiver.received.length, 2)
})

test('stopping aborts attempts, which are due again immediately and do not count', async (t) => {
  const receiver = await receiverOf(t, { answer: (response, _request, nth) => void (nth > 1 && response.writeHead(200).end()) })
  const setup = await webhookFixture(t)
  await setup.endpoint(receiver.url)
  await setup.announce()
  await receiver.hasReceived(1)
  const stopped = setup.core.webhookDispatcher.stop(5000)
  setup.fixture.clock.advance(5000)
  await stopped
  t.like(await setup.delivery(), { status: 'pending', attemptCount: 0 })
  const next = await setup.crash()
  await receiver.hasReceived(2)
  await next.reaches('succeeded')
  t.like(await next.delivery(), { attemptCount: 1 })
})

test('a deleted endpoint gets no further events, and its deliveries are deleted', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const setup = await webhookFixture(t)
  const { id } = await setup.endpoint(receiver.url)
  const kept = await setup.endpoint(receiver.url, { name: 'Kept' })
  await setup.announce(Array.from({ length: 120 }, (_, n) => `r${n}@example.net`))
  await setup.reaches('failed', 240)
  await setup.core.webhooks.remove(principal, id)
  await setup.core.webhooks.remove(principal, id)
  await setup.fixture.settled()
  t.is((await setup.deliveries()).length, 120, 'they are gone')
  t.true((await setup.deliveries()).every(({ endpointId }) => endpointId === kept.id))
  await setup.core.webhookDispatcher.idle()
  const isHistory = (key: string): boolean => key.includes('audit') || key.includes('insight.') // rows that outlive the endpoint
  t.deepEqual(
    (await setup.fixture.keys(id)).filter((key) => !isHistory(key)),
    [],
  )
  await setup.assertSound(t)
})

test('a deletion interrupted by a crash continues, and concurrent events are dropped', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { isIdle: true })
  const { id } = await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.core.webhooks.remove(principal, id)
  t.is((await setup.deliveries()).length, 1)
  const next = await setup.crash()
  await next.fixture.settled()
  t.is((await next.deliveries()).length, 0, 'it is gone')
  t.is(receiver.connections, 0)
  await next.assertSound(t)
})

test('a public name that later resolves to an internal address is not connected to', async (t) => {
  const inside = await receiverOf(t, { host: '127.0.0.2' })
  const setup = await webhookFixture(t)
  setup.names.set('hooks.test', ['8.8.8.8'])
  await setup.endpoint(`https://hooks.test:${inside.port}/`)
  setup.names.set('hooks.test', ['127.0.0.2', '10.0.0.1'])
  await setup.announce()
  await setup.reaches('failed')
  t.like(await setup.delivery(), { lastStatusCode: null, lastError: 'The host has no address that this service may connect to.' })
  t.is(inside.connections, 0)
})

test('verify finds a delivery without a due row, and a due row at a wrong time', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { isIdle: true })
  await setup.endpoint(receiver.url)
  await setup.announce()
  const { id, endpointId, nextAttemptAt } = await setup.delivery()
  const change = new Change().delete(dueKey(endpointId, nextAttemptAt ?? 0, id))
  await setup.fixture.database.commit(change.set(dueKey(endpointId, 5, id), encode(organizationId)))
  const problems = (await setup.problems()).join('\n')
  t.regex(problems, /its next attempt has no due row/)
  t.regex(problems, new RegExp(`the delivery ${id} is not due at that time`))
})
