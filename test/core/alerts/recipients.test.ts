/** Recipients of `mail` channels: members who leave, and the link in each mail that ends the alerts. */
import test from '#test'
import { readState, writeState } from '#core/alerts/channel-state.ts'
import { observed } from '#core/findings/finding.ts'
import { members } from '#core/people/members/member.ts'
import { addUser, peoplePartition, userByEmail, users } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { alertsFixture, minute, owner, refused, type AlertsFixture } from './alerts-fixture.ts'

const leaver = 'leaver@example.ch'

/** Adds an admin with a `mail` channel, which needs no confirmation. */
async function addLeaver(setup: AlertsFixture): Promise<{ readonly userId: string; readonly channelId: string }> {
  const { database, clock } = setup.fixture
  const change = new Change()
  const { id: userId } = addUser(database, change, leaver, clock.now())
  change.insert(members, organizationId, { id: userId, organizationId, role: 'admin' as const, joinedAt: clock.now() })
  await database.commit(change)
  const { id: channelId, confirmedAt } = await setup.channel({ kind: 'mail', target: { address: leaver } })
  if (confirmedAt === null) throw new Error('a member has the address')
  await setup.pass(2 * minute)
  return { userId, channelId }
}

async function remove(setup: AlertsFixture, userId: string): Promise<void> {
  const user = await userByEmail(setup.fixture.database, owner)
  await setup.fixture.part('people').members.remove({ ...principal, holder: { kind: 'user', userId: user!.record.id } }, userId)
}

const mailsTo = async (setup: AlertsFixture, address: string) =>
  (await setup.mails()).filter(({ to, subject }) => to === address && /Error|Test/.test(subject))

test('a member who leaves gets no alert by a channel with their address', async (t) => {
  const setup = await alertsFixture(t)
  const { userId, channelId } = await addLeaver(setup)
  await remove(setup, userId)
  t.is((await setup.channels.get(principal, channelId)).confirmedAt, null)
  await setup.look(refused)
  await setup.pass(2 * minute)
  t.is((await mailsTo(setup, owner)).length, 1)
  t.deepEqual(await mailsTo(setup, leaver), [])
  const run = setup.fixture.part('alerts').channelTests.run(principal, channelId, new AbortController().signal)
  await t.throwsAsync(run, { message: /has not confirmed/ })
  const { channel } = await setup.channels.update(principal, channelId, { name: 'Renamed' })
  t.is(channel.confirmedAt, null)
  await setup.fixture.assertSound(t)
})

test('a member who leaves after a finding opened gets neither the alert nor its end', async (t) => {
  const setup = await alertsFixture(t)
  const { userId } = await addLeaver(setup)
  await setup.look(refused)
  await remove(setup, userId)
  await setup.pass(2 * minute)
  await setup.look()
  await setup.pass(12 * minute)
  t.deepEqual(await mailsTo(setup, leaver), [])
})

test('a member who leaves while the own channel fails ends the finding about it', async (t) => {
  const setup = await alertsFixture(t)
  const { userId, channelId } = await addLeaver(setup)
  const { database, clock } = setup.fixture
  const change = new Change()
  const before = await readState(database, organizationId, channelId)
  const unchecked = [[clock.now(), '', ['mail_1']]] as const
  writeState(change, organizationId, channelId, before, { ...before.state, unchecked, failingSince: clock.now(), dueMs: clock.now() })
  await database.commit(change)
  await setup.settle.settle({
    ...{ organizationId, check: 'alerts.channels' },
    observed: [observed('alerts.undeliverable', channelId, { channel: 'Leaver', reason: 'mail' })],
  })
  const states = async () => (await setup.findings()).map(({ kind, state }) => `${kind} ${state}`)
  t.deepEqual(await states(), ['alerts.undeliverable open'])
  await remove(setup, userId)
  await setup.pass(25 * 60 * minute, 60 * minute)
  t.deepEqual(await states(), ['alerts.undeliverable over'])
})

test('each mail of a channel has the link that ends its alerts, also for a member', async (t) => {
  const setup = await alertsFixture(t)
  const { userId, channelId } = await addLeaver(setup)
  const { channelTests, alertConfirmations } = setup.fixture.part('alerts')
  await channelTests.run(principal, channelId, new AbortController().signal)
  await setup.look(refused)
  await setup.pass(2 * minute)
  const tokens = (await mailsTo(setup, leaver)).map(
    ({ raw }) => /post\.example\.ch\/alert-channels\/([\w.-]+)/.exec(raw.replaceAll('=\r\n', ''))?.[1],
  )
  const [token = ''] = tokens
  t.is(tokens.length, 3, 'a test, an alert by the channel, and an alert to the members')
  t.deepEqual(
    tokens.filter((one) => one !== undefined),
    [token, token],
  )
  t.true((await alertConfirmations.look(token)).channel.confirmedAt !== null)
  await alertConfirmations.stop(token)
  t.is((await setup.channels.get(principal, channelId)).confirmedAt, null)
  await alertConfirmations.confirm(token)
  await remove(setup, userId)
  t.true((await setup.channels.get(principal, channelId)).confirmedAt !== null, 'the person agreed by the link')
})

test('an address and the members get five test mails an hour, and people who declined alerts none', async (t) => {
  const setup = await alertsFixture(t)
  const { channelId } = await addLeaver(setup)
  const again = await setup.channel({ kind: 'mail', target: { address: leaver } })
  const run = (id: string) => setup.fixture.part('alerts').channelTests.run(principal, id, new AbortController().signal)
  for (const id of [channelId, again.id, channelId, again.id, channelId]) await run(id)
  for (const id of [channelId, again.id]) await t.throwsAsync(run(id), { message: /five test mails/ })
  t.is((await mailsTo(setup, leaver)).length, 5)
  const { database } = setup.fixture
  const user = await userByEmail(database, leaver)
  await database.commit(new Change().rewrite(users, peoplePartition, user!, { ...user!.record, noAlertMail: true as const }))
  for (let i = 0; i < 5; i++) await run('members')
  await t.throwsAsync(run('members'), { message: /five test mails/ })
  t.deepEqual([(await mailsTo(setup, owner)).length, (await mailsTo(setup, leaver)).length], [5, 5])
  await setup.pass(61 * minute, 10 * minute)
  await run(channelId)
  t.is((await mailsTo(setup, leaver)).length, 6)
})
