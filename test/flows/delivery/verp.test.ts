/** VERP with a real daemon: it accepts a message by SMTP, and a smart host gets a transaction for each recipient. */
import test, { type ExecutionContext } from '#test'
import { portOf, type Daemon } from '../../support/daemon/daemon.ts'
import { livesOf, type Lives } from '../../support/daemon/daemon-lives.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeLogin, type Login } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import type { SinkRules } from '../../support/smtp/sink-script.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { column } from '../../support/column.ts'
import { assertVerified } from '../../support/problems.ts'

const [anna, ben, carl] = ['anna@peer.test', 'ben@peer.test', 'carl@peer.test'] as const
const three = [anna, ben, carl]
const returnPath = /^b[0-9a-hjkmnp-tv-z]{21}@bounces\.site\.test$/
const content = 'From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: Your order\r\n\r\nThank you.\r\n'

interface Place extends Pick<Lives, 'start' | 'verify'> {
  readonly sink: Sink
  readonly daemon: Daemon
  readonly login: Login
}

async function place(t: ExecutionContext, script: SinkRules = {}): Promise<Place> {
  const sink = await Sink.listen({ script })
  const { start, verify } = await livesOf(t, 'verp', { POSTERN_INBOUND_DOMAIN: 'bounces.site.test' }, sink)
  const daemon = await start()
  const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' })
  const login = await makeLogin(daemon.rest, destination, { verp_enabled: true })
  return { sink, daemon, login, start, verify }
}

/** Submits to all three recipients and returns the trace id. */
async function submit({ daemon, login }: Place): Promise<string> {
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const { accepted, reply } = await client.send({ from: 'shop@site.test', to: three, content: Buffer.from(content) })
  await client.quit()
  const [id] = /[0-9a-f-]{36}/.exec(reply.lines.join(' ')) ?? []
  if (!accepted || id === undefined) throw new Error(`refused: ${reply.lines.join(' ')}`)
  return id
}

interface Recipient {
  readonly address: string
  readonly status: string
  readonly return_path: string | null
}

const sent = ({ rest }: Daemon, id: string) =>
  waitFor('the trace is sent', async () => {
    const trace = await rest.must('GET', `/v1/traces/${id}`)
    return trace['status'] === 'sent' ? { trace, recipients: trace['recipients'] as Recipient[] } : undefined
  })

test.serial('VERP: each recipient gets a separate transaction with a separate return path', async (t) => {
  const here = await place(t)
  const id = await submit(here)
  const { recipients } = await sent(here.daemon, id)
  const { deliveries } = here.sink
  t.deepEqual(column(deliveries, 'to'), [[anna], [ben], [carl]])
  for (const { from } of deliveries) t.regex(from, returnPath)
  t.is(new Set(deliveries.map(({ from }) => from)).size, 3)
  t.is(new Set(deliveries.map(({ content: body }) => body.toString())).size, 1, 'the copies do not differ')
  t.deepEqual(
    column(recipients, 'return_path'),
    deliveries.map(({ from }) => from),
  )
  t.is((await here.daemon.stop()).code, 0)
  assertVerified(t, await here.verify())
})

test.serial('VERP: after a kill, recipients that accepted get no second copy', async (t) => {
  const { promise: second, resolve: secondCame } = Promise.withResolvers<void>()
  const script: SinkRules = {
    message: async (_from, to) => {
      if (!to.includes(ben)) return undefined
      secondCame()
      return new Promise<undefined>(() => {})
    },
  }
  const here = await place(t, script)
  const id = await submit(here)
  await waiting('the second copy is under way', second)
  await here.daemon.kill()
  here.sink.script = {}
  const next = await here.start()
  const { trace, recipients } = await sent(next, id)
  t.deepEqual(column(here.sink.deliveries, 'to'), [[anna], [ben], [carl]], 'ledger: each recipient gets it once')
  t.deepEqual(column(recipients, 'status'), ['sent', 'sent', 'sent'])
  t.regex(JSON.stringify(trace['timeline']), /The process ended during this attempt/)
})

test.serial('VERP: if the smart host refuses the return path, the plain one is used', async (t) => {
  const here = await place(t, {
    sender: (address) => (returnPath.test(address) ? '553 5.7.1 Sender address rejected: not yours' : undefined),
  })
  const id = await submit(here)
  const { trace, recipients } = await sent(here.daemon, id)
  t.deepEqual(
    here.sink.deliveries.map(({ from, to }) => [from, ...to]),
    three.map((address) => ['shop@site.test', address]),
  )
  t.deepEqual(
    column(recipients, 'return_path'),
    three.map(() => 'shop@site.test'),
  )
  t.regex(JSON.stringify(trace['timeline']), /The provider refused the return paths of VERP \(553 Sender address rejected: not yours\)/)
})
