/**
 * Debian's Postfix as a satellite that submits to Postern. If Postern permanently refuses a message, Postfix returns it to the author
 * through Postern.
 */
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { testWith } from '../support/peers/peers.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { Postfix } from './postfix.ts'

testWith('postfix', 'sasl')("satellite: Postfix's bounce for a refusal reaches the author", async (t) => {
  await using outer = await temporaryFolder('satellite-postfix')
  await using folder = await temporaryFolder('satellite')
  await using sink = await Sink.listen()
  await using daemon = await Daemon.start({ folder: folder.path })
  const destination = await makeDestination(daemon.rest, { name: 'Provider', port: sink.port, mode: 'live' })
  const { username, password } = await makeLogin(daemon.rest, destination, { allowed_from_domains: ['site.test'] })
  const relay = `[127.0.0.1]:${String(portOf(daemon.addresses.submission[0]))}`
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: relay,
      smtp_sasl_auth_enable: 'yes',
      smtp_sasl_password_maps: `inline:{{${relay} = ${username}:${password}}}`,
      smtp_sasl_security_options: 'noanonymous',
    },
  })
  const client = await SmtpClient.connect({ port: postfix.port })
  const content = Buffer.from('From: author@foreign.test\r\nTo: anna@shop.test\r\nSubject: not mine to send\r\n\r\nHello\r\n')
  t.true((await client.send({ from: 'author@foreign.test', to: ['anna@shop.test'], content })).accepted)
  await client.quit()
  const bounce = await sink.delivered(({ to }) => to.includes('author@foreign.test'))
  t.is(bounce.from, '')
  const text = bounce.content.toString()
  t.regex(text, /^From: .*MAILER-DAEMON@smarthost\.test/m)
  t.regex(text, /553 5\.7\.1 MAIL FROM\s+author@foreign\.test is not\s+allowed/)
  t.false(sink.deliveries.some(({ to }) => to.includes('anna@shop.test')))
})
