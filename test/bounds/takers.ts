/** Recipients of mail from other servers: an inbound route, deliverability tests, and return paths of a sent message. */
import { portOf, type Daemon } from '../support/daemon/daemon.ts'
import { waitFor } from '../support/waits.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { WebhookReceiver } from '../support/web/webhook-receiver.ts'
import type { Taker } from './sessions.ts'

const recipients = Array.from({ length: 50 }, (_, i) => `r${i}@example.ch`)

/** All recipients, and their servers during the attack. */
export interface TakersBehind extends AsyncDisposable {
  readonly takers: readonly Taker[]
}

export async function makeTakers({ rest, addresses }: Daemon, inboundDomain: string): Promise<TakersBehind> {
  await using made = new AsyncDisposableStack()
  const receiver = made.use(await new WebhookReceiver().listen())
  const sink = made.use(await Sink.listen())
  await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'attacked', webhook_url: receiver.url })
  const destination = await makeDestination(rest, { name: 'walk of return paths', port: sink.port, mode: 'live' })
  const login = await makeLogin(rest, destination, { verp_enabled: true })
  const paths = await returnPaths(rest, await sent(portOf(addresses.submission[0]), login))
  let next = 0
  const test = async (): Promise<string> => String((await rest.must('POST', '/v1/inspect/tests', {}))['address'])
  const takers = [
    { whose: 'an inbound route', to: () => `attacked@${inboundDomain}`, threads: 1 },
    { whose: 'a deliverability test', to: test, threads: 1 },
    { whose: 'a return path', to: () => paths[next++ % paths.length] ?? '', threads: 0 },
  ]
  const behind = made.move()
  return { takers, [Symbol.asyncDispose]: () => behind.disposeAsync() }
}

async function sent(port: number, { username, password }: { readonly username: string; readonly password: string }): Promise<string> {
  const client = await SmtpClient.signIn({ port }, { username, password })
  const content = Buffer.from('From: shop@site.test\r\nTo: r0@example.ch\r\nSubject: Your order\r\n\r\nThank you.\r\n')
  const { reply } = await client.send({ from: 'shop@site.test', to: recipients, content })
  await client.quit()
  const [id] = /[0-9a-f-]{36}/.exec(reply.lines.join(' ')) ?? []
  if (id === undefined) throw new Error(`refused: ${reply.lines.join(' ')}`)
  return id
}

const returnPaths = (rest: Daemon['rest'], traceId: string): Promise<readonly string[]> =>
  waitFor('the message is sent', async () => {
    const trace = await rest.must('GET', `/v1/traces/${traceId}`)
    const paths = (trace['recipients'] as readonly { readonly return_path: string | null }[]).map(({ return_path }) => return_path)
    return trace['status'] === 'sent' ? paths.filter((path) => path !== null) : undefined
  })
