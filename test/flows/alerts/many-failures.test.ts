/** Many failing messages are one alert, their repair is one end, and a short failure is none. */
import test from '#test'
import { AlertedDaemon, markers, minute, second } from './alerted-daemon.ts'

const faults = {
  'a refused login': (here: AlertedDaemon) => here.setPassword('changed at the provider'),
  'a busy provider': (here: AlertedDaemon) => {
    here.provider.script = (step) => (step === 'greeting' ? `451 4.3.2 ${markers.reply}` : undefined)
  },
} as const

const repair = (here: AlertedDaemon): void => {
  here.setPassword('right')
  here.provider.script = {}
}

for (const [name, fail] of Object.entries(faults)) {
  test(`${name}: 1,000 messages make one alert, and the repair one end`, async (t) => {
    const here = await AlertedDaemon.start(t, { chats: ['slack'] })
    const mailsBefore = here.mails().length
    fail(here)
    await here.submit(1000)
    await here.daemon.pass(30 * minute)
    t.is(here.alerts('slack').length, 1, here.alerts('slack').join('\n'))
    repair(here)
    await here.daemon.pass(45 * minute)
    t.is(here.provider.deliveries.length, 1000)
    t.is(here.alerts('slack').length, 2, here.alerts('slack').join('\n'))
    t.regex(here.alerts('slack')[1] ?? '', /^\{"text":"Resolved in/)
    t.is(here.mails().length - mailsBefore, 4, 'two recipients got both')
    await here.assertSound(t)
  })

  test(`${name}: for 20 s makes no alert`, async (t) => {
    const here = await AlertedDaemon.start(t, { chats: ['slack'] })
    for (const offset of [0, 17]) {
      await here.daemon.pass(90 * minute + offset * second) // the figures of the last fault are past
      fail(here)
      for (let n = 0; n < 20; n++) {
        if (n === 10) repair(here)
        await here.submit()
        await here.daemon.pass(2 * second)
      }
      await here.daemon.pass(10 * minute)
    }
    t.is(here.provider.deliveries.length, 40)
    t.deepEqual(here.alerts('slack'), [])
  })
}
