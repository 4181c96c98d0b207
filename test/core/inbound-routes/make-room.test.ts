/** The storage limit of inbound mail, and the mail that is deleted to make room. */
import test, { type ExecutionContext } from '#test'
import type { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { inboundMessages } from '#core/inbound-routes/inbound-message.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { storedInboundCounter } from '#core/tenancy/counters.ts'
import { addDelivery } from '#core/webhooks/events/add-delivery.ts'
import { removeDue, webhookDeliveries, type WebhookDelivery } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const kibibyte = 1024

interface Place {
  readonly fixture: CoreFixture
  readonly intake: RouteIntake
}

/** An organization with a limit of one MiB. */
async function place(t: ExecutionContext): Promise<Place> {
  const fixture = await coreFixture(t)
  await fixture.organization({ overrides: { inboundMebibytes: 1 } })
  const route = { id: 'inr_1', projectId, localPartPattern: 'sales', webhookUrl: 'https://hooks.example.ch/', sealedSecret: '' }
  await fixture.put(inboundRoutes, { ...route, createdAt: startOfTime, updatedAt: startOfTime })
  return { fixture, intake: fixture.part('inbound').routeIntake }
}

async function take({ fixture: { clock }, intake }: Place, octets: number): Promise<string> {
  clock.advance(1) // Ids begin with the time.
  const found = await intake.routeFor('sales')
  const mail = intake.open([{ route: found!, recipients: ['sales@in.test'] }], '192.0.2.1')
  await mail.write(Buffer.alloc(octets, 'x'))
  try {
    const [id = ''] = await mail.commit({ mailFrom: '', remoteAddress: '192.0.2.1', helo: 'mx.test', isEncrypted: false, prefix: '' })
    return id
  } finally {
    await mail.discard()
  }
}

/** Records a webhook call for the mail with the given result. */
async function tell({ database, clock }: CoreFixture, id: string, status: WebhookDelivery['status']): Promise<string> {
  const stored = (await database.get(inboundMessages, { organizationId }, id))!
  const change = new Change().delete(['', 'inbound.unprepared', organizationId, id])
  const told = { eventId: 'evt_1', eventType: 'inbound_message', endpointId: 'inr_1', projectId, traceId: null, body: '{}' } as const
  const deliveryId = addDelivery(database, change, organizationId, { ...told, at: clock.now() })
  const none = { result: 'none', domain: null }
  const authentication = { spf: none, dkim: [], dmarc: { ...none, policy: null }, arc: { result: 'none' } }
  const prepared = { subject: '', from: [], unreadable: null, authentication, deliveryId }
  await database.commit(change.replace(inboundMessages, organizationId, stored, { ...stored.record, prepared }))
  const delivery = (await database.get(webhookDeliveries, { organizationId }, deliveryId))!
  const settled = new Change().replace(webhookDeliveries, organizationId, delivery, { ...delivery.record, status, nextAttemptAt: null })
  await database.commit(removeDue(settled, delivery.record))
  return deliveryId
}

const ids = async ({ database }: CoreFixture): Promise<string[]> =>
  (await database.all(inboundMessages, { organizationId })).map(({ record }) => record.id)
const taken = ({ database }: CoreFixture): Promise<number> => database.kv.counter(pack(storedInboundCounter(organizationId)))
test('mail is stored up to the plan limit; above it only mail reported by webhook is deleted', async (t) => {
  const here = await place(t)
  const { fixture } = here
  const mails: string[] = []
  for (let n = 0; n < 4; n++) mails.push(await take(here, 256 * kibibyte))
  await t.throwsAsync(here.intake.routeFor('sales'), { code: 'quota_exhausted' })
  t.is(await taken(fixture), 1024 * kibibyte)
  const parked = await tell(fixture, mails[0]!, 'parked')
  const succeeded = await tell(fixture, mails[1]!, 'succeeded')
  fixture.clock.advance(10_000)
  t.is((await here.intake.routeFor('sales'))?.id, 'inr_1')
  t.deepEqual(await ids(fixture), [mails[0], mails[2], mails[3]], 'mail without a successful webhook stays')
  t.truthy(await fixture.database.get(webhookDeliveries, { organizationId }, parked))
  t.is(await fixture.database.get(webhookDeliveries, { organizationId }, succeeded), undefined)
  t.is(await taken(fixture), 768 * kibibyte)
  await fixture.assertSound(t)
})

test('a mail that does not fit makes room, so that it is accepted if any can be deleted', async (t) => {
  const here = await place(t)
  const { fixture } = here
  const mails: string[] = []
  for (let n = 0; n < 3; n++) mails.push(await take(here, 256 * kibibyte))
  for (const id of mails) await tell(fixture, id, 'succeeded')
  const large = await take(here, 600 * kibibyte)
  t.deepEqual(await ids(fixture), [mails[2], large])
  await fixture.assertSound(t)
})

test('a mail larger than the whole limit is refused and leaves nothing behind', async (t) => {
  const here = await place(t)
  const { fixture } = here
  await t.throwsAsync(take(here, 1025 * kibibyte), { code: 'request_too_large' })
  t.is(await taken(fixture), 0)
  await fixture.assertSound(t)
})

test('concurrent mails do not exceed the limit together', async (t) => {
  const here = await place(t)
  const { fixture } = here
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => take(here, 300 * kibibyte)))
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 3)
  t.true(results.every((result) => result.status === 'fulfilled' || (result.reason as { code: string }).code === 'quota_exhausted'))
  await fixture.assertSound(t)
})

test('a small mail counts at least 16 KiB, and deleted mail no longer counts', async (t) => {
  const here = await place(t)
  const { fixture } = here
  await take(here, 1)
  t.is(await taken(fixture), 16 * kibibyte)
  await fixture.organization({ overrides: { inboundMebibytes: -1 } })
  for (let n = 0; n < 5; n++) await take(here, 300 * kibibyte)
  t.is((await ids(fixture)).length, 6)
})
