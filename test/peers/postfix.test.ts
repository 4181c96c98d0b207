/**
 * Debian's Postfix as a customer's smart host: traces show its replies unchanged for accepted, deferred and refused mail, and accepted mail
 * leaves it unchanged.
 */
import type { ExecutionContext } from 'ava'
import { waitFor, waiting } from '../support/waits.ts'
import { makeCertificates, type CertificateFiles } from '../support/web/certificates.ts'
import { Daemon, portOf, type DaemonOptions } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin, type Login } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { traceIdOf } from '../support/smtp/smtp-replies.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { testWith } from '../support/peers/peers.ts'
import { servePolicy } from './policy.ts'
import { Postfix } from './postfix.ts'

const peers = testWith('postfix')

const deferral = '450 4.2.1 The mailbox is busy, try again'
const refusal = '550 5.1.1 Nobody of that name lives here'

/** Postfix in front of a sink. Postfix relays its mail unchanged after its own Received field. */
interface Neighbourhood extends AsyncDisposable {
  readonly sink: Sink
  readonly postfix: Postfix
  readonly certificates: CertificateFiles
  readonly folder: string
}

async function neighbourhood(): Promise<Neighbourhood> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('peer')).path
  const outer = cleanup.use(await temporaryFolder('postfix')).path
  const certificates = await makeCertificates(folder)
  const sink = cleanup.use(await Sink.listen())
  const seen = new Set<string>()
  const policy = cleanup.use(
    await servePolicy((recipient) => {
      if (recipient.startsWith('refuse')) return refusal
      const first = !seen.has(recipient)
      seen.add(recipient)
      return recipient.startsWith('busy') && first ? deferral : 'DUNNO'
    }),
  )
  const settings = {
    relayhost: `[127.0.0.1]:${String(sink.port)}`,
    smtpd_recipient_restrictions: `check_policy_service inet:127.0.0.1:${String(policy.port)}, permit_mynetworks, reject`,
    smtpd_tls_security_level: 'may',
    smtpd_tls_received_header: 'yes',
    smtpd_tls_cert_file: certificates.cert,
    smtpd_tls_key_file: certificates.key,
  }
  const postfix = cleanup.use(await Postfix.start({ folder: outer, settings }))
  const all = cleanup.move()
  return { sink, postfix, certificates, folder, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() }
}

/** Starts a daemon, which trusts the authority of the run only if the test requests it. */
function startDaemon({ folder }: Neighbourhood, trustedAuthority?: string): Promise<Daemon> {
  const env = { POSTERN_DELIVERY_RETRY_SECONDS: '1', ...(trustedAuthority !== undefined && { NODE_EXTRA_CA_CERTS: trustedAuthority }) }
  const options: DaemonOptions = { folder, env }
  return Daemon.start(options)
}

async function submit(daemon: Daemon, login: Login, to: readonly string[], content: Buffer): Promise<string> {
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]), security: 'starttls' }, login)
  const { accepted, reply } = await client.send({ from: 'web@site.test', to, content })
  await client.quit()
  const traceId = traceIdOf(reply)
  if (!accepted || traceId === undefined) throw new Error(`not accepted: ${reply.lines.join(' ')}`)
  return traceId
}

interface Trace {
  readonly status: string
  readonly text: string
  /** Returns every reply in the trace, one per line, with the text of the other server. */
  readonly replies: string
}

/** Waits until the trace has a wanted status. */
const traceWith = (daemon: Daemon, traceId: string, ...wanted: readonly string[]): Promise<Trace> =>
  waitFor(`trace ${traceId} is ${wanted.join(' or ')}`, async () => {
    const trace = await daemon.rest.must('GET', `/v1/traces/${traceId}`)
    const status = String(trace['status'])
    return wanted.includes(status) ? { status, text: JSON.stringify(trace), replies: repliesIn(trace).join('\n') } : undefined
  })

function repliesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { code, enhanced, text } = node as Readonly<Record<string, unknown>>
  if (typeof code === 'number' && typeof text === 'string') return [[code, enhanced, text].join(' ')]
  return Object.values(node).flatMap(repliesIn)
}

const letter = (subject: string): Buffer =>
  Buffer.from(
    `From: <web@site.test>\r\nTo: <to@shop.test>\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@site.test>\r\n` +
      'Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nX-Odd:  two  spaces \r\n\tand a fold\r\nMIME-Version: 1.0\r\n' +
      'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n' +
      `.a dot\r\n..two\r\n\r\nGrüezi mitenand\r\n${'x'.repeat(990)}\r\n\r\n.\r\n \r\n`,
  )

function endsWith(t: ExecutionContext, received: Buffer, sent: Buffer): void {
  t.is(received.subarray(received.length - sent.length).toString('latin1'), sent.toString('latin1'))
}

peers('Postfix: relayed mail is unchanged, deferred mail retried, refused mail failed', async (t) => {
  await using town = await neighbourhood()
  await using daemon = await startDaemon(town)
  const target = { name: 'Postfix', port: town.postfix.port, mode: 'live' as const }
  const login = await makeLogin(daemon.rest, await makeDestination(daemon.rest, target))

  const accepted = await submit(daemon, login, ['anna@shop.test', 'ben@shop.test'], letter('accepted'))
  const arrived = await waiting(
    'delivery',
    town.sink.delivered(({ content }) => content.includes('Subject: accepted')),
  )
  endsWith(t, arrived.content, letter('accepted'))
  t.deepEqual([...arrived.to].sort(), ['anna@shop.test', 'ben@shop.test'])
  const sent = await traceWith(daemon, accepted, 'sent')
  t.regex(sent.replies, /250 2\.0\.0 Ok: queued as [0-9A-Za-z]+/)

  const deferred = await submit(daemon, login, ['busy@shop.test'], letter('deferred'))
  const late = await waiting(
    'delivery after a deferral',
    town.sink.delivered(({ content }) => content.includes('Subject: deferred')),
  )
  endsWith(t, late.content, letter('deferred'))
  const twice = await traceWith(daemon, deferred, 'sent')
  t.true(twice.replies.includes(verbatim(deferral, 'busy@shop.test')), twice.text)

  const refused = await submit(daemon, login, ['refuse@shop.test', 'carla@shop.test'], letter('refused'))
  const failed = await traceWith(daemon, refused, 'failed')
  t.true(failed.replies.includes(verbatim(refusal, 'refuse@shop.test')), failed.text)
  const rest = await waiting(
    'delivery to the other recipient',
    town.sink.delivered(({ content }) => content.includes('Subject: refused')),
  )
  t.deepEqual(rest.to, ['carla@shop.test'])
  t.is(town.sink.deliveries.length, 3, 'ledger: each mail arrives once')
  t.is((await daemon.stop()).code, 0)
})

peers('serve uses STARTTLS with Postfix only when it trusts the certificate, unless told otherwise', async (t) => {
  await using town = await neighbourhood()
  const credentials = { host: 'localhost', security: 'starttls' }
  const target = { name: 'Postfix', port: town.postfix.port, mode: 'live' as const }
  {
    await using daemon = await startDaemon(town)
    const strict = await makeLogin(daemon.rest, await makeDestination(daemon.rest, { ...target, credentials }))
    const traceId = await submit(daemon, strict, ['anna@shop.test'], letter('untrusted'))
    const trace = await waitFor('an attempt that failed over the certificate', async () => {
      const text = JSON.stringify(await daemon.rest.must('GET', `/v1/traces/${traceId}`))
      return /certificate|self.signed|issuer/i.test(text) ? text : undefined
    })
    t.regex(trace, /"status":"(?:queued|failed)"/)
    t.is(town.sink.deliveries.length, 0)

    const lax = { ...credentials, tls_policy: 'insecure' }
    const relaxed = await makeLogin(daemon.rest, await makeDestination(daemon.rest, { ...target, name: 'lax', credentials: lax }))
    const insecure = await submit(daemon, relaxed, ['anna@shop.test'], letter('insecure'))
    t.regex((await traceWith(daemon, insecure, 'sent')).text, /TLSv1\.3/)
    await daemon.kill()
  }
  await using daemon = await startDaemon({ ...town, folder: `${town.folder}/second` }, town.certificates.ca)
  const login = await makeLogin(daemon.rest, await makeDestination(daemon.rest, { ...target, credentials }))
  const trusted = await submit(daemon, login, ['anna@shop.test'], letter('trusted'))
  t.regex((await traceWith(daemon, trusted, 'sent')).text, /TLSv1\.3/)
  const arrived = await waiting(
    'delivery',
    town.sink.delivered(({ content }) => content.includes('Subject: trusted')),
  )
  t.regex(arrived.content.toString('latin1'), /using TLSv1\.3/)
})

/** Postfix inserts the address between the enhanced code and the text of a policy's reply. */
const verbatim = (action: string, recipient: string): string => {
  const [, codes = '', text = ''] = /^(\S+ \S+) (.*)$/.exec(action) ?? []
  return `${codes} <${recipient}>: Recipient address rejected: ${text}`
}
