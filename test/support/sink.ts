/**
 * A smart host that does as it is told: it keeps every message it answers 250 to, and can defer, refuse, hold or drop.
 * Its list of deliveries is the other half of every ledger.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { EventEmitter, once } from 'node:events'
import type { Delivery, SinkScript } from './sink-script.ts'
import { SinkSession } from './sink-session.ts'

interface SinkEvents {
  delivery: [Delivery]
}

/** Listens on a free loopback port until disposed. */
export class Sink extends EventEmitter<SinkEvents> implements AsyncDisposable {
  /** May be changed at any time; open sessions follow at their next command. */
  script: SinkScript
  readonly deliveries: Delivery[] = []
  #server: Server
  #sockets = new Set<Socket>()

  private constructor(script: SinkScript) {
    super()
    this.script = script
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(script: SinkScript = {}, port = 0): Promise<Sink> {
    const sink = new Sink(script)
    sink.#server.listen(port, '127.0.0.1')
    await once(sink.#server, 'listening')
    return sink
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the sink does not listen')
    return address.port
  }

  /** Breaks every open connection, as a smart host does that restarts. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The first delivery, past or coming, that fits. */
  async delivered(fits: (delivery: Delivery) => boolean): Promise<Delivery> {
    const found = this.deliveries.find(fits)
    if (found) return found
    return new Promise((resolve) => {
      const look = (delivery: Delivery): void => {
        if (!fits(delivery)) return
        this.off('delivery', look)
        resolve(delivery)
      }
      this.on('delivery', look)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropConnections()
    this.#server.close()
    if (this.#server.listening) await once(this.#server, 'close')
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    new SinkSession(socket, {
      script: () => this.script,
      delivered: (delivery) => {
        this.deliveries.push(delivery)
        this.emit('delivery', delivery)
      },
    })
  }
}
