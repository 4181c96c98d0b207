/** VERP with Debian's Postfix as smart host: it passes on the return path of each copy, or refuses it at RCPT (its default). */
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { waitFor } from '../support/waits.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { traceIdOf } from '../support/smtp/smtp-replies.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { testWith } from '../support/peers/peers.ts'
import { Postfix } from './postfix.ts'

const peers = testWith('postfix')
const two = ['anna@shop.test', 'ben@shop.test']

interface Recipient {
  readonly address: string
  readonly return_path: string | null
}

peers('Postfix relays every copy under its return path, and gets the plain one where it refuses it', async (t) => {
  await using outer = await temporaryFolder('postfix')
  await using folder = await temporaryFolder('verp-peer')
  await using sink = await Sink.listen()
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: `[127.0.0.1]:${String(sink.port)}`,
      smtpd_sender_restrictions: 'check_sender_access inline:{{foreign.test = REJECT not owned by this login}}',
    },
  })
  await using daemon = await Daemon.start({ folder: folder.path })
  const { rest } = daemon
  const destination = await makeDestination(rest, { name: 'Postfix', port: postfix.port, mode: 'live' })

  /** Submits to both recipients with a bounce domain. Returns recipients and timeline of the trace, and the received mail. */
  const relay = async (bounceDomain: string) => {
    const login = await makeLogin(rest, destination, { verp_enabled: true, verp_bounce_domain: bounceDomain })
    const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
    const content = Buffer.from(`From: web@site.test\r\nTo: ${two.join(', ')}\r\nSubject: ${bounceDomain}\r\n\r\nHello\r\n`)
    const { reply } = await client.send({ from: 'web@site.test', to: two, content })
    await client.quit()
    const trace = await waitFor(`the mail with ${bounceDomain} is sent`, async () => {
      const found = await rest.must('GET', `/v1/traces/${String(traceIdOf(reply))}`)
      return found['status'] === 'sent' ? found : undefined
    })
    for (const address of two)
      await sink.delivered(({ to, content: body }) => to.includes(address) && body.includes(`Subject: ${bounceDomain}\r\n`))
    const arrived = sink.deliveries.filter(({ content: body }) => body.includes(`Subject: ${bounceDomain}\r\n`))
    const envelopes = arrived.map(({ from, to }) => `${to.join(' ')} ${from}`).toSorted()
    const paths = (trace['recipients'] as Recipient[]).map(({ address, return_path }) => `${address} ${String(return_path)}`)
    return { envelopes, paths, timeline: JSON.stringify(trace['timeline']) }
  }

  const kept = await relay('bounces.site.test')
  t.deepEqual(kept.envelopes, kept.paths)
  for (const path of kept.paths) t.regex(path, / b[0-9a-hjkmnp-tv-z]{21}@bounces\.site\.test$/)
  t.is(new Set(kept.paths.map((path) => path.split(' ')[1])).size, 2)

  const refused = await relay('foreign.test')
  t.deepEqual(
    refused.envelopes,
    two.map((address) => `${address} web@site.test`),
  )
  t.deepEqual(refused.paths, refused.envelopes)
  t.regex(
    refused.timeline,
    /refused the return paths of VERP \(554 <b\S+@foreign\.test>: Sender address rejected: not owned by this login\)/,
  )
})
