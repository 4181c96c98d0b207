/** Receivers that hang, fail or get many events do not delay others. */
import test from '#test'
import type { AttemptResult } from '#core/webhooks/sending/attempts.ts'
import { Dispatcher, type DispatcherOptions } from '#core/webhooks/sending/dispatcher.ts'
import type { DueRow } from '#core/webhooks/delivery.ts'
import { addDue } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { coreFixture, organizationId, projectDefaults, type CoreFixture } from '../core-fixture.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { webhookFixture } from './webhook-fixture.ts'
import { column } from '../../support/column.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `r${n}@example.net`)

test('a hanging receiver delays no other, and gets its events when it answers again', async (t) => {
  const setup = await webhookFixture(t)
  const hanging = await receiverOf(t, { answer: () => undefined })
  const good = await receiverOf(t)
  await setup.endpoint(hanging.url)
  await setup.endpoint(good.url)
  await setup.announce(names(200))
  await good.hasReceived(200)
  await setup.reaches('succeeded', 200)
  await hanging.hasReceived(2)
  t.deepEqual([hanging.received.length, setup.core.webhookDispatcher.active], [2, 2], 'a new endpoint gets two at a time')
  hanging.answer = (response) => response.writeHead(200).end()
  setup.fixture.clock.advance(10_000) // attempts in progress time out
  await setup.fixture.settled()
  t.is((await setup.deliveries()).filter(({ status }) => status === 'succeeded').length, 398, 'the remaining events have arrived')
  t.deepEqual(
    column(
      (await setup.deliveries()).filter(({ status }) => status === 'failed'),
      'lastError',
    ),
    Array(2).fill('The receiver did not answer within 10 seconds.'),
  )
})

test('a receiver that keeps hanging gets one connection, with pauses of three times its time', async (t) => {
  const setup = await webhookFixture(t)
  const { clock } = setup.fixture
  const hanging = await receiverOf(t, { answer: () => undefined })
  await setup.endpoint(hanging.url)
  await setup.announce(names(20))
  const giveUp = async (): Promise<void> => {
    const failed = async () => (await setup.deliveries()).filter(({ status }) => status === 'failed').length
    const before = await failed()
    const active = setup.core.webhookDispatcher.active
    clock.advance(10_000)
    await setup.fixture.kv.holds('the deliveries have failed', async () => (await failed()) === before + active)
  }
  await hanging.hasReceived(2)
  await giveUp()
  for (let n = 3; n <= 5; n++) {
    await hanging.hasReceived(n)
    await giveUp()
  }
  await setup.fixture.settled()
  t.deepEqual([hanging.received.length, setup.core.webhookDispatcher.active], [5, 0], 'it is paused')
  clock.advance(29_999)
  await setup.fixture.settled()
  t.is(hanging.received.length, 5)
  clock.advance(1)
  await hanging.hasReceived(6)
  t.is(setup.core.webhookDispatcher.active, 1)
})

/** Starts a dispatcher whose attempts end on command of the test. */
async function dispatching(t: Parameters<typeof coreFixture>[0], limits: Partial<DispatcherOptions> = {}) {
  const fixture = await coreFixture(t)
  const { context, database, clock, errors } = fixture
  const inFlight: { readonly row: DueRow; readonly end: (result?: AttemptResult | Error) => Promise<void> }[] = []
  let most = 0
  const attempts = {
    run(row: DueRow): Promise<AttemptResult | undefined> {
      const { promise, resolve, reject } = Promise.withResolvers<AttemptResult | undefined>()
      const entry = {
        row,
        async end(result: AttemptResult | Error = { isGood: true, milliseconds: 5 }) {
          inFlight.splice(inFlight.indexOf(entry), 1)
          await database.commit(new Change().delete(['', 'webhook.due', row.endpointId, row.dueMs, row.id]))
          if (result instanceof Error) reject(result)
          else resolve(result)
        },
      }
      most = Math.max(most, inFlight.push(entry))
      return promise
    },
  }
  const dispatcher = new Dispatcher({ ...context, attempts, onError: (error) => void errors.push(error), ...limits })
  await dispatcher.start()
  const due = async (endpointId: string, count: number, of = organizationId): Promise<void> => {
    const change = new Change()
    for (let n = 0; n < count; n++)
      addDue(change, { endpointId, dueMs: clock.now(), id: `wha_${endpointId}_${String(n).padStart(4, '0')}`, organizationId: of })
    await database.commit(change)
    await fixture.settled()
  }
  const endAll = async (): Promise<void> => {
    for (const entry of [...inFlight]) await entry.end()
    await fixture.settled()
  }
  return { fixture, dispatcher, inFlight, due, endAll, most: () => most }
}

test('dispatcher: a healthy endpoint gets more concurrent attempts, up to ten', async (t) => {
  const { inFlight, due, endAll } = await dispatching(t)
  await due('whk_a', 300)
  const widths = []
  for (let round = 0; round < 6; round++) {
    widths.push(inFlight.length)
    await endAll()
  }
  t.deepEqual(widths, [2, 4, 8, 10, 10, 10])
})

test('the concurrent attempts of an organization are limited, and others continue', async (t) => {
  const { inFlight, due, endAll, most } = await dispatching(t, { maxActive: 12, maxActiveOfOne: 8 })
  for (let n = 0; n < 10; n++) await due(`whk_a${n}`, 50)
  t.is(inFlight.length, 8)
  await due('whk_b', 2, 'org_2')
  t.is(inFlight.length, 10)
  const served = new Set<string>()
  for (let round = 0; round < 12; round++) {
    for (const { row } of inFlight) served.add(row.endpointId)
    await endAll()
  }
  t.is(served.size, 11, 'every endpoint had an attempt')
  t.true(most() <= 12)
})

test('dispatcher: a defect during an attempt is reported and pauses the endpoint 1 min', async (t) => {
  const { fixture, inFlight, due } = await dispatching(t)
  await due('whk_a', 3)
  const [first] = inFlight
  await first?.end(new Error('a defect'))
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1)
  t.is(inFlight.length, 1)
  fixture.clock.advance(60_000)
  await fixture.settled()
  t.is(inFlight.length, 2)
})

const neighbour = async (fixture: CoreFixture): Promise<void> => {
  const { createdAt } = projectDefaults
  const change = new Change().insert(organizations, 'org_2', {
    id: 'org_2',
    name: 'B',
    plan: 'enterprise',
    defaultProjectId: 'prj_b',
    createdAt,
  })
  await fixture.database.commit(change.insert(projects, 'org_2', { ...projectDefaults, id: 'prj_b' }))
}

test('an endpoint of another organization gets no event', async (t) => {
  const setup = await webhookFixture(t)
  await neighbour(setup.fixture)
  const receiver = await receiverOf(t)
  const requester = { organizationId: 'org_2', projectId: 'prj_b', bound: false, scopes: ['api:admin'] as const, credentialId: 'key_b' }
  await setup.core.webhooks.create(requester, { name: 'Theirs', targetUrl: receiver.url, eventTypes: [] })
  await setup.announce()
  await setup.core.webhookDispatcher.idle()
  t.is(receiver.connections, 0)
})
