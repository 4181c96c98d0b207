/** Alerts on their way: to all kinds of channels, to receivers that fail, and while mail of the service is late. */
import type { ExecutionContext } from 'ava'
import test from '#test'
import { removeOrganization } from '#core/administration/remove-organization.ts'
import { dueChannels, lookBy, readState } from '#core/alerts/channel-state.ts'
import type { TargetInput } from '#core/alerts/channels/channel-target.ts'
import type { TargetKind } from '#core/alerts/channels/alert-channel.ts'
import { observed } from '#core/findings/finding.ts'
import { members } from '#core/people/members/member.ts'
import { addUser, peoplePartition, users } from '#core/people/users/user.ts'
import { loggedAttempts } from '#core/webhooks/delivery.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { receiverOf, type Answering } from '../../support/web/webhook-receiver.ts'
import { organizationId, principal, projectId } from '../core-fixture.ts'
import { addOwner, alertsFixture, minute, owner, refused, second, type AlertsFixture } from './alerts-fixture.ts'
import { column } from '../../support/column.ts'

const botToken = '123456789:AAAA-BBBB-CCCC-DDDD-EEEE'
const chats = ['slack', 'discord', 'teams', 'telegram', 'ntfy', 'webhook'] as const

function targetOf(kind: TargetKind, url: string): TargetInput {
  if (kind === 'telegram') return { url, botToken, chatId: '-100123' }
  return kind === 'ntfy' ? { url, topic: 'operations' } : { url }
}

async function addChat(t: ExecutionContext, setup: AlertsFixture, kind: TargetKind, answer?: Answering) {
  const receiver = await receiverOf(t, answer ? { answer } : {})
  const channel = await setup.channel({ kind, target: targetOf(kind, `${receiver.url}/secretpath123`) })
  return { receiver, channel }
}

test('an error reaches all seven kinds within 90 s, once, and its end once', async (t) => {
  const setup = await alertsFixture(t)
  const receivers = await Promise.all(chats.map(async (kind) => (await addChat(t, setup, kind)).receiver))
  await setup.channel({ kind: 'mail', target: { address: owner } })
  const before = (await setup.mails()).length
  for (let i = 0; i < 20; i++) await setup.look(refused)
  await setup.pass(90 * second)
  const sent = (await setup.mails()).slice(before)
  t.deepEqual(
    sent.map(({ to }) => to),
    [owner, owner],
    'as a member, and as the address of a channel',
  )
  for (const one of sent) t.regex(one.subject, /Error in .*: Postmark refuses the login/)
  for (const [i, receiver] of receivers.entries()) {
    t.is(receiver.received.length, 1, chats[i])
    t.regex(receiver.received[0]?.body ?? '', /Postmark refuses the login/)
  }
  await setup.look()
  await setup.pass(11 * minute, minute)
  await setup.pass(2 * 60 * minute, 30 * minute)
  for (const [i, receiver] of receivers.entries()) {
    const about = receiver.received.filter(({ body }) => /Postmark refuses the login/.test(body))
    t.is(about.length, 2, chats[i])
    t.regex(about[1]?.body ?? '', /Resolved|over_at/)
  }
  await setup.fixture.assertSound(t)
})

test('the link leads to the findings of the organization, or of the project of the channel', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { receiver } = await addChat(t, setup, 'webhook')
  const ofProject = await receiverOf(t)
  const chat = await receiverOf(t)
  await setup.channel({ kind: 'webhook', projectId, target: { url: ofProject.url } })
  await setup.channel({ kind: 'slack', projectId, target: { url: chat.url } })
  await setup.look(refused)
  await setup.pass(minute)
  const urlAt = ({ received }: typeof chat): unknown => (JSON.parse(received[0]?.body ?? '{}') as { data?: { url: string } }).data?.url
  const page = `https://post.example.ch/findings?org=${organizationId}`
  t.deepEqual([urlAt(receiver), urlAt(ofProject)], [page, `${page}&project=${projectId}`])
  t.true(chat.received[0]?.body.includes(`${page}&project=${projectId}`))
})

test('a limit nearly used, then used: channels get both, and a single message about the end', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { receiver } = await addChat(t, setup, 'webhook')
  const quota = (kind: 'quota.nearly_used' | 'quota.used', used: number) =>
    observed(kind, 'sends_today', { limit: 'sends_today', used, allowed: 100, percent: used, project: '' })
  await setup.look(quota('quota.nearly_used', 80))
  await setup.pass(10 * minute, minute)
  await setup.look(quota('quota.used', 100))
  await setup.pass(60 * minute, minute)
  await setup.look()
  await setup.pass(30 * minute, minute)
  const told = receiver.received.map(({ body }) => {
    const { open, over } = (JSON.parse(body) as { data: Record<'open' | 'over', { kind: string }[]> }).data
    return [column(open, 'kind'), column(over, 'kind')]
  })
  t.deepEqual(told, [
    [['quota.nearly_used'], []],
    [['quota.used'], []],
    [[], ['quota.used', 'quota.nearly_used']],
  ])
})

test('a failure of 20 s causes no message', async (t) => {
  const setup = await alertsFixture(t)
  const { receiver } = await addChat(t, setup, 'slack')
  await setup.look(refused)
  await setup.pass(20 * second)
  await setup.look()
  await setup.pass(20 * minute, minute)
  t.is(receiver.received.length, 0)
})

test('answers of receivers: retries, and no secret in what is stored', async (t) => {
  const answers = [200, 400, 404, 429, 500]
  const setup = await alertsFixture(t, { hasOwner: false })
  const all = await Promise.all(
    answers.map((status) =>
      addChat(t, setup, 'telegram', (response, request) => {
        const body = JSON.stringify({ description: `bad ${request.url} ${botToken}`, parameters: { retry_after: 120 } })
        response.writeHead(status).end(body)
      }),
    ),
  )
  await setup.look(refused)
  await setup.pass(40 * second)
  const deliveries = await setup.deliveries()
  for (const [i, { channel }] of all.entries()) {
    const delivery = deliveries.find(({ endpointId }) => endpointId === channel.id)!
    t.is(delivery.status, i === 0 ? 'succeeded' : 'failed', String(answers[i]))
    const logged = JSON.stringify([delivery, await loggedAttempts(setup.fixture.database, organizationId, delivery.id)])
    t.notRegex(logged, /AAAA-BBBB|secretpath/)
    if (i > 0) t.true((delivery.nextAttemptAt ?? 0) >= setup.fixture.clock.now() + 100 * second, 'Telegram asked for two minutes')
  }
  await setup.pass(45 * minute, minute)
  const parked = await setup.deliveries()
  t.true(parked.filter(({ eventType, status }) => eventType === 'alert' && status === 'parked').length >= 4)
  const failing = (await setup.findings()).filter(({ kind }) => kind === 'alerts.undeliverable')
  t.deepEqual(
    column(failing, 'subject').toSorted(),
    all
      .slice(1)
      .map(({ channel }) => channel.id)
      .toSorted(),
  )
  t.notRegex(JSON.stringify(failing), /AAAA-BBBB|secretpath|retry_after/)
})

test('while a channel fails, an escalation gets its content at once; a good test ends it', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  let status = 500
  const { channel } = await addChat(t, setup, 'slack', (response) => response.writeHead(status).end())
  const later = await receiverOf(t)
  await setup.channel({ kind: 'webhook', target: { url: later.url }, afterMinutes: 600 })
  await setup.look(refused)
  await setup.pass(5 * minute)
  t.is(later.received.length, 0)
  await setup.pass(2 * minute)
  t.is(later.received.length, 1)
  t.regex(later.received[0]?.body ?? '', /destination\.login_refused/)
  status = 200
  const { isGood } = await setup.fixture.part('alerts').channelTests.run(principal, channel.id, new AbortController().signal)
  t.true(isGood)
  t.deepEqual(
    (await setup.findings()).filter(({ kind, state }) => kind === 'alerts.undeliverable' && state === 'open'),
    [],
  )
})

for (const [act, changes] of [
  ['turned off', { enabled: false }],
  ['aimed at another target', { target: { url: 'https://hooks.slack.example/other' } }],
] as const)
  test(`a failing channel that is ${act} no longer fails`, async (t) => {
    const setup = await alertsFixture(t, { hasMail: false })
    const { channel } = await addChat(t, setup, 'slack', (response) => response.writeHead(500).end())
    const openKinds = async (organization?: string): Promise<string[]> =>
      (await setup.findings(organization))
        .filter(({ kind, state }) => kind.startsWith('alerts.') && state === 'open')
        .map(({ kind }) => kind)
    await setup.look(refused)
    await setup.pass(7 * minute)
    t.deepEqual([await openKinds(), await openKinds(systemOrganizationId)], [['alerts.undeliverable'], ['alerts.owner_unreachable']])
    await setup.channels.update(principal, channel.id, changes)
    t.deepEqual(await openKinds(), [], 'in the same write')
    await setup.pass(2 * minute)
    t.deepEqual([await openKinds(), (await openKinds(systemOrganizationId)).length], [[], 'enabled' in changes ? 1 : 0])
    await setup.fixture.assertSound(t)
  })

test('a deleted channel: the operator gets a finding if the others fail', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false })
  const { channel } = await addChat(t, setup, 'slack')
  await setup.look(refused)
  await setup.pass(2 * minute)
  t.deepEqual(await setup.findings(systemOrganizationId), [])
  await setup.channels.remove(principal, channel.id)
  await setup.pass(2 * minute)
  t.like(await setup.findings(systemOrganizationId), { length: 1, 0: { kind: 'alerts.owner_unreachable', state: 'open' } })
})

test('while mail of the service is late, mail channels fail and the other kinds arrive', async (t) => {
  const setup = await alertsFixture(t)
  const { receiver } = await addChat(t, setup, 'slack')
  await setup.look(refused)
  await setup.pass(40 * second) // nothing delivers the mail, which stays in the queue
  t.is(receiver.received.length, 1)
  await setup.pass(6 * minute)
  const open = (await setup.findings()).filter(({ kind, state }) => kind === 'alerts.undeliverable' && state === 'open')
  t.deepEqual(
    open.map(({ subject, params }) => [subject, params['reason']]),
    [['members', 'mail']],
  )
  t.deepEqual(await setup.findings(systemOrganizationId), [], 'another channel works')
})

test('without any channel that works, the operator gets a finding about the organization', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false })
  await setup.look(observed('domain.dkim', 'example.ch', {}, projectId))
  await setup.pass(minute)
  const [finding, ...others] = await setup.findings(systemOrganizationId)
  t.like(finding, { kind: 'alerts.owner_unreachable', subject: organizationId, state: 'open' })
  t.deepEqual(others, [])
  await addChat(t, setup, 'slack')
  await setup.pass(2 * minute)
  t.is((await setup.findings(systemOrganizationId))[0]?.state, 'over')
})

test('a message is written once, also if the process ends before or after the write', async (t) => {
  const setup = await alertsFixture(t)
  const { receiver } = await addChat(t, setup, 'slack')
  await setup.look(refused)
  setup.fixture.clock.advance(41 * second)
  const next = await setup.crash()
  await next.idle()
  const again = await next.crash()
  await again.pass(2 * minute)
  t.is((await again.deliveries()).length, 1)
  t.is(receiver.received.length, 1)
})

test('an idle daemon with 5 channels writes nothing', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  for (const kind of chats.slice(0, 5)) await addChat(t, setup, kind)
  await setup.pass(2 * minute)
  const rows = async (): Promise<string> => {
    const all: unknown[] = []
    for await (const { key, version } of setup.fixture.kv.range({ start: Buffer.alloc(0), end: Buffer.from([255]) }))
      all.push([Buffer.from(key).toString('hex'), version])
    return all.map(String).join('\n')
  }
  const before = await rows()
  await setup.pass(10 * minute, minute)
  t.is(await rows(), before)
})

test('channels of a removed organization no longer look, also if a finding is written at that time', async (t) => {
  const setup = await alertsFixture(t)
  await setup.look(refused)
  await setup.pass(minute)
  const { database, clock } = setup.fixture
  const dueRows = () => dueChannels(database, Number.MAX_SAFE_INTEGER - 1, 10)
  t.is((await dueRows()).length, 1, 'the error is repeated after a day')
  const stored = await database.get(organizations, { organizationId }, organizationId)
  await database.commit(new Change().replace(organizations, organizationId, stored!, { ...stored!.record, deletedAt: 1 }))
  t.true(await removeOrganization({ database, nowMs: clock.now(), stopping: () => false, keepsLinks: false }, organizationId))
  t.deepEqual(await dueRows(), [])
  const change = new Change()
  await lookBy(database, change, organizationId, 'members', clock.now())
  await database.commit(change)
  await setup.pass(2 * minute)
  t.deepEqual(await dueRows(), [])
  t.is((await readState(database, organizationId, 'members')).version, undefined)
  t.deepEqual(setup.fixture.errors, [])
})

test('an organization without members looks once a day while a finding is open', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  await setup.look(refused)
  await setup.pass(5 * minute)
  const version = async () => (await readState(setup.fixture.database, organizationId, 'members')).version
  const before = await version()
  await setup.pass(20 * 60 * minute, 20 * minute)
  t.is(await version(), before)
  await addOwner(setup.fixture, organizationId, owner)
  await setup.pass(5 * 60 * minute, 20 * minute)
  t.deepEqual(column(await setup.mails(), 'to'), [owner])
})

test('after the clock was a day ahead, alerts leave at their time', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { receiver } = await addChat(t, setup, 'slack')
  const day = 24 * 60 * minute
  const texts = (): readonly string[] => receiver.received.map(({ body }) => /(?:Error|Resolved) in [^"\\(]*/.exec(body)?.[0].trim() ?? '')
  setup.fixture.clock.step(day)
  await setup.look(refused)
  await setup.pass(minute)
  const waiting = observed('domain.dkim', 'example.ch', {}, projectId)
  await setup.look(refused, waiting)
  setup.fixture.clock.step(-day)
  await setup.pass(2 * minute)
  t.deepEqual(texts().slice(0, 1), ['Error in Acme: Postmark refuses the login'])
  t.regex(receiver.received[1]?.body ?? '', /DKIM/, 'it waited for its time')
  const sent = texts().length
  await setup.look(waiting)
  await setup.look(waiting, observed('destination.probe_failed', 'dst_2', {}, projectId))
  await setup.pass(12 * minute)
  const later = receiver.received.slice(sent).map(({ body }) => body)
  t.is(later.length, 2)
  t.regex(later[0] ?? '', /Error in/)
  t.regex(later[1] ?? '', /Resolved in Acme: Postmark refuses the login/)
  await setup.pass(60 * minute, minute)
  t.is(receiver.received.length, sent + 2)
  await setup.fixture.assertSound(t)
})

test('members who see billing get only alerts about quotas, and can decline them', async (t) => {
  const setup = await alertsFixture(t)
  const { database, clock } = setup.fixture
  const change = new Change()
  for (const [email, role] of [
    ['cashier@example.ch', 'billing'],
    ['reader@example.ch', 'viewer'],
  ] as const) {
    const user = addUser(database, change, email, clock.now())
    change.insert(members, organizationId, { id: user.id, organizationId, role, joinedAt: clock.now() })
  }
  await database.commit(change)
  const quota = observed('quota.used', 'credits', { limit: 'credits', used: 200, allowed: 200, percent: 100, project: '' })
  await setup.look(refused)
  await setup.pass(minute)
  t.deepEqual(column(await setup.mails(), 'to'), [owner])
  await setup.look(quota, observed('domain.dkim', 'example.ch', {}, projectId))
  await setup.pass(2 * minute)
  const [, ofOwner, ofCashier, ...others] = await setup.mails()
  t.deepEqual([ofOwner?.to, ofCashier?.to, others], [owner, 'cashier@example.ch', []])
  t.regex(ofOwner?.subject ?? '', /and 1 more/)
  t.regex(ofCashier?.subject ?? '', /The limit of 200 credits is reached$/)
  t.regex(ofCashier?.raw ?? '', /because your role includes billing/)
  t.notRegex(ofCashier?.raw ?? '', /DKIM/)
  const cashier = (await database.all(users, { organizationId: peoplePartition })).find(
    ({ record }) => record.email === 'cashier@example.ch',
  )
  if (cashier)
    await database.commit(new Change().rewrite(users, peoplePartition, cashier, { ...cashier.record, noAlertMail: true as const }))
  await setup.look()
  await setup.pass(12 * minute)
  t.deepEqual([...new Set(column((await setup.mails()).slice(3), 'to'))], [owner], 'the ends')
})

test('findings about channels end when the feature is turned off or the organization is deleted', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false })
  const { core } = setup.fixture
  const openKinds = async (organization?: string): Promise<string[]> =>
    column(
      (await setup.findings(organization)).filter(({ kind, state }) => kind.startsWith('alerts.') && state === 'open'),
      'kind',
    )
  const all = async (): Promise<unknown> => [await openKinds(), await openKinds(systemOrganizationId)]
  await addChat(t, setup, 'slack', (response) => response.writeHead(500).end())
  await setup.look(refused)
  await setup.pass(7 * minute)
  t.deepEqual(await all(), [['alerts.undeliverable'], ['alerts.owner_unreachable']])
  await core.operator.setFlags(organizationId, { alerts: false })
  await setup.pass(minute)
  t.deepEqual(await all(), [[], []])
  await core.operator.setFlags(organizationId, { alerts: true })
  await setup.pass(7 * minute)
  t.deepEqual(await all(), [[], []], 'the error was written, and is not repeated within a day')
  const { organization } = await core.organizations.create(principal, 'Team')
  await addOwner(setup.fixture, organization.id, 'team@example.ch')
  const team = { organizationId: organization.id, check: 'test', observed: [{ ...refused, projectId: '' }] }
  await setup.settle.settle(team)
  await setup.pass(2 * minute)
  t.deepEqual(await openKinds(systemOrganizationId), ['alerts.owner_unreachable'])
  await core.organizations.remove(principal, organization.id, { discardQueued: true })
  await setup.pass(minute)
  t.deepEqual(await openKinds(systemOrganizationId), [])
  await core.restoreOrganization(organization.id)
  await setup.settle.settle(team) // the deletion ended its findings
  await setup.pass(2 * minute)
  t.deepEqual(await openKinds(systemOrganizationId), ['alerts.owner_unreachable'], 'restored')
  await setup.fixture.assertSound(t)
})

test('mute: a muted warning that becomes an error is sent', async (t) => {
  const setup = await alertsFixture(t)
  const { findings: marks } = setup.fixture.core
  const bounced = observed('mail.bounced', projectId, { some: 3, all: 43, hours: 24, percent: 'none', project: 'Shop' }, projectId)
  await setup.look(bounced)
  const id = (await setup.findings())[0]?.id ?? ''
  const mute = () => marks.mute(principal, id, setup.fixture.clock.now() + 7 * 24 * 60 * minute)
  await marks.acknowledge(principal, id)
  await mute()
  await setup.pass(6 * minute, minute)
  t.is((await setup.mails()).length, 0)
  await setup.look({ ...bounced, severity: 'error' })
  await setup.pass(minute)
  t.is((await setup.mails()).length, 1)
  t.like(await setup.findings(), [{ severity: 'error', acknowledged: null, mutedUntil: null }])
  const { mutedUntil } = await mute()
  await setup.look(bounced)
  t.like(await setup.findings(), [{ severity: 'warning', mutedUntil }], 'a severity that falls keeps the mute')
})
