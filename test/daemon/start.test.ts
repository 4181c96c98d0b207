/** A daemon in the test process, as most tests use it: it relays, stops in order, crashes, and opens its store again. */
import test from '#test'
import { makeDestination, makeRoute } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { adminKey, startDaemon } from '../support/daemon/start-daemon.ts'

const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }
const message = { from: 'shop@example.ch', to: 'ada@example.net', subject: 'Order', text: 'Thank you.' }

test('start: a message reaches the smart host and is known after a restart', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, { env })
  await makeRoute(daemon.rest, await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' }))
  const sent = await daemon.rest.must('POST', '/v1/messages', message)
  await sink.delivered(({ to }) => to.includes('ada@example.net'))
  await daemon.stop()
  t.is(await daemon.client(adminKey).call('GET', '/readyz').catch(String), `Error: connect ECONNREFUSED ${daemon.addresses.http}`)
  const { rest } = await daemon.again()
  t.is((await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`))['status'], 'sent')
})

test('crash: durable data remain, other data are lost', async (t) => {
  const daemon = await startDaemon(t)
  const kept = await daemon.rest.must('POST', '/v1/messages', message)
  const reached = Promise.withResolvers<void>()
  daemon.kv.beforeWrite = () => {
    reached.resolve()
    return new Promise(() => {})
  }
  const lost = t.throwsAsync(daemon.rest.call('POST', '/v1/messages', message), undefined, 'it is not acknowledged')
  await reached.promise
  await daemon.crash()
  await lost
  const { rest } = await daemon.again()
  const ids: unknown[] = []
  for await (const { trace_id: id } of rest.rows('/v1/traces')) ids.push(id)
  t.deepEqual(ids, [kept['trace_id']])
})

test('startDaemon(): an unexpected error of the daemon fails the test', async (t) => {
  const teardowns: (() => unknown)[] = []
  const daemon = await startDaemon({ teardown: (work: () => unknown) => void teardowns.unshift(work) })
  const end = async () => {
    for (const work of teardowns) await work()
  }
  daemon.kv.beforeWrite = () => Promise.reject(new Error('the disk is a teapot'))
  t.is((await daemon.rest.call('POST', '/v1/messages', message)).status, 500)
  await t.throwsAsync(end(), { message: /teapot/ })
  daemon.errors.splice(0)
  await t.notThrowsAsync(end())
})
