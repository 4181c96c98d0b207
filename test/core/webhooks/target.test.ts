/** Targets that write their own requests: schedule, requested delays, and what is stored of their responses. */
import test from '#test'
import { loggedAttempts, webhookDeliveries } from '#core/webhooks/delivery.ts'
import { addDelivery } from '#core/webhooks/events/add-delivery.ts'
import { DeliveryAttempts } from '#core/webhooks/sending/attempts.ts'
import { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import { Sender } from '#core/webhooks/sending/sender.ts'
import type { DeliveryTarget } from '#core/webhooks/sending/target.ts'
import type { Post, PostOutcome, PostRequest } from '#core/outbound/post.ts'
import { Change } from '#store/change.ts'
import { coreFixture, organizationId, projectId } from '../core-fixture.ts'

const target: DeliveryTarget = {
  ...{ projectId: '', feature: 'webhooks', whileOff: 'Off.', shownUrl: 'https://chat.example/…', retryDelaysMs: [10_000, 60_000] },
  write: ({ body }, at) => ({ url: 'https://chat.example/token123', body: `${body} at ${at}`, headers: { 'x-kind': 'chat' } }),
  redact: (text) => text.replaceAll('token123', '***'),
  retryAfterMs: (answer) => (answer.startsWith('wait') ? Number(answer.slice(4)) : undefined),
}

test('a target writes its request, has its own schedule, and hides its secrets', async (t) => {
  const { context, clock, database, errors } = await coreFixture(t)
  const sent: PostRequest[] = []
  const outcomes: PostOutcome[] = [
    { status: 429, answer: Buffer.from('wait90000') },
    { problem: 'The name of token123 was not found.', isOurs: false },
    { status: 500, answer: Buffer.from('no such token123') },
  ]
  const post: Post = (request) => Promise.resolve(outcomes[sent.push(request) - 1]!)
  const parts = { ...context, onError: (error: unknown) => void errors.push(error), readSubject: (raw: string) => raw }
  const sender = new Sender({ ...context, post, baseUrl: 'https://postern.example' })
  const source = (_: unknown, __: unknown, id: string) => Promise.resolve(id === 'chat' ? target : undefined)
  const dispatcher = new Dispatcher({ ...parts, attempts: new DeliveryAttempts({ ...parts, sender, targets: [source] }) })
  await dispatcher.start()
  const begun = clock.now()
  const change = new Change()
  const delivery = {
    eventId: 'evt_1',
    eventType: 'failed',
    endpointId: 'chat',
    projectId: '',
    traceId: null,
    body: 'x',
    at: begun,
  } as const
  const id = addDelivery(database, change, organizationId, delivery)
  await database.commit(change)
  const current = async () => (await database.get(webhookDeliveries, { organizationId }, id))!.record
  await dispatcher.idle()
  t.like(await current(), { status: 'failed', nextAttemptAt: begun + 90_000 }, 'the receiver asked for a longer delay')
  clock.advance(90_000)
  await dispatcher.idle()
  t.like(await current(), { status: 'failed', nextAttemptAt: clock.now() + 60_000, lastError: 'The name of *** was not found.' })
  clock.advance(60_000)
  await dispatcher.idle()
  t.like(await current(), { status: 'parked', attemptCount: 3, nextAttemptAt: null })
  t.deepEqual(
    (await loggedAttempts(database, organizationId, id)).map(({ answer, statusCode }) => [statusCode, answer]),
    [
      [429, 'wait90000'],
      [null, null],
      [500, 'no such ***'],
    ],
  )
  t.like(sent[0], { url: 'https://chat.example/token123', headers: { 'x-kind': 'chat', 'content-type': 'application/json' } })
  t.is(Buffer.from(sent[0]!.body).toString(), `x at ${begun}`)
  const bound = await database.get(webhookDeliveries, { organizationId, projectId, bound: true }, id)
  t.is(bound, undefined, 'a delivery of the whole organization is outside the reach of a key of one project')
  await dispatcher.stop(0)
})
