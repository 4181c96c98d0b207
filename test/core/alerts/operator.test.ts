/** Alerts to the operator: the channels of the settings, which get findings of the service and of organizations. */
import type { ExecutionContext } from 'ava'
import test from '#test'
import type { AlertEvent } from '#core/alerts/kinds/alert-event.ts'
import { observed, type Finding, type Observed } from '#core/findings/finding.ts'
import { Settle } from '#core/findings/settle.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { addDelivery } from '#core/webhooks/events/add-delivery.ts'
import { Change, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { receiverOf, type Answering } from '../../support/web/webhook-receiver.ts'
import { column } from '../../support/column.ts'
import { officeOf } from '../administration/full-projects.ts'
import { principal, projectId } from '../core-fixture.ts'
import { systemDestinationId } from '../people/people-fixture.ts'
import { alertsFixture, minute, owner, refused, second, type AlertsFixture } from './alerts-fixture.ts'

const operator = 'ops@example.org'
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const day = 86_400_000
const old = observed('backup.old', '', { days: 9 })

/** A service whose operator has a mail address and a webhook, and an organization without people. */
async function operated(t: ExecutionContext, options: { readonly answer?: Answering; readonly hasOwner?: boolean } = {}) {
  const { answer, hasOwner = false } = options
  const receiver = await receiverOf(t, answer ? { answer } : {})
  const env = {
    POSTERN_DOCTOR_MAIL_TO: operator,
    POSTERN_DOCTOR_WEBHOOK_URL: receiver.url,
    POSTERN_DOCTOR_WEBHOOK_SECRET: secret,
  }
  const setup = await alertsFixture(t, { hasOwner, env })
  const events = (): AlertEvent[] => receiver.received.map(({ body }) => JSON.parse(body) as AlertEvent)
  return { receiver, setup, events }
}

const ofService = ({ settle }: AlertsFixture, ...found: readonly Observed[]): Promise<boolean> =>
  settle.settle({ organizationId: systemOrganizationId, check: 'test', observed: found })

/** Leaves out findings about channels: these tests deliver no mail of the service, so that it is late. */
function kindsOf(...events: readonly AlertEvent[]): readonly string[] {
  const named = events.flatMap(({ data }) => [
    ...data.open.map(({ kind, organization }) => `${organization?.name ?? 'service'}: ${kind}`),
    ...data.over.map(({ kind, organization }) => `over ${organization?.name ?? 'service'}: ${kind}`),
  ])
  return named.filter((name) => !name.includes(': alerts.')).toSorted()
}

async function marksOf(setup: AlertsFixture, organization: string, kind: string): Promise<Finding['notified']> {
  return (await setup.findings(organization)).find((one) => one.kind === kind)?.notified ?? {}
}

/** Keeps mail of the service from being accepted. */
const setMode = (setup: AlertsFixture, mode: 'live' | 'sandbox') => setup.fixture.destination({ id: systemDestinationId, mode })

test('operator: findings of the service and of organizations, with their name, once and with their end', async (t) => {
  const { setup, events, receiver } = await operated(t, { hasOwner: true })
  await setup.look(refused, observed('webhook.failing', 'whk_1', {}, projectId))
  await ofService(setup, old)
  await setup.pass(6 * minute)
  const name = (await setup.fixture.policies.of(principal.organizationId)).organization.name
  t.deepEqual(kindsOf(...events()), [`${name}: destination.login_refused`, 'service: backup.old'])
  t.like(events()[0], { type: 'alert', data: { organization_id: systemOrganizationId, url: 'https://post.example.ch/operator' } })
  t.regex(String(receiver.received[0]?.headers['webhook-signature']), /^v1,/)
  const mails = (await setup.mails()).filter(({ to }) => to === operator)
  t.deepEqual(column(mails, 'subject'), [`Error in Postern: ${name}: Postmark refuses the login (and 1 more)`])
  t.regex(mails[0]?.raw ?? '', /POSTERN_DOCTOR_MAIL_TO/)
  const marks = await marksOf(setup, principal.organizationId, 'destination.login_refused')
  t.deepEqual(Object.keys(marks).toSorted(), ['members', 'operator_alerts', 'operator_mail'])
  t.true((await setup.mails()).some(({ to }) => to === owner))

  await setup.look()
  await ofService(setup)
  await setup.pass(11 * minute, minute)
  const ends = [`over ${name}: destination.login_refused`, 'over service: backup.old']
  t.deepEqual(kindsOf(...events().slice(1)), ends)
  await setup.pass(2 * day, 60 * minute)
  t.deepEqual(kindsOf(...events().slice(1)), ends, 'nothing is told again')
  await setup.fixture.assertSound(t)
})

test('operator: mail and webhook each remember by themselves which findings they were told', async (t) => {
  const { setup, events } = await operated(t)
  await setMode(setup, 'sandbox')
  await ofService(setup, old)
  await setup.pass(6 * minute)
  t.deepEqual(kindsOf(...events()), ['service: backup.old'])
  t.deepEqual(await setup.mails(), [])
  t.deepEqual(Object.keys(await marksOf(setup, systemOrganizationId, 'backup.old')), ['operator_alerts'])
  await setMode(setup, 'live')
  await setup.pass(61 * minute, minute)
  t.deepEqual(column(await setup.mails(), 'subject'), ['Warning in Postern: Last backup is old'])
  t.is(events().length, 1)
})

test('operator: a webhook that fails is a finding of the service, which the mail tells until it works', async (t) => {
  let status = 500
  const { setup } = await operated(t, { answer: (response) => response.writeHead(status).end() })
  await ofService(setup, observed('disk.low', '', { folder: '/d', freeMib: 1, neededMib: 2 }))
  await setup.pass(12 * minute, 30 * second)
  const failing = async () => (await setup.findings(systemOrganizationId)).find(({ kind }) => kind === 'alerts.undeliverable')
  t.like(await failing(), { subject: 'operator_alerts', state: 'open', params: { reason: 'operator_webhook' } })
  const mails = await setup.mails()
  t.true(mails.every(({ to }) => to === operator))
  t.true(mails.some(({ subject }) => subject === "Warning in Postern: Alerts to the operator don't arrive"))
  status = 200
  await setup.pass(60 * minute, minute)
  t.is((await failing())?.state, 'over')
})

test('operator: a member who mutes a finding does not mute it for the operator', async (t) => {
  const { setup, events } = await operated(t)
  await setup.look(refused)
  const [finding] = await setup.findings()
  await setup.fixture.core.findings.mute(principal, finding?.id ?? '', setup.fixture.clock.now() + day)
  await setup.pass(minute)
  t.is(events().length, 1)
})

test('operator: a new address or webhook gets findings that opened before', async (t) => {
  const { setup, events } = await operated(t)
  const { database, clock } = setup.fixture
  const before = new Settle({ database, clock })
  await before.settle({ organizationId: systemOrganizationId, check: 'test', observed: [old] })
  await setup.pass(10 * minute)
  t.is(events().length, 0)
  const next = await setup.crash()
  await next.pass(minute)
  t.deepEqual(kindsOf(...events()), ['service: backup.old'])
})

test('operator: an upgrade repeats no report of the earlier version, and sends its waiting delivery', async (t) => {
  const { setup, events, receiver } = await operated(t)
  const { database, clock } = setup.fixture
  const today = (days: number): string => new Date(clock.now() - days * day).toISOString().slice(0, 10)
  const row = (kind: string, severity: string, reportedOn: string, overOn?: string) =>
    encode({ finding: { id: kind, severity, subject: '', summary: '', fix: '' }, day: reportedOn, overOn })
  const change = new Change()
  change.set(globalKey('doctor.reported', 'backup.old '), row('backup.old', 'warning', today(0)))
  change.set(globalKey('doctor.reported', 'disk.filling '), row('disk.filling', 'warning', today(0), today(0)))
  change.set(globalKey('doctor.reported', 'clock.off '), row('clock.off', 'warning', today(9)))
  const record = 'a._domainkey.example.ch'
  change.set(globalKey('doctor.reported', `domain.dkim ${record}`), row('domain.dkim', 'error', today(0)))
  addDelivery(database, change, systemOrganizationId, {
    ...{ eventId: 'evt_1', eventType: 'operator_alert', endpointId: 'operator_alerts', projectId: 'prj_system', traceId: null },
    ...{ body: '{"type":"operator_alert"}', at: clock.now() },
  })
  await database.commit(change)
  await setup.pass(second)
  t.deepEqual(
    receiver.received.map(({ body }) => body),
    ['{"type":"operator_alert"}'],
  )
  const disk = observed('disk.filling', '', { folder: '/d', freeMib: 5, neededMib: 2 })
  const off = observed('clock.off', '', { server: 'database', seconds: 9, direction: 'ahead' })
  await ofService(setup, old, disk, off)
  await setup.look(observed('domain.dkim', 'example.ch', { domain: 'example.ch', name: record, state: 'missing', signed: 'no' }))
  await setup.pass(10 * minute)
  t.deepEqual(kindsOf(...events().slice(1)), ['service: clock.off', 'service: disk.filling'])
  t.is((await marksOf(setup, systemOrganizationId, 'backup.old'))['operator_mail']?.severity, 'warning')
  t.deepEqual(await setup.fixture.keys('doctor'), [])
  await ofService(setup, disk, off)
  await setup.pass(11 * minute, minute)
  t.deepEqual(kindsOf(...events().slice(1)), ['over service: backup.old', 'service: clock.off', 'service: disk.filling'])
  const stored = await database.all(webhookDeliveries, { organizationId: systemOrganizationId })
  t.true(stored.every(({ record }) => record.status === 'succeeded'))
})

test('operator: findings of a deleted organization end at once, and stay away in its days of grace', async (t) => {
  const { setup, events } = await operated(t)
  const { core } = setup.fixture
  const { removals } = officeOf(setup.fixture)
  const { organization } = await core.organizations.create(principal, 'Team')
  const team = organization.id
  const daemon = { organizationId: team, check: 'watch.logins', daemon: 'another' }
  await setup.settle.settle({ ...daemon, observed: [{ ...refused, projectId: '' }] })
  await setup.fixture.writes.run(team, (change) => setup.settle.observe(change, team, observed('queue.held', 'prj_9', { held: 1 })))
  await setup.pass(6 * minute)
  t.deepEqual(kindsOf(...events()), ['Team: destination.login_refused', 'Team: queue.held'])
  await core.organizations.remove(principal, team, { discardQueued: true })
  removals.wake()
  await removals.idle()
  t.deepEqual(column(await setup.findings(team), 'state'), ['over', 'over'])
  await setup.pass(2 * day, minute)
  t.deepEqual(kindsOf(...events().slice(1)), ['over Team: destination.login_refused', 'over Team: queue.held'])
  await setup.settle.settle({ ...daemon, observed: [{ ...refused, projectId: '' }] })
  removals.wake()
  await removals.idle()
  t.deepEqual([...new Set(column(await setup.findings(team), 'state'))], ['over'], 'of a look that had read the organization before')
  await setup.fixture.assertSound(t)
})
