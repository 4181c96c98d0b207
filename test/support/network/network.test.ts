/** Tests of fronts and held ports, by their clients. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from '#test'
import { listenIn } from '../web/listen.ts'
import { Front } from './front.ts'
import { closedPort, closedUdpPort, holdPort } from './held-port.ts'
import { programPort } from './program-port.ts'

/** A server that greets with its name and echoes its input. */
const echo = (t: ExecutionContext, name: string): Promise<number> =>
  listenIn(
    t,
    createServer((socket) => {
      socket.on('error', () => undefined).write(name)
      socket.pipe(socket)
    }),
  )

/** A client with the first text that it receives, the code of its error, or `closed`. */
function clientOf(t: ExecutionContext, port: number): { readonly socket: Socket; readonly first: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const first = new Promise<string>((resolve) =>
    socket
      .once('data', (text) => resolve(text.toString()))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      .once('close', () => resolve('closed')),
  )
  return { socket, first }
}

async function frontOf(t: ExecutionContext, target: number): Promise<Front> {
  const front = await Front.to(target)
  t.teardown(() => front[Symbol.asyncDispose]())
  return front
}

test('Front: forwards in both directions, and to another server after forward(port)', async (t) => {
  const front = await frontOf(t, await echo(t, 'one'))
  const { socket, first } = clientOf(t, front.port)
  t.is(await first, 'one')
  socket.write('ping')
  t.is(String(await once(socket, 'data')), 'ping')
  front.forward(await echo(t, 'two'))
  t.is(await clientOf(t, front.port).first, 'two')
  t.is(front.accepted, 2)
})

test('Front: cut() breaks open connections only', async (t) => {
  const front = await frontOf(t, await echo(t, 'one'))
  const { socket, first } = clientOf(t, front.port)
  await first
  front.cut()
  await once(socket, 'close')
  t.is(await clientOf(t, front.port).first, 'one')
})

test('Front: refuse() closes new connections after it accepted them', async (t) => {
  const front = await frontOf(t, await echo(t, 'one'))
  front.refuse()
  t.regex(await clientOf(t, front.port).first, /^(closed|ECONNRESET)$/)
  t.is(front.accepted, 1)
  front.forward()
  t.is(await clientOf(t, front.port).first, 'one')
})

test('Front: forward() after silence() passes text written during the silence', async (t) => {
  const front = await frontOf(t, await echo(t, ''))
  const { socket: early } = clientOf(t, front.port)
  early.write('a')
  t.is(String(await once(early, 'data')), 'a')
  front.silence()
  const { socket: late } = clientOf(t, front.port)
  await front.reached(2)
  early.write('b')
  late.write('c')
  front.forward()
  t.deepEqual((await Promise.all([once(early, 'data'), once(late, 'data')])).map(String), ['b', 'c'])
})

test('Front: close() refuses connections, open() listens again on the same port', async (t) => {
  const front = await frontOf(t, await echo(t, 'one'))
  for (let n = 0; n < 3; n++) {
    await front.close()
    t.is(await clientOf(t, front.port).first, 'ECONNREFUSED')
    await front.open()
    t.is(await clientOf(t, front.port).first, 'one')
  }
})

test('closedPort(): refuses connections', async (t) => {
  t.is(await clientOf(t, await closedPort(t)).first, 'ECONNREFUSED')
})

test('holdPort(): a server that names the port can listen on it', async (t) => {
  await using held = await holdPort()
  t.is(await listenIn(t, createServer(), '127.0.0.1', held.port), held.port)
})

test('closedUdpPort(): refuses datagrams', async (t) => {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.connect(await closedUdpPort(t), '127.0.0.1')
  await once(socket, 'connect')
  socket.send('x')
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  t.is(error.code, 'ECONNREFUSED')
})

test('programPort(): never returns a number twice', async (t) => {
  const ports: number[] = []
  while (ports.length < 20) ports.push(await programPort())
  t.is(new Set(ports).size, 20)
  t.true(ports.every((port) => port >= 1024 && port < 32_768))
})
