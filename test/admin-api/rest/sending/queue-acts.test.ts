/** Queue actions by REST while an attempt is in progress. */
import test, { type ExecutionContext } from '#test'
import { startDaemon, type StartedDaemon } from '../../../support/daemon/start-daemon.ts'
import { makeDestination, makeRoute } from '../../../support/daemon/provision.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { waiting } from '../../../support/waits.ts'

/** A message whose provider has its content, and defers it when the test calls `end`. */
async function inFlight(t: ExecutionContext): Promise<{ daemon: StartedDaemon; end: () => Promise<void> }> {
  const [atDot, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const message = async (): Promise<string> => {
    atDot.resolve()
    await mayEnd.promise
    return '451 4.3.2 Try again later'
  }
  const sink = await Sink.listen({ script: { message } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'host', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.net', subject: 'Order', text: 'Thank you.' })
  await waiting('the provider has the content', atDot.promise)
  const end = (): Promise<void> => {
    mayEnd.resolve()
    return daemon.settled()
  }
  return { daemon, end }
}

const ended = async ({ rest, kv }: StartedDaemon, id: unknown): Promise<unknown> => {
  const path = `/v1/queue/acts/${String(id)}`
  await kv.holds('the act ended', async () => (await rest.must('GET', path))['status'] !== 'running')
  return rest.must('GET', path)
}

const statesOf = async ({ rest }: StartedDaemon): Promise<unknown[]> =>
  (await Array.fromAsync(rest.rows('/v1/queue'))).map(({ state }) => state)

test('release: a message with a hold during its attempt is retried without the hold', async (t) => {
  const { daemon, end } = await inFlight(t)
  for (const act of ['hold', 'release']) {
    const counted = await daemon.rest.must('POST', '/v1/queue/acts', { act, filter: {}, dry_run: true })
    t.is(counted['matched'], 1, act)
    const { id } = await daemon.rest.must('POST', '/v1/queue/acts', { act, filter: {}, expected: 1 })
    t.like(await ended(daemon, id), { status: 'finished', counters: { acted: 1, in_flight: 1, skipped: 0 } }, act)
  }
  await end()
  t.deepEqual(await statesOf(daemon), ['retry'])
})

test('a standing hold that is released during an attempt does not hold the retry', async (t) => {
  const { daemon, end } = await inFlight(t)
  const hold = await daemon.rest.must('POST', '/v1/queue/holds', { filter: {}, reason: 'incident' })
  const acts = await Array.fromAsync(daemon.rest.rows('/v1/queue/acts'))
  t.like(await ended(daemon, acts[0]?.['id']), { act: 'hold', counters: { acted: 1, in_flight: 1 } })
  const { id } = await daemon.rest.must('POST', `/v1/queue/holds/${String(hold['id'])}/release`)
  t.like(await ended(daemon, id), { act: 'release', counters: { acted: 1, in_flight: 1 } })
  await end()
  t.deepEqual(await statesOf(daemon), ['retry'])
})
