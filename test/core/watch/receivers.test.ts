/** Quick checks of receivers of webhooks: endpoints, inbound routes and forms. */
import test from '#test'
import { findingText } from '#core/findings/finding-text.ts'
import { observed } from '#core/findings/finding.ts'
import { withUndelivered } from '#core/watch/conditions/receivers.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { countFor, projectNames } from '#core/insights/count.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { coreFixture, projectId, secrets } from '../core-fixture.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { webhookFixture } from '../webhooks/webhook-fixture.ts'
import { day, hour, minute, place, Watched } from './watched.ts'

test('webhook.failing: a receiver that answers 500 is reported within 16 minutes, until it accepts an event', async (t) => {
  const setup = await webhookFixture(t)
  const here = await Watched.of(setup.fixture)
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const { id } = await setup.endpoint(receiver.url)
  await setup.announce()
  await setup.reaches('failed')
  await here.pass(6 * minute + 30_000)
  t.deepEqual(await here.open(), [], 'after three attempts in six minutes')
  await here.pass(9 * minute)
  t.like(await here.finding('webhook.failing'), { subject: id, params: { count: 3, sinceAt: startOfTime } })
  t.is(
    await here.summary('webhook.failing'),
    'The webhook endpoint Shop answers 500: its last 3 attempts failed. One event is not delivered.',
  )
  t.like(await here.finding('webhook.failing'), { params: { undelivered: 1, status: '500' } })
  receiver.answer = (response) => response.writeHead(200).end()
  await setup.announce()
  await setup.reaches('succeeded')
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('webhook.failing: stays open without attempts, and ends with a pause of the endpoint', async (t) => {
  const setup = await webhookFixture(t, { isIdle: true })
  const here = await Watched.of(setup.fixture)
  const { id } = await setup.endpoint('https://shop.example/hook')
  const attempt = (name: string): Promise<void> => here.count((change, now) => countFor(change, place, id, [name], now))
  await attempt(projectNames.webhookSucceeded)
  await here.pass(minute)
  for (let n = 0; n < 3; n++) await attempt(projectNames.webhookFailed)
  await here.pass(20 * minute)
  t.deepEqual(await here.open(), ['webhook.failing error'])
  await here.pass(2 * day)
  t.deepEqual(await here.open(), ['webhook.failing error'])
  await setup.fixture.edit(webhookEndpoints, id, { pausedAt: here.now })
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('undelivered events: those that were given up count, too', (t) => {
  const seen = observed('webhook.failing', 'whk_1', { name: 'Shop', count: 3 })
  const { params } = withUndelivered(seen, { waiting: 2, status: null }, 10)
  t.like(params, { undelivered: 12, status: 'none', counted: 'yes' })
  const { title, summary } = findingText({ kind: 'webhook.failing', params })
  t.is(title, "Shop isn't getting events")
  t.is(summary, 'The webhook endpoint Shop accepts no events: its last 3 attempts failed. 12 events are not delivered.')
})

test('inbound.failing: the webhook of a route', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  const route = { id: 'inr_1', projectId, localPartPattern: 'orders', webhookUrl: 'https://shop.example/in' }
  await fixture.put(inboundRoutes, { ...route, sealedSecret: secrets.seal('s', 'x'), createdAt: startOfTime, updatedAt: startOfTime })
  const attempt = (name: string): Promise<void> => here.count((change, now) => countFor(change, place, 'inr_1', [name], now))
  for (let n = 0; n < 3; n++) await attempt(projectNames.webhookFailed)
  await here.pass(20 * minute)
  t.is(
    await here.summary('inbound.failing'),
    'The webhook of the inbound route orders accepts no mail: its last 3 attempts failed. 0 mails are not delivered.',
  )
  await here.pass(hour)
  await attempt(projectNames.webhookSucceeded)
  await here.round()
  t.deepEqual(await here.open(), [])
})
