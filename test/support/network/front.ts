/**
 * A listener in front of a server on loopback. Its port stays the same until the test ends, so a server behind it can stop and start
 * at another port. It forwards connections, breaks them, refuses them, or falls silent.
 */
import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { holdPort, type HeldPort } from './held-port.ts'

export class Front extends EventEmitter implements AsyncDisposable {
  readonly port: number
  /** Connections accepted so far. */
  accepted = 0
  readonly #held: HeldPort
  /** Clients, each with its connection to the server, which is not made while the front is silent. */
  readonly #pairs = new Map<Socket, Socket | undefined>()
  #target: number
  #conduct: 'forward' | 'refuse' | 'silence' = 'forward'
  #server: Server | undefined

  private constructor(held: HeldPort, target: number) {
    super()
    this.#held = held
    this.#target = target
    this.port = held.port
  }

  /** Listens, and forwards each connection to a port of 127.0.0.1. */
  static async to(target: number): Promise<Front> {
    const front = new Front(await holdPort(), target)
    await front.open()
    return front
  }

  /** Accepts connections that never get an answer. */
  static async silent(): Promise<Front> {
    const front = await Front.to(0)
    front.silence()
    return front
  }

  /** Forwards connections, those that it was silent on too. New ones go to another server if `target` is given. */
  forward(target = this.#target): void {
    this.#target = target
    const wasSilent = this.#conduct === 'silence'
    this.#conduct = 'forward'
    if (wasSilent) for (const [client, upstream] of this.#pairs) this.#pass(client, upstream)
  }

  /** Breaks all connections. New ones are treated as before. */
  cut(): void {
    for (const client of this.#pairs.keys()) client.destroy()
  }

  /** Breaks all connections, and closes each new one as soon as it is accepted. */
  refuse(): void {
    this.#conduct = 'refuse'
    this.cut()
  }

  /** Lets nothing pass and tells neither side, as a stopped process does. */
  silence(): void {
    this.#conduct = 'silence'
    for (const pair of this.#pairs) for (const socket of pair) socket?.unpipe().pause()
  }

  /** Stops listening: the kernel refuses connections. No other server can take the port. */
  async close(): Promise<void> {
    this.cut()
    const server = this.#server
    this.#server = undefined
    if (server) await once(server.close(), 'close')
  }

  /** Listens again after `close()`. */
  async open(): Promise<void> {
    this.#server = createServer((client) => this.#accept(client))
    await once(this.#server.listen(this.port, '127.0.0.1'), 'listening')
  }

  /** Resolves when so many connections have been accepted. */
  async reached(count = 1): Promise<void> {
    while (this.accepted < count) await once(this, 'accepted')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    await this.#held[Symbol.asyncDispose]()
  }

  #accept(client: Socket): void {
    this.accepted++
    this.emit('accepted')
    if (this.#conduct === 'refuse') return void client.destroy()
    this.#pairs.set(client, undefined)
    client
      .on('error', () => undefined)
      .on('close', () => {
        this.#pairs.get(client)?.destroy()
        this.#pairs.delete(client)
      })
    if (this.#conduct === 'forward') this.#pass(client)
  }

  #pass(client: Socket, upstream = connect(this.#target, '127.0.0.1')): void {
    if (this.#pairs.get(client) === undefined) upstream.on('error', () => undefined).on('close', () => client.destroy())
    this.#pairs.set(client, upstream)
    client.pipe(upstream).pipe(client)
  }
}
