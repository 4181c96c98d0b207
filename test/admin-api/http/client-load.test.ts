import { once } from 'node:events'
import { connect } from 'node:net'
import test from '#test'
import * as z from 'zod'
import { operation } from '../../../admin-api/operation/operation.ts'
import { call, demoOperations, errorOf, isWhole, open, receive, startDemo } from './demo-api.ts'
import { column } from '../../support/column.ts'

const limits = { maxConnectionsPerAddress: 3, countsLoopback: true }
const request = 'POST /v1/echo-address HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'

test('the connections of a client address are limited; more get 503 with the limit', async (t) => {
  const { port } = await startDemo(t, { limits })
  const sockets = [await open(t, port), await open(t, port), await open(t, port)]
  const fourth = await open(t, port)
  fourth.write(request)
  const text = await receive(fourth)
  t.regex(text, /^HTTP\/1\.1 503 Service Unavailable\r\n/)
  t.regex(text, /\r\nRetry-After: 5\r\n/)
  t.regex(text, /\r\nConnection: close\r\n/)
  t.like(errorOf({ text: text.slice(text.indexOf('\r\n\r\n')) }), {
    code: 'overloaded',
    message:
      'At most 3 connections at a time from one address; close some, or reuse connections. The operator sets this (POSTERN_HTTP_MAX_CONNECTIONS_PER_ADDRESS).',
    details: { max: 3, setting: 'POSTERN_HTTP_MAX_CONNECTIONS_PER_ADDRESS', retry_after_seconds: 5 },
  })
  for (const socket of sockets) {
    socket.write(request)
    t.regex(await receive(socket, isWhole), /^HTTP\/1\.1 202 /)
  }
})

test('AdminApi answers while another server holds its maximum of refused connections', async (t) => {
  const one = { limits: { ...limits, maxConnectionsPerAddress: 1 } }
  const [full, other] = [await startDemo(t, one), await startDemo(t, one)]
  await open(t, full.port)
  const lingering = Array.from({ length: 100 }, async () => {
    const socket = connect({ port: full.port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    await once(socket, 'data')
  })
  await Promise.all(lingering)
  await open(t, other.port)
  t.regex(await receive(await open(t, other.port)), /^HTTP\/1\.1 503 Service Unavailable\r\n/)
})

test('different addresses have separate counts of connections', async (t) => {
  const { port } = await startDemo(t, { limits })
  await Promise.all([open(t, port), open(t, port), open(t, port)])
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }).setEncoding('latin1')
  t.teardown(() => other.destroy())
  await once(other, 'connect')
  other.write(request)
  t.regex(await receive(other, isWhole), /^HTTP\/1\.1 202 /)
})

test('closing a connection makes room for another', async (t) => {
  const { port, api } = await startDemo(t, { limits })
  t.truthy(api)
  for (let round = 0; round < 10; round++) t.is((await call(port, 'POST', '/v1/echo-address')).status, 202)
})

test('local connections and connections of trusted proxies do not count', async (t) => {
  for (const options of [{ limits: { maxConnectionsPerAddress: 3 } }, { limits, trustProxy: ['127.0.0.1'] }]) {
    const { port } = await startDemo(t, options)
    await Promise.all(Array.from({ length: 10 }, () => open(t, port)))
    t.is((await call(port, 'POST', '/v1/echo-address')).status, 202)
  }
})

test('trusted proxies: concurrent requests of each client count', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const all = Promise.withResolvers<void>()
  const wait = operation({
    method: 'GET',
    path: '/v1/wait',
    operationId: 'waitForIt',
    summary: 'Wait',
    tags: ['notes'],
    scope: 'none',
    waits: true,
    response: z.object({}),
    async handle() {
      if (++waiting === 3) all.resolve()
      await promise
      return {}
    },
  })
  const { port } = await startDemo(t, { limits, trustProxy: ['127.0.0.1'], operations: [...demoOperations, wait] })
  const from = (address: string) => call(port, 'GET', '/v1/wait', { headers: { 'x-forwarded-for': address } })
  const first = [from('192.0.2.1'), from('192.0.2.1'), from('192.0.2.1')]
  await all.promise
  const refused = await from('192.0.2.1')
  t.is(refused.status, 503)
  t.regex(errorOf(refused).message, /^At most 3 requests at a time from one address/)
  const other = from('192.0.2.2')
  resolve()
  t.deepEqual(column(await Promise.all([...first, other]), 'status'), [200, 200, 200, 200])
  t.is((await from('192.0.2.1')).status, 200)
})
