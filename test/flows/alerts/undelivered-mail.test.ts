/** The provider of mail of the service fails together with that of a tenant. */
import { members } from '#core/people/members/member.ts'
import { Change } from '#store/change.ts'
import test, { type ExecutionContext } from '#test'
import { addUser, userByEmail } from '#core/people/users/user.ts'
import { column } from '../../support/column.ts'
import { principal } from '../../core/core-fixture.ts'
import { AlertedDaemon, chatKinds, markers, minute, ownerAddress, second } from './alerted-daemon.ts'

const membersFail = 'alerts.undeliverable members'
const slowAddress = 'slow@tarpit.test'

test('while mail of the service waits, six kinds arrive and the mail channels are undeliverable', async (t) => {
  let isDown = false
  const here = await AlertedDaemon.start(t, {
    system: (step) => (isDown && step === 'greeting' ? `421 4.3.2 ${markers.reply}` : undefined),
  })
  const mailsBefore = here.mails().length
  isDown = true
  here.setPassword('changed at the provider')
  await here.submit(2)
  await here.daemon.pass(90 * second)
  for (const kind of chatKinds) t.is(here.alerts(kind).length, 1, kind)
  t.is(here.mails().length, mailsBefore)
  await here.daemon.pass(6 * minute)
  const open = (await here.open()).filter((one) => one.startsWith('alerts.'))
  t.deepEqual(open, [`alerts.undeliverable ${here.mailChannelId}`, membersFail])
  isDown = false
  await here.daemon.pass(40 * minute)
  t.true(here.mails().length >= mailsBefore + 2)
  t.deepEqual(
    (await here.open()).filter((one) => one.startsWith('alerts.')),
    [],
  )
  await here.assertSound(t)
})

test('a mail that is refused for good counts as undelivered, until a test arrives', async (t) => {
  let refuses = false
  const recipient = (): string | undefined => (refuses ? `550 5.1.1 ${markers.reply}` : undefined)
  const here = await AlertedDaemon.start(t, { system: { recipient }, chats: ['slack'] })
  refuses = true
  here.setPassword('changed at the provider')
  await here.submit(2)
  await here.daemon.pass(90 * second)
  t.is(here.alerts('slack').length, 1)
  await here.daemon.pass(6 * minute)
  const undeliverable = async () => (await here.open()).filter((one) => one.startsWith('alerts.'))
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${here.mailChannelId}`, membersFail])
  await here.daemon.rest.must('POST', `/v1/alert-channels/${here.mailChannelId}/test`)
  await here.daemon.pass(6 * minute)
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${here.mailChannelId}`, membersFail], 'the test was refused too')
  refuses = false
  await here.unsuppress()
  for (const id of [here.mailChannelId, 'members']) await here.daemon.rest.must('POST', `/v1/alert-channels/${id}/test`)
  t.is((await undeliverable()).length, 2, 'a queued mail proves nothing')
  await here.daemon.pass(6 * minute)
  t.deepEqual(await undeliverable(), [])
  await here.assertSound(t)
})

/** An admin with a `mail` channel at a provider that defers until `accept` is called. The channel fails. */
async function withSlowMember(t: ExecutionContext) {
  let isSlow = true
  const here = await AlertedDaemon.start(t, {
    chats: ['slack'],
    system: { recipient: (address) => (isSlow && address.endsWith('@tarpit.test') ? `451 4.7.1 ${markers.reply}` : undefined) },
  })
  const { rest, database, organizationId, clock } = here.daemon
  const undeliverable = async () => (await here.open()).filter((one) => one.startsWith('alerts.'))
  // the confirmation of a person who is no member waits in the queue
  await rest.must('POST', '/v1/alert-channels', { kind: 'mail', name: 'Stranger', target: { address: 'stranger@tarpit.test' } })
  await here.daemon.pass(minute)
  const mailsBefore = here.mails().length
  here.setPassword('changed at the provider')
  await here.submit(2)
  await here.daemon.pass(2 * minute)
  t.is(here.mails().length, mailsBefore + 2, 'to the owner, as a member and by the channel')
  await here.daemon.pass(12 * minute)
  t.deepEqual(await undeliverable(), [])
  t.is(here.alerts('slack').length, 1)
  const change = new Change()
  const { id: userId } = addUser(database, change, slowAddress, clock.now())
  change.insert(members, organizationId, { id: userId, organizationId, role: 'admin' as const, joinedAt: clock.now() })
  await database.commit(change)
  const { id } = await rest.must('POST', '/v1/alert-channels', { kind: 'mail', name: 'Slow', target: { address: slowAddress } })
  await here.daemon.pass(8 * minute)
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${String(id)}`], 'another member got the mail')
  return { here, userId, undeliverable, accept: () => (isSlow = false) }
}

test('a mailbox that defers makes its own channel fail, and no other, until it accepts', async (t) => {
  const { here, undeliverable, accept } = await withSlowMember(t)
  t.deepEqual(mailsTo(here, slowAddress), [])
  accept()
  await here.daemon.pass(60 * minute)
  t.true(mailsTo(here, slowAddress).some((mail) => /^Subject: Error in .*: Provider/m.test(mail)))
  t.deepEqual(await undeliverable(), [])
  const { data } = (await here.daemon.rest.must('GET', '/v1/findings?state=over&group=service')) as { data: readonly { kind: string }[] }
  t.deepEqual(column(data, 'kind'), ['alerts.undeliverable'])
  await here.assertSound(t)
})

test('a member who leaves while the own channel fails gets no alert later, and the channel fails no longer', async (t) => {
  const { here, userId, undeliverable, accept } = await withSlowMember(t)
  const { database, organizationId, part } = here.daemon
  const owner = await userByEmail(database, ownerAddress)
  const holder = { kind: 'user' as const, userId: owner?.record.id ?? '' }
  await part('people').members.remove({ ...principal, organizationId, holder }, userId)
  await here.daemon.pass(10 * minute)
  t.deepEqual(await undeliverable(), [])
  accept()
  const before = mailsTo(here, slowAddress).length
  here.setPassword('right')
  await here.daemon.pass(90 * minute)
  t.is(
    mailsTo(here, slowAddress)
      .slice(before)
      .filter((mail) => /^Subject: Resolved/m.test(mail)).length,
    0,
  )
  await here.assertSound(t)
})

const mailsTo = ({ system }: AlertedDaemon, address: string): readonly string[] =>
  system.deliveries.filter(({ to }) => to.includes(address)).map(({ text }) => text)
