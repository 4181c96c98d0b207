/** The provider of mail of the service fails together with that of a tenant. */
import test from '#test'
import { AlertedDaemon, chatKinds, markers, minute, second } from './alerted-daemon.ts'

const members = 'alerts.undeliverable members'

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
  t.deepEqual(open, [`alerts.undeliverable ${here.mailChannelId}`, members])
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
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${here.mailChannelId}`, members])
  await here.daemon.rest.must('POST', `/v1/alert-channels/${here.mailChannelId}/test`)
  await here.daemon.pass(6 * minute)
  t.deepEqual(await undeliverable(), [`alerts.undeliverable ${here.mailChannelId}`, members], 'the test was refused too')
  refuses = false
  await here.unsuppress()
  for (const id of [here.mailChannelId, 'members']) await here.daemon.rest.must('POST', `/v1/alert-channels/${id}/test`)
  t.is((await undeliverable()).length, 2, 'a queued mail proves nothing')
  await here.daemon.pass(6 * minute)
  t.deepEqual(await undeliverable(), [])
  await here.assertSound(t)
})
