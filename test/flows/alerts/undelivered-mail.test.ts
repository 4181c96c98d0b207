/** The provider of mail of the service fails together with that of a tenant. */
import { members } from '#core/people/members/member.ts'
import { addUser } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import test from '#test'
import { AlertedDaemon, chatKinds, markers, minute, second } from './alerted-daemon.ts'

const membersFail = 'alerts.undeliverable members'

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

test('a mailbox that defers makes its own channel fail, and no other', async (t) => {
  const slow = 'slow@tarpit.test'
  const here = await AlertedDaemon.start(t, {
    chats: ['slack'],
    system: { recipient: (address) => (address.endsWith('@tarpit.test') ? `451 4.7.1 ${markers.reply}` : undefined) },
  })
  const { rest, database, organizationId, clock } = here.daemon
  // the confirmation of a person who is no member waits in the queue
  await rest.must('POST', '/v1/alert-channels', { kind: 'mail', name: 'Stranger', target: { address: 'stranger@tarpit.test' } })
  await here.daemon.pass(minute)
  const mailsBefore = here.mails().length
  here.setPassword('changed at the provider')
  await here.submit(2)
  await here.daemon.pass(2 * minute)
  t.is(here.mails().length, mailsBefore + 2, 'to the owner, as a member and by the channel')
  await here.daemon.pass(12 * minute)
  const undeliverable = async () => (await here.open()).filter((one) => one.startsWith('alerts.'))
  t.deepEqual(await undeliverable(), [])
  t.is(here.alerts('slack').length, 1)
  const change = new Change()
  const { id: userId } = addUser(database, change, slow, clock.now())
  change.insert(members, organizationId, { id: userId, organizationId, role: 'admin' as const, joinedAt: clock.now() })
  await database.commit(change)
  const { id } = await rest.must('POST', '/v1/alert-channels', { kind: 'mail', name: 'Slow', target: { address: slow } })
  await here.daemon.pass(8 * minute)
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${String(id)}`], 'another member got the mail')
  await here.assertSound(t)
})
