/** A clear-text IMAP server with scripted greeting and answers. */
import { EventEmitter, once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** Returns the answer to a command, with its tag; an empty one is silence. */
export type Answer = (tag: string, command: string) => string

export class ImapScript extends EventEmitter implements AsyncDisposable {
  /** All input of clients. */
  said = ''
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  private constructor(server: Server) {
    super()
    this.#server = server
  }

  static async listen(greeting: string, answer: Answer): Promise<ImapScript> {
    const server = createServer((socket) => {
      script.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => script.#sockets.delete(socket))
      if (greeting !== '') socket.write(`${greeting}\r\n`)
      socket.on('data', (chunk: Buffer) => {
        script.said += chunk.toString('latin1')
        script.emit('said')
        for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
          const [tag = '', ...text] = line.split(' ')
          socket.write(answer(tag, text.join(' ')))
        }
      })
    })
    const script = new ImapScript(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return script
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
