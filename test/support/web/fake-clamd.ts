/** A scanner with the protocol of `clamd` that can be slow, refuse, or disconnect during a scan. */
import { EventEmitter, once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { waiting } from '../waits.ts'

/** Closes the connection after the given number of octets, sends no answer, or answers with the text. */
export type Conduct = { readonly goneAfter: number } | undefined | string

export class FakeClamd extends EventEmitter implements AsyncDisposable {
  /** The received files. */
  readonly scanned: Buffer[] = []
  conduct: (file: Buffer) => Conduct = () => 'stream: OK'
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    super()
    this.#server = server.on('connection', (socket) => this.#serve(socket))
  }

  static async listen(): Promise<FakeClamd> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new FakeClamd(server)
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Resolves when the given number of complete files has arrived. */
  hasScanned(count: number): Promise<void> {
    const reached = async (): Promise<void> => {
      while (this.scanned.length < count) await once(this, 'file')
    }
    return waiting(`${count} files at the scanner`, reached())
  }

  /** Sends this answer to all waiting clients. */
  answer(text: string): void {
    for (const socket of this.#sockets) socket.end(`${text}\0`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    let received = Buffer.alloc(0)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const { file, isWhole } = fileIn(received)
      const conduct = this.conduct(file)
      if (typeof conduct === 'object') {
        if (file.length >= conduct.goneAfter) socket.destroy()
      } else if (isWhole) {
        this.scanned.push(file)
        this.emit('file')
        if (conduct !== undefined) socket.end(`${conduct}\0`)
      }
    })
  }
}

const command = 'zINSTREAM\0'

/** Returns the octets received, and whether the last piece has arrived. */
function fileIn(received: Buffer): { readonly file: Buffer; readonly isWhole: boolean } {
  const pieces: Buffer[] = []
  let at = command.length
  while (at + 4 <= received.length) {
    const length = received.readUInt32BE(at)
    if (length === 0) return { file: Buffer.concat(pieces), isWhole: received.toString('latin1', 0, command.length) === command }
    pieces.push(received.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return { file: Buffer.concat(pieces), isWhole: false }
}
