/** Channels: targets, limits, confirmation by recipients, tests, the channel of the members, and mails about changes. */
import test from '#test'
import { alertChannels } from '#core/alerts/channels/alert-channel.ts'
import type { TargetInput } from '#core/alerts/channels/channel-target.ts'
import type { TargetKind } from '#core/alerts/channels/alert-channel.ts'
import { users } from '#core/people/users/user.ts'
import { auditEntries } from '#core/writes/audit.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { organizationId, principal, projectId } from '../core-fixture.ts'
import { alertsFixture, minute, owner, refused } from './alerts-fixture.ts'
import { column } from '../../support/column.ts'

const page = { limit: 50 }
const bound = { ...principal, bound: true, projectId }

test('targets: each kind has its fields, and bad ones are refused by name', async (t) => {
  const { channels } = await alertsFixture(t)
  const refusal = async (kind: TargetKind, target: TargetInput) => {
    const { details } = (await t.throwsAsync(channels.create(principal, { kind, name: 'x', target }))) as unknown as {
      details: { fields: readonly { path: string; message: string }[] }
    }
    return JSON.stringify(details)
  }
  t.regex(await refusal('slack', {}), /target\.url.*is required for the kind slack/)
  t.regex(await refusal('slack', { url: 'https://hooks.slack.example/x', token: 'x' }), /target\.token.*is no field/)
  t.regex(await refusal('slack', { url: 'http://127.0.0.2/x' }), /target\.url.*private address/)
  for (const url of [
    'https://contoso.webhook.office.com/x',
    'https://webhook.office.com./x',
    'https://outlook.office.com/webhook/x/IncomingWebhook/y',
    'https://outlook.office365.com/webhook/x/IncomingWebhook/y',
  ])
    t.regex(await refusal('teams', { url }), /target\.url.*retired/)
  t.regex(await refusal('telegram', { botToken: 'x', chatId: '1' }), /target\.bot_token/)
  t.regex(await refusal('ntfy', { topic: 'a b' }), /target\.topic/)
  t.regex(await refusal('mail', { address: 'x' }), /target\.address/)
})

test('a target is sealed, and shown with its last characters only', async (t) => {
  const setup = await alertsFixture(t)
  const url = 'https://hooks.slack.example/services/T0000/B0000/abcdefx7Qp'
  const { id } = await setup.channel({ kind: 'slack', target: { url } })
  const channel = await setup.channels.get(principal, id)
  t.is(channel.shown, 'hooks.slack.example/…x7Qp')
  t.notRegex(JSON.stringify(channel), /services|abcdef/)
  const { channel: hook, secret } = await setup.channels.create(principal, { kind: 'webhook', name: 'w', target: { url } })
  t.regex(secret ?? '', /^whsec_/)
  t.is((await setup.channels.update(principal, hook.id, { name: 'W' })).secret, null)
  const acts = column(await setup.fixture.database.all(auditEntries, { organizationId }), 'record')
  t.deepEqual(column(acts, 'act'), ['alert_channel.created', 'alert_channel.created', 'alert_channel.updated'])
  t.notRegex(JSON.stringify(acts), /services|abcdef|v1\./)
  const mails = (await setup.mails()).filter(({ to }) => to === owner)
  const added = 'Alert channel added in Acme'
  t.deepEqual(column(mails, 'subject').toSorted(), [added, added, 'Alert channel changed in Acme'])
  await setup.fixture.assertSound(t)
})

test('an organization has at most 20 channels', async (t) => {
  const { channels } = await alertsFixture(t)
  const target = { url: 'https://hooks.slack.example/x' }
  for (let i = 0; i < 20; i++) await channels.create(principal, { kind: 'slack', name: `c${i}`, target })
  await t.throwsAsync(channels.create(principal, { kind: 'slack', name: 'one more', target }), { message: /at most 20/ })
  const first = await channels.list(principal, { limit: 15 })
  const second = await channels.list(principal, { limit: 15, cursor: first.nextCursor })
  t.deepEqual([first.rows.length, second.rows.length, second.nextCursor], [15, 6, undefined])
  t.is(first.rows[0]?.id, 'members')
})

test('an outsider confirms an address by the link, and can end the alerts', async (t) => {
  const setup = await alertsFixture(t, { hasOwner: false })
  const { confirmations, channels } = { confirmations: setup.fixture.part('alerts').alertConfirmations, channels: setup.channels }
  const { id } = await setup.channel({ kind: 'mail', target: { address: 'Team@Example.net' } })
  const [mail, ...others] = await setup.mails()
  t.deepEqual([mail?.to, others.length], ['team@example.net', 0])
  const token = /alert-channels\/([\w.-]+)/.exec(mail!.raw.replaceAll('=\r\n', ''))?.[1] ?? ''
  await setup.look(refused)
  await setup.pass(minute)
  t.is((await setup.mails()).length, 1, 'nothing is sent before')
  t.like(await confirmations.look(token), { address: 'team@example.net' })
  await confirmations.confirm(token)
  await setup.pass(minute)
  t.is((await setup.mails()).length, 2)
  await confirmations.stop(token)
  t.like(await channels.get(principal, id), { isOn: true, confirmedAt: null })
  await t.throwsAsync(confirmations.look(token.replace('alc_', 'alc_0')), { message: /no longer valid/ })
  await channels.remove(principal, id)
  await t.throwsAsync(confirmations.look(token), { message: /no longer valid/ })
  await setup.fixture.assertSound(t)
})

test('without system mail, an address of an outsider is refused', async (t) => {
  const { channels } = await alertsFixture(t, { hasMail: false })
  const target = { address: 'team@example.net' }
  await t.throwsAsync(channels.create(principal, { kind: 'mail', name: 'Team', target }), { message: /POSTERN_SYSTEM_DESTINATION/ })
})

test('the members are turned off only while another channel passed its test', async (t) => {
  const setup = await alertsFixture(t)
  const off = { enabled: false }
  await t.throwsAsync(setup.channels.update(principal, 'members', off), { message: /No other channel for all projects works/ })
  const receiver = await receiverOf(t)
  const { id } = await setup.channel({ kind: 'slack', target: { url: receiver.url } })
  await setup.fixture.part('alerts').channelTests.run(principal, id, new AbortController().signal)
  t.like(await setup.channels.get(principal, id), { lastTest: { isGood: true, status: 204 } })
  t.false((await setup.channels.update(principal, 'members', off)).channel.isOn)
  await t.throwsAsync(setup.channels.remove(principal, 'members'), { message: /cannot be deleted/ })
  const sent = (await setup.mails()).length
  await setup.look(refused)
  await setup.pass(minute)
  t.is((await setup.mails()).length, sent)
  t.is(receiver.received.length, 2)
})

test('the last channel that works cannot be turned off or deleted', async (t) => {
  const setup = await alertsFixture(t)
  const receiver = await receiverOf(t)
  const { id } = await setup.channel({ kind: 'slack', target: { url: receiver.url } })
  await setup.fixture.part('alerts').channelTests.run(principal, id, new AbortController().signal)
  const off = { enabled: false }
  await setup.channels.update(principal, 'members', off)
  for (const change of [() => setup.channels.update(principal, id, off), () => setup.channels.remove(principal, id)])
    await t.throwsAsync(change, { code: 'conflict', message: /^No other channel .* Turn on mail to the members first/ })
  await setup.channels.update(principal, 'members', { enabled: true })
  receiver.answer = (response) => response.writeHead(500).end()
  await setup.look(refused)
  await setup.pass(7 * minute)
  await t.throwsAsync(setup.channels.update(principal, 'members', off), { message: /No other channel/ }, 'the other one fails')
  await setup.channels.remove(principal, id)
  t.is((await setup.channels.list(principal, { limit: 50 })).rows.length, 1)
})

test('a person can decline alerts', async (t) => {
  const setup = await alertsFixture(t)
  const [user] = await setup.fixture.database.all(users, { organizationId: 'people' })
  const person = { ...principal, holder: { kind: 'user', userId: user!.record.id } } as typeof principal
  const { mailChoices } = setup.fixture.part('people')
  t.deepEqual(await mailChoices.of(person), { approvals: true, alerts: true })
  t.deepEqual(await mailChoices.change(person, { alerts: false }), { approvals: true, alerts: false })
  t.deepEqual(await mailChoices.change(person, { approvals: false }), { approvals: false, alerts: false })
  await setup.look(refused)
  await setup.pass(minute)
  t.deepEqual(await setup.mails(), [])
})

test('a key of one project changes channels of its project only', async (t) => {
  const setup = await alertsFixture(t)
  const target = { url: 'https://hooks.slack.example/x' }
  const wide = await setup.channel({ kind: 'slack', target })
  await t.throwsAsync(setup.channels.update(bound, wide.id, { name: 'mine' }), { message: /belongs to the organization/ })
  await t.throwsAsync(setup.channels.remove(bound, wide.id), { message: /belongs to the organization/ })
  const { channel } = await setup.channels.create(bound, { kind: 'slack', name: 'own', target })
  t.is(channel.projectId, projectId)
  t.is((await setup.channels.list(bound, page)).rows.length, 3)
  await setup.channels.remove(bound, channel.id)
  t.is((await setup.fixture.database.all(alertChannels, { organizationId })).length, 1)
})
