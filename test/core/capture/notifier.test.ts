/** Notifications of virtual inboxes: signed as Stripe signs, once each whatever happens, and harmless to others when nobody answers. */
import test, { type ExecutionContext } from 'ava'
import Stripe from 'stripe'
import { inboxes } from '#core/capture/capture.ts'
import { readLastNotify } from '#core/capture/notify/last-notify.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { Post, PostOutcome, PostRequest } from '#core/outbound/post.ts'
import { usageCounter } from '#core/tenancy/counters.ts'
import { pack } from '#store/tuple.ts'
import { guardedPost } from '../../../protocols/outbound/clients.ts'
import { WebhookReceiver, type ReceiverOptions } from '../../support/web/webhook-receiver.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { houseOf, organizationId, projectId, quiet, principal, until, type House } from '../house.ts'

const noNames = { resolve4: async () => [], resolve6: async () => [] }

async function receiverOf(t: ExecutionContext, options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver(options).listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  return receiver
}

async function housed(t: ExecutionContext, post?: Post): Promise<House> {
  const clock = new FakeClock()
  const overLoopback = guardedPost({ resolver: noNames, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), clock })
  return houseOf(t, { clock, post: post ?? overLoopback, publicUrl: 'https://post.example.ch' })
}

const last = (house: House, inboxId = 'inb_1') => readLastNotify(house.database, organizationId, inboxId)
const noted = (house: House, inboxId = 'inb_1') => until('it is noted', async () => (await last(house, inboxId)) !== undefined)
const metered = (house: House) =>
  house.kv.counter(pack(usageCounter(organizationId, 'vi_notifies', new Date(house.clock.now()).toISOString().slice(0, 7), projectId)))
test("a capture is told by one POST that Stripe's own verification accepts with the key of the inbox", async (t) => {
  const receiver = await receiverOf(t)
  const house = await housed(t)
  await house.inbox({ notifyWebhookUrl: receiver.url, addressPattern: '@example.net' })
  const { traceId } = await house.submit()
  await noted(house)
  const [told, ...more] = receiver.received
  t.is(more.length, 0)
  const header = String(told?.headers['service-virtual-inbox-signature'])
  t.regex(header, /^t=\d{10},v1=[0-9a-f]{64}$/)
  const { webhooks } = new Stripe('sk_test_nothing')
  const at = house.clock.now() / 1000
  const check = (body: string, secret: string) => webhooks.constructEvent(body, header, secret, 300, undefined, at * 1000)
  const secret = house.notifier.secretFor(principal, 'inb_1') ?? ''
  const event = check(told?.body ?? '', secret) as unknown as Record<string, unknown>
  t.like(event, { type: 'virtual_inbox.message_captured', inbox: { id: 'inb_1', project_id: projectId, address_pattern: '@example.net' } })
  const id = house.captured[0]?.id ?? ''
  t.like(event['message'], { id, trace_id: traceId, url: `https://post.example.ch/v1/inboxes/inb_1/messages/${id}` })
  t.throws(() => check(`${told?.body ?? ''} `, secret))
  t.throws(() => check(told?.body ?? '', house.notifier.secretFor(principal, 'inb_2') ?? ''))
  t.like(await last(house), { captureId: id, statusCode: 204, error: null })
  t.is(await metered(house), 1)
  t.deepEqual(await house.problems(), [])
})

test('only inboxes in which the capture is hear of it', async (t) => {
  const receiver = await receiverOf(t)
  const house = await housed(t)
  await house.project({ id: 'prj_2', isDefault: false })
  await house.inbox({ id: 'inb_1', notifyWebhookUrl: `${receiver.url}a` })
  await house.inbox({ id: 'inb_2', notifyWebhookUrl: `${receiver.url}b`, addressPattern: '@elsewhere.test' })
  await house.inbox({ id: 'inb_3', notifyWebhookUrl: `${receiver.url}c`, projectId: 'prj_2' })
  await house.submit()
  await noted(house)
  t.is(receiver.received.length, 1)
  t.is(await metered(house), 1)
})

test('while virtual inboxes are switched off for the organization nobody is told, and nothing is metered', async (t) => {
  const receiver = await receiverOf(t)
  const house = await housed(t)
  await house.inbox({ notifyWebhookUrl: receiver.url })
  await house.organization({ flags: { virtual_inboxes: false } })
  await house.submit()
  await until('the body was read', async () => (await house.keys('capture.pending')).length === 0)
  await house.organization({ flags: { virtual_inboxes: true } })
  const { traceId } = await house.submit()
  await noted(house)
  t.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).message.trace_id),
    [traceId],
  )
  t.is(await metered(house), 1)
})

test('who took the address away, or gave another one, is believed at once: what still waits goes there, or nowhere', async (t) => {
  const open: { readonly url: string; readonly end: (outcome: PostOutcome) => void }[] = []
  const post: Post = ({ url }) => new Promise((end) => void open.push({ url, end }))
  const house = await housed(t, post)
  const inbox = await house.inbox({ notifyWebhookUrl: 'https://old.example.ch/' })
  for (let i = 0; i < 5; i++) await house.submit()
  await until('two are under way', () => open.length === 2)
  await until('the bodies were read', async () => (await house.keys('capture.pending')).length === 0)
  await house.inbox({ notifyWebhookUrl: 'https://new.example.ch/' })
  open[0]?.end({ status: 204, answer: new Uint8Array() })
  await until('the third is under way', () => open.length === 3)
  t.is(open[2]?.url, 'https://new.example.ch/')
  await house.put(inboxes, { ...inbox, notifyWebhookUrl: undefined })
  for (const { end } of open) end({ status: 204, answer: new Uint8Array() })
  await quiet(house)
  t.is(open.length, 3)
  await house.remove(inboxes, inbox.id)
})

test('a refusal is noted and nothing is sent again', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end('no') })
  const house = await housed(t)
  await house.inbox({ notifyWebhookUrl: receiver.url })
  await house.submit()
  await noted(house)
  house.backgroundRead.wake()
  house.clock.advance(86_400_000)
  await quiet(house)
  t.is(receiver.received.length, 1)
  t.like(await last(house), { statusCode: 500, error: 'The receiver returned status 500.' })
})

test('a crash while it is sent, or before, leads to no second one', async (t) => {
  const sent: PostRequest[] = []
  const hanging: Post = (request) => (sent.push(request), new Promise(() => {}))
  const house = await housed(t, hanging)
  await house.inbox({ notifyWebhookUrl: 'https://hooks.example.ch/' })
  await house.submit()
  await until('it is under way', () => sent.length === 1)
  const next = await house.crash()
  next.backgroundRead.wake()
  await quiet(next)
  t.is(sent.length, 1)
  t.is(await metered(next), 1)
})

test('what was captured before a crash and not yet read is told after it, once', async (t) => {
  const receiver = await receiverOf(t)
  const house = await housed(t)
  await house.inbox({ notifyWebhookUrl: receiver.url })
  await house.backgroundRead.stop()
  await house.submit()
  const next = await house.crash()
  next.backgroundRead.wake()
  await noted(next)
  const third = await next.crash()
  third.backgroundRead.wake()
  await quiet(third)
  t.is(receiver.received.length, 1)
})

test('a receiver that hangs gets two at a time, holds up no other inbox, and what it cannot take is given up', async (t) => {
  const open: { readonly request: PostRequest; readonly end: (outcome: PostOutcome) => void }[] = []
  const post: Post = (request, _limits, signal) =>
    new Promise((end) => {
      if (!request.url.includes('slow')) return end({ status: 204, answer: new Uint8Array() })
      signal.addEventListener('abort', () => end({ problem: 'broken off', isOurs: true }))
      open.push({ request, end })
    })
  const house = await housed(t, post)
  await house.inbox({ id: 'inb_slow', notifyWebhookUrl: 'https://slow.example.ch/', addressPattern: '@example.net' })
  await house.inbox({ id: 'inb_fast', notifyWebhookUrl: 'https://fast.example.ch/', addressPattern: 'last@other.test' })
  for (let i = 0; i < 103; i++) await house.submit()
  await until('the last one is given up', async () => (await last(house, 'inb_slow')) !== undefined)
  t.is(open.length, 2)
  t.like(await last(house, 'inb_slow'), { error: 'Too many notifications of this inbox were pending; this one was dropped.' })
  await house.submit({ rcptTo: ['last@other.test'] })
  await noted(house, 'inb_fast')
  t.is((await last(house, 'inb_fast'))?.statusCode, 204)
  open[0]?.end({ status: 200, answer: new Uint8Array() })
  await until('the next one is sent', () => open.length === 3)
  await house.notifier.stop()
  t.is(open.length, 3)
})

test('a network that the operator has not allowed is not told, and the detail says so', async (t) => {
  const receiver = await receiverOf(t)
  const clock = new FakeClock()
  const house = await houseOf(t, { clock, post: guardedPost({ resolver: noNames, guard: addressGuard([]), clock }) })
  await house.inbox({ notifyWebhookUrl: receiver.url })
  await house.submit()
  await noted(house)
  t.is(receiver.connections, 0)
  t.is((await last(house))?.statusCode, null)
  t.truthy((await last(house))?.error)
})
