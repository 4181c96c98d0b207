/** Real bounces: Debian's Postfix takes mail from the daemon, is refused by the far end, and sends its notice back. */
import test, { type ExecutionContext } from 'ava'
import { Daemon, portOf } from '../support/daemon.ts'
import { eventually } from '../support/deadline.ts'
import { makeDestination, makeLogin } from '../support/provision.ts'
import type { RestClient } from '../support/rest.ts'
import { Sink } from '../support/sink.ts'
import { SmtpClient } from '../support/smtp-client.ts'
import { traceIdOf } from '../support/smtp-replies.ts'
import { temporaryFolder } from '../support/workspace.ts'
import { Postfix, postfixIsInstalled } from './postfix.ts'

const peers = (await postfixIsInstalled()) ? test : test.skip
const [anna, ben] = ['anna@shop.test', 'ben@shop.test'] as const

interface Recipient {
  readonly address: string
  readonly status: string
}

/** Submits a message to both and gives back the id of its trace. */
async function submit(daemon: Daemon, destinationId: string, settings: Readonly<Record<string, unknown>>): Promise<string> {
  const login = await makeLogin(daemon.rest, destinationId, settings)
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.submission[0]) })
  await client.authenticate(login.username, login.password)
  const content = Buffer.from(`From: web@site.test\r\nTo: ${anna}, ${ben}\r\nSubject: Your order\r\n\r\nHello\r\n`)
  const { reply } = await client.send({ from: 'web@site.test', to: [anna, ben], content })
  await client.quit()
  return String(traceIdOf(reply))
}

/** The trace once its status is as told; and the status of each recipient. */
async function settled(t: ExecutionContext, rest: RestClient, id: string, status: string): Promise<Record<string, unknown>> {
  const trace = await eventually(30_000, `the trace is ${status}`, async () => {
    const found = await rest.must('GET', `/v1/traces/${id}`)
    return found['status'] === status ? found : undefined
  })
  t.log((trace['recipients'] as Recipient[]).map(({ address, status: one }) => `${address} ${one}`))
  return trace
}

const statuses = (trace: Record<string, unknown>): string[] =>
  (trace['recipients'] as Recipient[]).map(({ address, status }) => `${address} ${status}`)

peers('A bounce of Postfix comes back over MX to the return path of its recipient (needs the package postfix)', async (t) => {
  t.timeout(90_000)
  await using outer = await temporaryFolder('postfix')
  await using folder = await temporaryFolder('bounces')
  await using sink = await Sink.listen({
    recipient: (address) => (address === anna ? '550 5.1.1 <anna@shop.test>: no such user' : undefined),
  })
  await using daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_INBOUND_DOMAIN: 'bounces.site.test' } })
  await using postfix = await Postfix.start({
    folder: outer.path,
    settings: {
      relayhost: `[127.0.0.1]:${String(sink.port)}`,
      transport_maps: `inline:{{bounces.site.test = smtp:[127.0.0.1]:${String(portOf(daemon.addresses.mx[0]))}}}`,
      smtp_tls_security_level: 'may',
    },
  })
  const destination = await makeDestination(daemon.rest, { name: 'Postfix', port: postfix.port, mode: 'live' })
  const id = await submit(daemon, destination, { verp_enabled: true })

  const trace = await settled(t, daemon.rest, id, 'bounced')
  t.deepEqual(statuses(trace), [`${anna} bounced`, `${ben} sent`])
  t.regex(JSON.stringify(trace['timeline']), /no such user/)
  await sink.delivered(({ to }) => to.includes(ben))
  // the notice went over TLS, and nothing was sent back for it
  await eventually(10_000, 'Postfix is done', async () =>
    /to=<b\S+@bounces\.site\.test>.*status=sent \(250 2\.0\.0/.test(await postfix.log()) ? true : undefined,
  )
  t.notRegex(await postfix.log(), /status=deferred/)
})
