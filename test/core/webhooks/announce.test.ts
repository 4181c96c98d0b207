/** Events become deliveries in the write that makes them happen, or not at all. */
import test from 'ava'
import { webhookEventShape } from '#core/webhooks/events/event-body.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { projectId, quiet, until } from '../house.ts'
import { report, take } from '../scripted-transport.ts'
import { receiverOf, webhookRig } from './rig.ts'

const elsewhere = 'https://hooks.example.ch/'

test('each recipient that a message was given up for is an event of its own, with the reply as reason', async (t) => {
  const rig = await webhookRig(t, { isIdle: true })
  const { house } = rig
  await house.destination()
  await house.rule({ domain: 'example.com' })
  await rig.endpoint(elsewhere)
  house.transport.script = (call) =>
    take(call, { 'anna@example.net': 'permanent', 'bert@example.net': 'accepted', 'cleo@example.net': 'permanent' })
  const { traceId } = await house.submit({ rcptTo: ['anna@example.net', 'bert@example.net', 'cleo@example.net'] })
  await until('the message is done', async () => (await house.trace(traceId)).status !== 'queued')
  const deliveries = await rig.deliveries()
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
  t.deepEqual(await rig.problems(), [])
})

test('a message that is tried again is announced when it is given up, with the reason where nobody replied', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { isIdle: true, clock, retry: { delaysMs: [60_000], maxAgeMs: 90_000 } })
  const { house } = rig
  await house.destination()
  await house.rule({ domain: 'example.com' })
  await rig.endpoint(elsewhere)
  house.transport.script = (call) => report(call, 'transient', 'connect_timeout')
  const { traceId } = await house.submit()
  await quiet(house)
  t.is((await rig.deliveries()).length, 0, 'it is still tried')
  clock.advance(60_000)
  await until('it is given up', async () => (await house.trace(traceId)).status === 'failed')
  const { body } = await rig.delivery()
  t.like(JSON.parse(body), { data: { reason: 'The attempt failed: connect_timeout.', reply: null } })
})

test('a refusal that was on record when the process died is announced by the next one', async (t) => {
  const rig = await webhookRig(t, { isIdle: true })
  const { house } = rig
  await house.destination()
  await house.rule({ domain: 'example.com' })
  await rig.endpoint(elsewhere)
  const reached = Promise.withResolvers<void>()
  house.transport.script = async (call) => {
    await call.job.beforeFinalDot()
    reached.resolve()
    return new Promise(() => {})
  }
  const { traceId } = await house.submit()
  await reached.promise
  const next = await rig.crash()
  next.house.transport.script = (call) => take(call, 'permanent')
  await next.house.queue.start()
  next.house.clock.advance(3_600_000)
  await until('it is given up', async () => (await next.house.trace(traceId)).status === 'failed')
  t.is((await next.deliveries()).length, 1)
})

test('endpoints hear of their own project and of the types they want; without any, nothing is written', async (t) => {
  const rig = await webhookRig(t, { isIdle: true })
  const { house } = rig
  const before = (await house.keys('')).length
  await rig.announce()
  t.is((await house.keys('')).length, before)
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const all = await rig.endpoint(elsewhere)
  const some = await rig.endpoint(elsewhere, { eventTypes: ['bounced', 'bounced', 'complained'] })
  const other = await rig.endpoint(elsewhere, { projectId: 'prj_2' })
  await rig.announce()
  await rig.announce(['anna@example.net'], { type: 'bounced' })
  await rig.announce(['anna@example.net'], { type: 'bounced', project: 'prj_2' })
  const heard = (await rig.deliveries()).map(({ endpointId, eventType }) => `${endpointId} ${eventType}`)
  t.deepEqual(heard.toSorted(), [`${all.id} bounced`, `${all.id} failed`, `${other.id} bounced`, `${some.id} bounced`].toSorted())
  const bounced = (await rig.deliveries()).filter(({ projectId: of, eventType }) => of === projectId && eventType === 'bounced')
  t.is(new Set(bounced.map(({ eventId }) => eventId)).size, 1, 'one event')
  t.is(new Set(bounced.map(({ deliveryId }) => deliveryId)).size, 2, 'a delivery for each endpoint')
})

test('while the flag is off nothing is announced, and what was announced before is not sent', async (t) => {
  const receiver = await receiverOf(t)
  const rig = await webhookRig(t, { isIdle: true })
  const { house, core } = rig
  await rig.endpoint(receiver.url)
  await rig.announce()
  await house.organization({ flags: { webhooks: false } })
  await rig.announce()
  t.is((await rig.deliveries()).length, 1)
  await core.webhookDispatcher.start()
  await rig.reaches('failed')
  t.like(await rig.delivery(), {
    lastError: 'Event webhooks are turned off for this organization.',
    lastStatusCode: null,
    attemptCount: 1,
  })
  t.is(receiver.connections, 0)
  await house.organization({ flags: {} })
  await rig.pass(60_000)
  await rig.reaches('succeeded')
  t.is(receiver.received.length, 1)
})
