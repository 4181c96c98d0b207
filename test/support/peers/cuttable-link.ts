/** A way to a server on loopback that a test can cut, as a network does: connections break off, and none can be made until it is mended. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class CuttableLink implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false

  private constructor(target: number) {
    this.#server = createServer((client) => {
      if (this.#isCut) return void client.destroy()
      const upstream = connect(target, '127.0.0.1')
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket)
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(socket)
            client.destroy()
            upstream.destroy()
          })
      }
      client.pipe(upstream).pipe(client)
    })
  }

  static async to(target: number): Promise<CuttableLink> {
    const link = new CuttableLink(target)
    link.#server.listen(0, '127.0.0.1')
    await once(link.#server, 'listening')
    return link
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Resolves when the next client connects. */
  async nextClient(): Promise<void> {
    await once(this.#server, 'connection')
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  /** From now on nothing comes through, and neither side is told, as when a process is stopped. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
