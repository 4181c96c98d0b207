/** Records a client's request octet by octet with a server that gives any response. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A server for one client. Stores its requests while it runs. */
export class RequestRecorder implements AsyncDisposable {
  readonly #server = createServer((socket) => {
    let pending = ''
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1')
      if (!isWhole(pending)) return
      this.#requests.push(keptOpen(pending))
      pending = ''
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}')
    })
  })
  #requests: string[] = []
  readonly #sockets = new Set<Socket>()

  static async start(): Promise<RequestRecorder> {
    const recorder = new RequestRecorder()
    await once(recorder.#server.listen(0, '127.0.0.1'), 'listening')
    return recorder
  }

  get address(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`
  }

  /** Returns the request of a call, as Latin-1. The client's handling of the response is ignored. */
  async requestOf(send: (address: string) => Promise<unknown>): Promise<string> {
    await send(this.address).catch(() => undefined)
    const [request] = this.#requests.splice(0)
    if (request === undefined) throw new Error('the client sent nothing')
    return request
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy() // clients keep their connections open
    await once(this.#server, 'close')
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = text.slice(0, end)
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return text.endsWith('\r\n0\r\n\r\n')
  return text.length >= end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
}

/** Makes every request use a persistent connection, regardless of its client. */
const keptOpen = (request: string): string => request.replace(/\r\nconnection: *close/i, '\r\nConnection: keep-alive')
