/**
 * Loopback ports that a test holds without a server. A socket is bound to each, so the kernel gives the port to no socket that asks for
 * any free port. Connections are refused until a server listens on the port.
 */
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

type Test = Pick<ExecutionContext, 'teardown'>

export interface HeldPort extends AsyncDisposable {
  readonly port: number
}

/** Holds a free port. The outgoing connection that holds it allows a server of the test to listen there. */
export async function holdPort(): Promise<HeldPort> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  // With `localAddress`, Node binds the socket first, so it cannot connect to itself.
  const holder = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress: '127.0.0.1' })
  const [[peer]] = await Promise.all([accepted, once(holder, 'connect')])
  server.close()
  const closed = [holder, peer].map((socket) =>
    once(
      socket.on('error', () => undefined),
      'close',
    ),
  )
  return {
    port: holder.localPort ?? 0,
    async [Symbol.asyncDispose]() {
      holder.resetAndDestroy() // a reset leaves no TIME_WAIT
      peer.destroy()
      await Promise.all(closed)
    },
  }
}

/** A port that refuses connections until the test ends. */
export async function closedPort(t: Test): Promise<number> {
  const held = await holdPort()
  t.teardown(() => held[Symbol.asyncDispose]())
  return held.port
}

/** A UDP port that refuses datagrams until the test ends: its socket is connected to another port. */
export async function closedUdpPort(t: Test): Promise<number> {
  const [holder, peer] = [createSocket('udp4'), createSocket('udp4')]
  for (const socket of [holder, peer]) await once(socket.bind(0, '127.0.0.1'), 'listening')
  holder.connect(peer.address().port, '127.0.0.1')
  await once(holder, 'connect')
  t.teardown(() => {
    holder.close()
    peer.close()
  })
  return holder.address().port
}
