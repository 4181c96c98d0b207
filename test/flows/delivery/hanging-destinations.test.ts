/** A daemon with 200 destinations on separate servers. The mail of 180 destinations does not wait for 20 that hang. */
import test, { type ExecutionContext } from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waiting } from '../../support/waits.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { Front } from '../../support/network/front.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

/** Fewer connections than the hanging destinations could use, so without a limit they would use all of them. */
const connectionsTotal = 40
const mailsForEachHanging = 10

/** A smart host that accepts the whole message and never replies to the final dot. */
class MuteSink {
  readonly sink: Sink
  readonly reached: Promise<void>

  private constructor(sink: Sink, reached: Promise<void>) {
    this.sink = sink
    this.reached = reached
  }

  static async listen(): Promise<MuteSink> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const message = (): Promise<never> => {
      resolve()
      return new Promise(() => {})
    }
    return new MuteSink(await Sink.listen({ script: { message } }), promise)
  }
}

async function daemonOf(t: ExecutionContext): Promise<Daemon> {
  const folder = await temporaryFolder('hanging')
  const daemon = await Daemon.start({
    folder: folder.path,
    env: { POSTERN_DELIVERY_CONNECTIONS_TOTAL: String(connectionsTotal), POSTERN_LOG_LEVEL: 'warn' },
  })
  t.teardown(async () => {
    await daemon[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  return daemon
}

const many = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))

test('hanging destinations: mail of 180 others is delivered while 20 hang', async (t) => {
  const { rest } = await daemonOf(t)
  const silent = await many(10, () => Front.silent())
  const mute = await many(10, () => MuteSink.listen())
  const healthy = await many(180, () => Sink.listen())
  t.teardown(async () => {
    for (const server of [...silent, ...mute.map(({ sink }) => sink), ...healthy]) await server[Symbol.asyncDispose]()
  })
  const destinationsOf = (name: string, servers: readonly { readonly port: number }[]): Promise<string[]> =>
    many(servers.length, (i) => makeDestination(rest, { name: `${name} ${i}`, port: servers[i]?.port ?? 0, mode: 'live' }))
  const send = (destination_id: string, subject: string) =>
    rest.must('POST', '/v1/messages', { from: 'shop@site.test', to: 'ada@peer.test', subject, text: 'Thank you.', destination_id })

  const hanging = [
    ...(await destinationsOf('silent', silent)),
    ...(await destinationsOf(
      'mute',
      mute.map(({ sink }) => sink),
    )),
  ]
  for (let n = 0; n < mailsForEachHanging; n++) await Promise.all(hanging.map((id) => send(id, `hangs ${n}`)))
  await waiting(
    'all that hang have been reached',
    Promise.all([...silent.map((one) => one.reached()), ...mute.map(({ reached }) => reached)]),
  )

  const working = await destinationsOf('healthy', healthy)
  for (const n of [1, 2]) await Promise.all(working.map((id) => send(id, `letter ${n}`)))
  const arrivals = healthy.flatMap((sink) =>
    [1, 2].map((n) => sink.delivered(({ content }) => content.includes(`Subject: letter ${n}\r\n`))),
  )
  await waiting('all 360 letters arrive', Promise.all(arrivals))

  t.deepEqual(new Set(healthy.map(({ deliveries }) => deliveries.length)), new Set([2]), 'ledger: each letter arrives once')
  const queued = await Array.fromAsync(rest.rows('/v1/queue'))
  // an entry whose next attempt moves during the listing appears twice
  const pending = new Set(queued.filter((row) => hanging.includes(String(row['destination_id']))).map((row) => row['trace_id']))
  t.is(pending.size, hanging.length * mailsForEachHanging, 'hanging destinations delivered nothing')
  t.true(mute.every(({ sink }) => sink.deliveries.length === 0))
})
