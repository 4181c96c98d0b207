/** Projects with one of each resource, and the rows that remain in the store. */
import type { ExecutionContext } from 'ava'
import { apiKeys } from '#core/access/keys/api-key.ts'
import { newKeyRecord } from '#core/access/keys/api-keys.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { smtpCredentials } from '#core/access/smtp-credential.ts'
import { lookBy } from '#core/alerts/channel-state.ts'
import { alertChannels, membersChannel } from '#core/alerts/channels/alert-channel.ts'
import { inboxes } from '#core/capture/capture.ts'
import { actCounterKey, openActKey, queueActRecords } from '#core/delivery/acts/queue-act.ts'
import { failoverPolicies } from '#core/routing/failover-policy.ts'
import { queueHolds } from '#core/routing/queue-hold.ts'
import { organizationCounters, projectCounters } from '#core/tenancy/counters.ts'
import { addDelivery } from '#core/webhooks/events/add-delivery.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { Change } from '#store/change.ts'
import { newTraceId } from '#store/ids.ts'
import { pack } from '#store/tuple.ts'
import type { Administration } from '../../../daemon/composition/composed.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import {
  factsDefaults,
  coreFixture,
  organizationId,
  projectId,
  principal,
  type CoreFixture,
  type CoreFixtureOptions,
} from '../core-fixture.ts'

/** The parts of a fixture that delete. */
export const officeOf = (fixture: CoreFixture): Administration => fixture.part('administration')

/** The project Default, another project and a partition of it, each with one of each resource. */
export async function furnished(t: ExecutionContext, options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, { deaf: true, ...options })
  await fixture.inbox()
  await furnish(fixture, projectId)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  await fixture.project({ id: 'prj_3', name: 'Partition', isDefault: false, parentId: 'prj_2' })
  for (const id of ['prj_2', 'prj_3']) {
    await fixture.put(inboxes, { id: `inb_${id}`, projectId: id, addressPattern: '*', name: 'All', createdAt: startOfTime })
    await furnish(fixture, id)
  }
  return fixture
}

/** Adds one of each resource to a project. */
export async function furnish(fixture: CoreFixture, id: string): Promise<void> {
  const { database, policies, clock, core } = fixture
  const inside: Principal = { ...principal, projectId: id, bound: true }
  await fixture.destination({ id: `dst_${id}`, projectId: id })
  await fixture.destination({ id: `dst_b_${id}`, projectId: id })
  await fixture.rule({ domain: 'example.com' }, `dst_${id}`, { projectId: id })
  const times = { createdAt: startOfTime, updatedAt: startOfTime }
  const chain = { primaryId: `dst_${id}`, fallbackIds: [`dst_b_${id}`], on: ['transient'] as const, latencyMs: null }
  await fixture.put(failoverPolicies, { id: `fop_${id}`, projectId: id, ...chain, ...times })
  await fixture.credential('secret', { id: `crd_${id}`, projectId: id, username: `user-${id}`, defaultDestinationId: `dst_${id}` })
  const { record } = newKeyRecord(database, { name: 'Key', scopes: ['api:admin'], projectId: id, expiresAt: null }, clock.now())
  await fixture.put(apiKeys, record)
  await fixture.put(webhookEndpoints, {
    id: `whk_${id}`,
    projectId: id,
    name: 'Hook',
    targetUrl: 'https://hooks.example.ch/',
    eventTypes: [],
    sealedSecret: '',
    ...times,
  })
  const event = {
    id: newTraceId(),
    projectId: id,
    messageId: 'm',
    destinationId: null,
    recipients: [{ address: 'a@b.ch', status: 'failed' as const }],
  }
  const change = new Change()
  const { webhooks } = await policies.of(organizationId)
  announce(database, change, webhooks, { organizationId, type: 'failed', trace: event, recipient: 'a@b.ch', reason: null, at: clock.now() })
  await database.commit(change)
  const channelId = `alc_${id}`
  await fixture.put(alertChannels, { ...membersChannel, id: channelId, projectId: id, kind: 'slack' as const, name: 'Chat', ...times })
  const looking = new Change()
  await lookBy(database, looking, organizationId, channelId, clock.now() + 3_600_000)
  addDelivery(database, looking, organizationId, {
    ...{ eventId: `evt_${id}`, eventType: 'alert', endpointId: channelId, projectId: id, traceId: null, body: '{}', at: clock.now() },
  })
  await database.commit(looking)
  const filter = { toDomain: 'nowhere.example' }
  const asked = { projectId: id, bound: true, filter, reason: null, by: { kind: 'user' as const, id: 'usr_1' }, createdAt: startOfTime }
  await fixture.put(queueHolds, { ...asked, id: `qhl_${id}`, actId: `qac_${id}` })
  const act = { ...asked, id: `qac_${id}`, act: 'hold' as const, expected: 0, status: 'running' as const, stoppedBecause: null }
  await fixture.put(queueActRecords, { ...act, cursor: null, updatedAt: startOfTime })
  const counted = new Change().set(openActKey(organizationId, act.id)).add(actCounterKey(organizationId, act.id, 'acted'), 1)
  await database.commit(counted)
  const content = { subject: 'Hello', text: null, html: null, schema: null }
  const { template } = await core.templates.create(inside, { slug: `hello-${id}`, name: 'Hello', content })
  await core.templates.save(inside, template.id, { content: { ...content, text: 'again' } })
  fixture.part('replayRunner').wake = () => {} // Keeps the job unchanged.
  await core.replays.create(inside, { filter: {}, includeUnknown: false })
  const elsewhere = {
    mailFrom: 'a@elsewhere.example',
    facts: { ...factsDefaults, headerFrom: 'a@elsewhere.example', headerAddresses: ['a@elsewhere.example'] },
  }
  await fixture.submit({ projectId: id, principal: inside, ...elsewhere }) // This send is captured.
  await fixture.submit({ projectId: id, principal: inside, ...elsewhere, sendAt: clock.now() + 3_600_000 }) // This send will be captured.
  await fixture.submit({ projectId: id, principal: inside, idempotencyKey: `key-${id}` })
  await fixture.submit({
    projectId: id,
    principal: inside,
    sendAt: clock.now() + 3_600_000,
    content: `Subject: x\r\n\r\n${'x'.repeat(300_000)}\r\n`,
  })
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** Returns every row of the store and every counter other than 0, by key. */
export async function everyRow({ kv, clock }: CoreFixture): Promise<Map<string, string>> {
  const rows = new Map<string, string>()
  for await (const { key, value } of kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) })) rows.set(text(key), text(value))
  const counters = organizationCounters(organizationId, startOfTime, clock.now())
  for (const id of [projectId, 'prj_2', 'prj_3']) counters.push(...projectCounters(organizationId, id, startOfTime, clock.now()))
  for (const key of counters) {
    const count = await kv.counter(pack(key))
    if (count !== 0) rows.set(text(pack(key)), String(count))
  }
  return rows
}

/** Returns rows that name one of the projects, except the audit log and keys that a later sweep removes. */
export async function rowsNaming(fixture: CoreFixture, ...ids: readonly string[]): Promise<string[]> {
  const outlive = [pack([organizationId, 'audit']), pack(['', 'expire'])].map(text)
  const rows = [...(await everyRow(fixture))].filter(([key]) => !outlive.some((prefix) => key.startsWith(prefix)))
  return rows.filter(([key, value]) => ids.some((id) => `${key} ${value}`.includes(id))).map(([key]) => key)
}

export const credentialsOf = async ({ database }: CoreFixture): Promise<string[]> =>
  (await database.all(smtpCredentials, { organizationId })).map(({ record }) => record.id)
