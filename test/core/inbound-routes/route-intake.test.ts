/** Mail for routes in the core: the matching route, and deletion. */
import test, { type ExecutionContext } from '#test'
import { removeProject } from '#core/administration/remove-project.ts'
import type { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { sweepInbound } from '#core/inbound-routes/remove-mail.ts'
import { inboundMessages, type InboundMessage } from '#core/inbound-routes/inbound-message.ts'
import { parsePattern, patternsFor } from '#core/inbound-routes/route-pattern.ts'
import { inboundRoutes, type InboundRoute } from '#core/inbound-routes/route.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'
import { column } from '../../support/column.ts'

const day = 86_400_000

const route = (localPartPattern: string): InboundRoute => ({
  ...{ id: `inr_${localPartPattern}`, projectId, localPartPattern, webhookUrl: 'https://hooks.example.ch/', sealedSecret: '' },
  ...{ createdAt: startOfTime, updatedAt: startOfTime },
})

async function place(t: ExecutionContext, ...patterns: string[]): Promise<{ readonly fixture: CoreFixture; readonly intake: RouteIntake }> {
  const fixture = await coreFixture(t)
  for (const pattern of patterns) await fixture.put(inboundRoutes, route(pattern))
  return { fixture, intake: fixture.part('inbound').routeIntake }
}

async function take(intake: RouteIntake, local: string, octets = 10): Promise<readonly string[]> {
  const found = await intake.routeFor(local)
  if (!found) throw new Error(`no route for ${local}`)
  const mail = intake.open([{ route: found, recipients: [`${local}@in.test`] }], '192.0.2.1')
  await mail.write(Buffer.alloc(octets, 'x'))
  return mail.commit({ mailFrom: '', remoteAddress: '192.0.2.1', helo: 'mx.peer.test', isEncrypted: false, prefix: '' })
}

const kept = async ({ database }: CoreFixture): Promise<InboundMessage[]> =>
  (await database.all(inboundMessages, { organizationId })).map(({ record }) => record)

test('the most specific pattern is tried first', (t) => {
  t.deepEqual(patternsFor('Sales+EU+1'), ['sales+eu+1', 'sales+eu+*', 'sales+*', '*'])
  t.deepEqual(patternsFor('+x'), ['+x', '*'])
  t.is(parsePattern(' Sales+* '), 'sales+*')
})

test('a disabled route or organization accepts no mail, and no wider pattern applies', async (t) => {
  const { fixture, intake } = await place(t, 'sales', '*')
  t.is((await intake.routeFor('SALES'))?.id, 'inr_sales')
  t.is((await intake.routeFor('else'))?.id, 'inr_*')
  await fixture.organization({ flags: { inbound_routes: false } })
  t.is(await intake.routeFor('sales'), undefined)
})

test('a mail whose route is deleted or changed during reception is refused without a row', async (t) => {
  const { fixture, intake } = await place(t, 'sales')
  const found = await intake.routeFor('sales')
  const mail = intake.open([{ route: found!, recipients: [] }], '192.0.2.1')
  await mail.write(Buffer.alloc(600_000, 'x'))
  await fixture.remove(inboundRoutes, 'inr_sales')
  const facts = { mailFrom: '', remoteAddress: '', helo: '', isEncrypted: false, prefix: '' }
  await t.throwsAsync(mail.commit(facts), { code: 'conflict' })
  await mail.discard()
  t.deepEqual(await kept(fixture), [])
  t.deepEqual(await fixture.keys('content'), [])
})

test('mail is deleted by age after its webhook, and with its route or project', async (t) => {
  const { fixture, intake } = await place(t, 'sales', 'shop')
  const [first = ''] = await take(intake, 'sales', 600_000)
  const [second = ''] = await take(intake, 'shop')
  const work = { database: fixture.database, stopping: () => false }
  const later = { nowMs: fixture.clock.now() + 8 * day, retentionDays: 7 }
  await sweepInbound(work, organizationId, later)
  t.is((await kept(fixture)).length, 2, 'no webhook was called for it yet')
  const { record } = (await fixture.database.get(inboundMessages, { organizationId }, first))!
  const none = { result: 'none', domain: null }
  const authentication = { spf: none, dkim: [], dmarc: { ...none, policy: null }, arc: { result: 'none' } }
  await fixture.put(inboundMessages, {
    ...record,
    prepared: { subject: '', from: [], unreadable: null, authentication, deliveryId: 'wha_1' },
  })
  await sweepInbound(work, organizationId, { ...later, nowMs: fixture.clock.now() + 6 * day })
  t.is((await kept(fixture)).length, 2)
  await sweepInbound(work, organizationId, later)
  t.deepEqual(column(await kept(fixture), 'id'), [second])
  t.deepEqual(await fixture.keys(first), [])
  await fixture.remove(inboundRoutes, 'inr_shop')
  await sweepInbound(work, organizationId, { nowMs: fixture.clock.now() })
  t.deepEqual(await fixture.keys(second), [])
  const [third = ''] = await take(intake, 'sales')
  await removeProject({ ...work, nowMs: fixture.clock.now(), keepsLinks: false }, organizationId, projectId)
  t.deepEqual(await fixture.keys(third), [])
  t.deepEqual(await fixture.keys('inbound_route'), [])
})
