/** A wrong password at the provider, from the submission of mail to the alert in each kind of channel. */
import test, { type ExecutionContext } from '#test'
import { AlertedDaemon, chatKinds, minute, second } from './alerted-daemon.ts'

/** Submits a message twice; each first attempt fails. */
async function failTwice(t: ExecutionContext, here: AlertedDaemon): Promise<void> {
  here.setPassword('changed at the provider')
  const before = here.signIns
  await here.submit()
  t.deepEqual(await here.open(), [])
  await here.daemon.pass(20 * second)
  await here.submit()
  t.is(here.signIns - before, 2)
}

for (const hasFallback of [false, true]) {
  const title = `a refused login reaches all seven kinds within 90 s${hasFallback ? ', also while a fallback delivers' : ''}`
  test(title, async (t) => {
    const here = await AlertedDaemon.start(t, { hasFallback })
    const mailsBefore = here.mails().length
    await failTwice(t, here)
    t.is(here.fallback.deliveries.length, hasFallback ? 2 : 0)
    await here.daemon.pass(90 * second)
    t.true((await here.open()).includes(`destination.login_refused ${here.destinationId}`))
    for (const kind of chatKinds) {
      t.is(here.alerts(kind).length, 1, kind)
      t.true(
        here.textsOf(kind).some((text) => text.includes('refuses its login (auth_failed)')),
        kind,
      )
      t.is(
        here.textsOf(kind).some((text) => text.includes('Spare delivers its mail meanwhile')),
        hasFallback,
        kind,
      )
    }
    const mails = here.mails().slice(mailsBefore)
    t.is(mails.length, 2, 'to the member, and to the address of the channel')
    for (const mail of mails) t.regex(mail, /^Subject: Error in .*: Provider refuses the/m)
    here.setPassword('right')
    await here.daemon.pass(100 * minute)
    for (const kind of chatKinds) {
      t.is(here.alerts(kind).length, 2, here.alerts(kind).join('\n'))
      t.regex(here.alerts(kind)[1] ?? '', kind === 'webhook' ? /"open":\[\],.*"over":\[\{/ : /It lasted/, kind)
    }
    t.false((await here.open()).some((one) => one.startsWith('destination.')))
    await here.assertSound(t)
  })
}

test('a hostile name of a destination arrives as these characters in all kinds', async (t) => {
  const name = '<!channel> @everyone [x](http://evil)'
  const here = await AlertedDaemon.start(t, { name })
  const mailsBefore = here.mails().length
  await failTwice(t, here)
  await here.daemon.pass(90 * second)
  for (const kind of chatKinds)
    t.true(
      here.textsOf(kind).some((text) => text.includes(`the destination ${name} refuses`)),
      `${kind}: ${here.alerts(kind).join('\n')}`,
    )
  for (const mail of here.mails().slice(mailsBefore)) {
    const [plain = '', html = ''] = mail
      .replaceAll('=\r\n', '')
      .replaceAll('=3D', '=')
      .split(/Content-Type: text\/html/)
    t.true(plain.replaceAll(/\r\n(?=\S)/g, ' ').includes(name), plain)
    t.true(html.includes('&lt;!channel&gt; @everyone [x](http://evil)'), html)
  }
})
