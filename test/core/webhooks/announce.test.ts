/** Webhook events become deliveries in the write that causes them, or not at all. */
import test from '#test'
import { webhookEventShape } from '#core/webhooks/events/event-body.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { projectId } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { webhookFixture } from './webhook-fixture.ts'

const elsewhere = 'https://hooks.example.ch/'

test('each failed recipient has its own event, with the reply as reason', async (t) => {
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  await fixture.destination()
  await fixture.rule({ domain: 'example.com' })
  await setup.endpoint(elsewhere)
  fixture.transport.script = (call) =>
    take(call, { 'anna@example.net': 'permanent', 'bert@example.net': 'accepted', 'cleo@example.net': 'permanent' })
  const { traceId } = await fixture.submit({ rcptTo: ['anna@example.net', 'bert@example.net', 'cleo@example.net'] })
  await fixture.settled()
  t.not((await fixture.trace(traceId)).status, 'queued')
  const deliveries = await setup.deliveries()
  const bodies = deliveries.map(({ body }) => webhookEventShape.strict().parse(JSON.parse(body)))
  t.deepEqual(bodies.map(({ data }) => data.recipient).toSorted(), ['anna@example.net', 'cleo@example.net'])
  t.is(new Set(bodies.map(({ id }) => id)).size, 2)
  t.like(bodies[0], {
    type: 'failed',
    data: {
      trace_id: traceId,
      project_id: projectId,
      message_id: 'm@example.com',
      destination_id: 'dst_1',
      status: 'failed',
      reason: 'The last reply was 550 no such user',
      reply: { code: 550, enhanced: '5.1.1', text: 'no such user' },
      bounce: { class: 'hard', category: 'recipient_unknown', status: '5.1.1', smtp_code: 550, diagnostic: '550 5.1.1 no such user' },
    },
  })
  t.like(deliveries[0], { status: 'pending', attemptCount: 0, projectId, traceId })
  await setup.assertSound(t)
})

test('a retried message is announced when given up, with a reason also without a reply', async (t) => {
  const clock = new FakeClock()
  const setup = await webhookFixture(t, { isIdle: true, clock, retry: { delaysMs: [60_000], maxAgeMs: 90_000 } })
  const { fixture } = setup
  await fixture.destination()
  await fixture.rule({ domain: 'example.com' })
  await setup.endpoint(elsewhere)
  fixture.transport.script = (call) => report(call, 'transient', 'connect_timeout')
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await setup.deliveries()).length, 0, 'it is still retried')
  clock.advance(60_000)
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'the message is given up')
  const { body } = await setup.delivery()
  t.like(JSON.parse(body), { data: { reason: 'The attempt failed: connect_timeout.', reply: null } })
})

test('a refusal stored before a crash is announced by the next process', async (t) => {
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  await fixture.destination()
  await fixture.rule({ domain: 'example.com' })
  await setup.endpoint(elsewhere)
  const reached = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await call.job.beforeFinalDot()
    reached.resolve()
    return new Promise(() => {})
  }
  const { traceId } = await fixture.submit()
  await reached.promise
  const next = await setup.crash()
  next.fixture.transport.script = (call) => take(call, 'permanent')
  await next.fixture.queue.start()
  next.fixture.clock.advance(3_600_000)
  await next.fixture.settled()
  t.is((await next.fixture.trace(traceId)).status, 'failed', 'the message is given up')
  t.is((await next.deliveries()).length, 1)
})

test('endpoints get events of their project and types; without any, nothing is stored', async (t) => {
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  const before = (await fixture.keys('')).length
  await setup.announce()
  t.is((await fixture.keys('')).length, before)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const all = await setup.endpoint(elsewhere)
  const some = await setup.endpoint(elsewhere, { eventTypes: ['bounced', 'bounced', 'complained'] })
  const other = await setup.endpoint(elsewhere, { projectId: 'prj_2' })
  await setup.announce()
  await setup.announce(['anna@example.net'], { type: 'bounced' })
  await setup.announce(['anna@example.net'], { type: 'bounced', project: 'prj_2' })
  const heard = (await setup.deliveries()).map(({ endpointId, eventType }) => `${endpointId} ${eventType}`)
  t.deepEqual(heard.toSorted(), [`${all.id} bounced`, `${all.id} failed`, `${other.id} bounced`, `${some.id} bounced`].toSorted())
  const bounced = (await setup.deliveries()).filter(({ projectId: of, eventType }) => of === projectId && eventType === 'bounced')
  t.is(new Set(bounced.map(({ eventId }) => eventId)).size, 1, 'one event')
  t.is(new Set(bounced.map(({ deliveryId }) => deliveryId)).size, 2, 'a delivery for each endpoint')
})

test('while the flag is off nothing is announced, and earlier events are not sent', async (t) => {
  const receiver = await receiverOf(t)
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture, core } = setup
  await setup.endpoint(receiver.url)
  await setup.announce()
  await fixture.organization({ flags: { webhooks: false } })
  await setup.announce()
  t.is((await setup.deliveries()).length, 1)
  await core.webhookDispatcher.start()
  await setup.reaches('failed')
  t.like(await setup.delivery(), {
    lastError: 'Event webhooks are turned off for this organization.',
    lastStatusCode: null,
    attemptCount: 1,
  })
  t.is(receiver.connections, 0)
  await fixture.organization({ flags: {} })
  await setup.pass(60_000)
  await setup.reaches('succeeded')
  t.is(receiver.received.length, 1)
})
