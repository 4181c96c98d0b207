/** Closing the server: waits end, other requests finish, and late requests are cut. */
import { once } from 'node:events'
import * as z from 'zod'
import test from '#test'
import { operation, type Operation } from '../../../admin-api/operation/operation.ts'
import { call, errorOf, heldNotes, isWhole, keyOf, open, receive, startDemo, waitingOperation } from './demo-api.ts'

test('close(): ends waits at once, finishes other requests, then closes connections', async (t) => {
  const wait = waitingOperation({ waits: true })
  const released = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const slow = operation({
    method: 'GET',
    path: '/v1/slow',
    operationId: 'slow',
    summary: 'Take a while',
    tags: ['notes'],
    scope: 'none',
    response: z.object({ done: z.boolean() }),
    async handle() {
      begun.resolve()
      await released.promise
      return { done: true }
    },
  })
  const { api, port } = await startDemo(t, { operations: [wait.operation, slow] })
  const silent = await open(t, port)
  const idle = await open(t, port)
  idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await receive(idle, isWhole)
  const slowReply = call(port, 'GET', '/v1/slow', { headers: { connection: 'keep-alive' } })
  const waitReply = call(port, 'POST', '/v1/wait', { key: 'api:read' })
  await Promise.all([wait.begun, begun.promise])
  const closed = api.close(60_000)
  t.like(errorOf(await waitReply), { code: 'overloaded', message: 'The service is restarting; repeat the request in a few seconds.' })
  await Promise.all([receive(silent), receive(idle)])
  released.resolve()
  const reply = await slowReply
  t.is(reply.status, 200)
  t.is(reply.headers.connection, 'close')
  await closed
  await t.throwsAsync(call(port, 'GET', '/healthz'), { code: 'ECONNREFUSED' })
})

test('close() waits for requests of disconnected clients', async (t) => {
  const [released, begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const order: string[] = []
  const handle: Operation['handle'] = async ({ signal }) => {
    begun.resolve()
    await once(signal, 'abort')
    gone.resolve()
    await released.promise
    order.push('handled')
    return { found: true }
  }
  const { api, port } = await startDemo(t, { operations: [{ ...waitingOperation({ method: 'GET' }).operation, handle }] })
  const socket = await open(t, port)
  socket.write(`GET /v1/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:read')}\r\n\r\n`)
  await begun.promise
  socket.destroy()
  await gone.promise
  const closed = api.close(60_000).then(() => order.push('closed'))
  await t.throwsAsync(call(port, 'GET', '/healthz'), { code: 'ECONNREFUSED' })
  released.resolve()
  await closed
  t.deepEqual(order, ['handled', 'closed'])
})

test('close() cuts remaining requests at its deadline', async (t) => {
  const wait = waitingOperation({ method: 'GET' })
  const { api, port } = await startDemo(t, { operations: [wait.operation] })
  const reply = t.throwsAsync(call(port, 'GET', '/v1/wait', { key: 'api:read' }))
  await wait.begun
  await api.close(20)
  await reply
  t.truthy(await wait.ended)
})

test('close() finishes a request with a write in progress before it closes the connection', async (t) => {
  const held = heldNotes()
  const wait = waitingOperation({ method: 'GET' })
  const { api, port } = await startDemo(t, { operations: [held.operation, wait.operation] })
  const reply = call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'hello' } })
  const cut = t.throwsAsync(call(port, 'GET', '/v1/wait', { key: 'api:read' }))
  await Promise.all([held.begun, wait.begun])
  const closed = api.close(1)
  await cut
  held.release()
  t.is((await reply).status, 201)
  await closed
})
