/** Notifications of virtual inboxes: signed like Stripe's, at most once, and independent of slow receivers. */
import test, { type ExecutionContext } from '#test'
import Stripe from 'stripe'
import { inboxes } from '#core/capture/capture.ts'
import { readLastNotify } from '#core/capture/notify/last-notify.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { Post, PostOutcome, PostRequest } from '#core/outbound/post.ts'
import { usageCounter } from '#core/tenancy/counters.ts'
import { pack } from '#store/tuple.ts'
import { guardedPost } from '../../../protocols/outbound/clients.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture } from '../core-fixture.ts'

const noNames = { resolve4: async () => [], resolve6: async () => [] }

async function fixtureWith(t: ExecutionContext, post?: Post): Promise<CoreFixture> {
  const clock = new FakeClock()
  const overLoopback = guardedPost({ resolver: noNames, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), clock })
  return coreFixture(t, { clock, post: post ?? overLoopback, publicUrl: 'https://post.example.ch' })
}

const last = (fixture: CoreFixture, inboxId = 'inb_1') => readLastNotify(fixture.database, organizationId, inboxId)
const noted = (fixture: CoreFixture, inboxId = 'inb_1') =>
  fixture.kv.holds('the outcome is stored', async () => (await last(fixture, inboxId)) !== undefined)
const metered = (fixture: CoreFixture) =>
  fixture.kv.counter(pack(usageCounter(organizationId, 'vi_notifies', new Date(fixture.clock.now()).toISOString().slice(0, 7), projectId)))
test("notifier: sends one POST that Stripe's verification accepts with the inbox key", async (t) => {
  const receiver = await receiverOf(t)
  const fixture = await fixtureWith(t)
  await fixture.inbox({ notifyWebhookUrl: receiver.url, addressPattern: '@example.net' })
  const { traceId } = await fixture.submit()
  await noted(fixture)
  const [told, ...more] = receiver.received
  t.is(more.length, 0)
  const header = String(told?.headers['service-virtual-inbox-signature'])
  t.regex(header, /^t=\d{10},v1=[0-9a-f]{64}$/)
  const { webhooks } = new Stripe('sk_test_nothing')
  const at = fixture.clock.now() / 1000
  const check = (body: string, secret: string) => webhooks.constructEvent(body, header, secret, 300, undefined, at * 1000)
  const secret = fixture.notifier.secretFor(principal, 'inb_1') ?? ''
  const event = check(told?.body ?? '', secret) as unknown as Record<string, unknown>
  t.like(event, { type: 'virtual_inbox.message_captured', inbox: { id: 'inb_1', project_id: projectId, address_pattern: '@example.net' } })
  const id = fixture.captured[0]?.id ?? ''
  t.like(event['message'], { id, trace_id: traceId, url: `https://post.example.ch/v1/inboxes/inb_1/messages/${id}` })
  t.throws(() => check(`${told?.body ?? ''} `, secret))
  t.throws(() => check(told?.body ?? '', fixture.notifier.secretFor(principal, 'inb_2') ?? ''))
  t.like(await last(fixture), { captureId: id, statusCode: 204, error: null })
  t.is(await metered(fixture), 1)
  await fixture.assertSound(t)
})

test('notifier: notifies only inboxes with the capture', async (t) => {
  const receiver = await receiverOf(t)
  const fixture = await fixtureWith(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.inbox({ id: 'inb_1', notifyWebhookUrl: `${receiver.url}a` })
  await fixture.inbox({ id: 'inb_2', notifyWebhookUrl: `${receiver.url}b`, addressPattern: '@elsewhere.test' })
  await fixture.inbox({ id: 'inb_3', notifyWebhookUrl: `${receiver.url}c`, projectId: 'prj_2' })
  await fixture.submit()
  await noted(fixture)
  t.is(receiver.received.length, 1)
  t.is(await metered(fixture), 1)
})

test('notifier: sends and meters nothing while virtual inboxes are off', async (t) => {
  const receiver = await receiverOf(t)
  const fixture = await fixtureWith(t)
  await fixture.inbox({ notifyWebhookUrl: receiver.url })
  await fixture.organization({ flags: { virtual_inboxes: false } })
  await fixture.submit()
  await fixture.backgroundRead.idle()
  await fixture.organization({ flags: { virtual_inboxes: true } })
  const { traceId } = await fixture.submit()
  await noted(fixture)
  t.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).message.trace_id),
    [traceId],
  )
  t.is(await metered(fixture), 1)
})

test('notifier: a changed or removed URL applies to waiting notifications', async (t) => {
  const open: { readonly url: string; readonly end: (outcome: PostOutcome) => void }[] = []
  const post: Post = ({ url }) => new Promise((end) => void open.push({ url, end }))
  const fixture = await fixtureWith(t, post)
  const inbox = await fixture.inbox({ notifyWebhookUrl: 'https://old.example.ch/' })
  for (let i = 0; i < 5; i++) await fixture.submit()
  await fixture.settled()
  t.is(open.length, 2, 'two are in progress')
  await fixture.backgroundRead.idle()
  await fixture.inbox({ notifyWebhookUrl: 'https://new.example.ch/' })
  open[0]?.end({ status: 204, answer: new Uint8Array() })
  await fixture.settled()
  t.is(open.length, 3, 'the third is in progress')
  t.is(open[2]?.url, 'https://new.example.ch/')
  await fixture.put(inboxes, { ...inbox, notifyWebhookUrl: undefined })
  for (const { end } of open) end({ status: 204, answer: new Uint8Array() })
  await fixture.settled()
  t.is(open.length, 3)
  await fixture.remove(inboxes, inbox.id)
})

test('notifier: records a refusal without resending', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end('no') })
  const fixture = await fixtureWith(t)
  await fixture.inbox({ notifyWebhookUrl: receiver.url })
  await fixture.submit()
  await noted(fixture)
  fixture.backgroundRead.wake()
  fixture.clock.advance(86_400_000)
  await fixture.settled()
  t.is(receiver.received.length, 1)
  t.like(await last(fixture), { statusCode: 500, error: 'The receiver returned status 500.' })
})

test('notifier: a crash before or during sending causes no second notification', async (t) => {
  const sent: PostRequest[] = []
  const hanging: Post = (request) => (sent.push(request), new Promise(() => {}))
  const fixture = await fixtureWith(t, hanging)
  await fixture.inbox({ notifyWebhookUrl: 'https://hooks.example.ch/' })
  await fixture.submit()
  await fixture.settled()
  t.is(sent.length, 1, 'the notification is in progress')
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.settled()
  t.is(sent.length, 1)
  t.is(await metered(next), 1)
})

test('notifier: notifies unread captures once after a crash', async (t) => {
  const receiver = await receiverOf(t)
  const fixture = await fixtureWith(t)
  await fixture.inbox({ notifyWebhookUrl: receiver.url })
  await fixture.backgroundRead.stop()
  await fixture.submit()
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await noted(next)
  const third = await next.crash()
  third.backgroundRead.wake()
  await third.settled()
  t.is(receiver.received.length, 1)
})

test('notifier: a hanging receiver gets two at a time, and delays no other inbox', async (t) => {
  const open: { readonly request: PostRequest; readonly end: (outcome: PostOutcome) => void }[] = []
  const post: Post = (request, _limits, signal) =>
    new Promise((end) => {
      if (!request.url.includes('slow')) return end({ status: 204, answer: new Uint8Array() })
      signal.addEventListener('abort', () => end({ problem: 'broken off', isOurs: true }))
      open.push({ request, end })
    })
  const fixture = await fixtureWith(t, post)
  await fixture.inbox({ id: 'inb_slow', notifyWebhookUrl: 'https://slow.example.ch/', addressPattern: '@example.net' })
  await fixture.inbox({ id: 'inb_fast', notifyWebhookUrl: 'https://fast.example.ch/', addressPattern: 'last@other.test' })
  for (let i = 0; i < 103; i++) await fixture.submit()
  await noted(fixture, 'inb_slow') // the last one is dropped
  t.is(open.length, 2)
  t.like(await last(fixture, 'inb_slow'), { error: 'Too many notifications of this inbox were pending; this one was dropped.' })
  await fixture.submit({ rcptTo: ['last@other.test'] })
  await noted(fixture, 'inb_fast')
  t.is((await last(fixture, 'inb_fast'))?.statusCode, 204)
  open[0]?.end({ status: 200, answer: new Uint8Array() })
  await fixture.settled()
  t.is(open.length, 3, 'the next one is sent')
  await fixture.notifier.stop()
  t.is(open.length, 3)
})

test('notifier: refuses a forbidden network, with the detail', async (t) => {
  const receiver = await receiverOf(t)
  const clock = new FakeClock()
  const fixture = await coreFixture(t, { clock, post: guardedPost({ resolver: noNames, guard: addressGuard([]), clock }) })
  await fixture.inbox({ notifyWebhookUrl: receiver.url })
  await fixture.submit()
  await noted(fixture)
  t.is(receiver.connections, 0)
  t.is((await last(fixture))?.statusCode, null)
  t.truthy((await last(fixture))?.error)
})
