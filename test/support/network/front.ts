/**
 * A listener in front of a server on loopback. Its port stays the same until the test ends, so the server can restart at another port.
 * It forwards, breaks, refuses or silences connections.
 */
import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { holdPort, type HeldPort } from './held-port.ts'

export class Front extends EventEmitter implements AsyncDisposable {
  readonly port: number
  /** Number of connections accepted. */
  accepted = 0
  readonly #held: HeldPort
  /** Clients with their connections to the server; undefined before the front forwards. */
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

  /** Returns a front that accepts connections and never answers. */
  static async silent(): Promise<Front> {
    const front = await Front.to(0)
    front.silence()
    return front
  }

  /** Forwards connections, including those accepted during silence. With `target`, new ones go to another server. */
  forward(target = this.#target): void {
    this.#target = target
    const wasSilent = this.#conduct === 'silence'
    this.#conduct = 'forward'
    if (wasSilent) for (const [client, upstream] of this.#pairs) this.#pass(client, upstream)
  }

  /** Breaks all connections. Does not change the treatment of new ones. */
  cut(): void {
    for (const client of this.#pairs.keys()) client.destroy()
  }

  /** Breaks all connections, and closes each new one as soon as it is accepted. */
  refuse(): void {
    this.#conduct = 'refuse'
    this.cut()
  }

  /** Passes no data and keeps connections open, like a stopped process. */
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

  /** Resolves when this many connections have been accepted. */
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
