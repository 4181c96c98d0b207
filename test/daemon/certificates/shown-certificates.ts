/** Certificates that a daemon uses for new connections on each kind of listener, and connections that stay open. */
import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { waiting } from '../../support/waits.ts'

export interface SecuredPorts {
  /** With TLS from the first octet. */
  readonly https: number
  readonly submissions: number
  /** With STARTTLS (RFC 3207). */
  readonly submission: number
  readonly mx: number
}

/** An open TLS connection; for SMTP after greeting and EHLO. */
export class OpenConnection {
  readonly #socket: TLSSocket
  readonly #kind: keyof SecuredPorts

  private constructor(socket: TLSSocket, kind: keyof SecuredPorts) {
    this.#socket = socket
    this.#kind = kind
  }

  static async open(
    ports: SecuredPorts,
    kind: keyof SecuredPorts,
    trust: ConnectionOptions = { rejectUnauthorized: false },
  ): Promise<OpenConnection> {
    const target = { host: '127.0.0.1', port: ports[kind], ...trust }
    const socket = kind === 'https' || kind === 'submissions' ? connect(target) : connect({ ...trust, socket: await startTls(ports[kind]) })
    await waiting(`a handshake with ${kind}`, once(socket, 'secureConnect'))
    if (kind === 'submissions') await reply(socket)
    return new OpenConnection(socket, kind)
  }

  get certificate(): X509Certificate {
    return this.#socket.getPeerX509Certificate() as X509Certificate
  }

  /** Sends a request or EHLO and returns the response. */
  async ask(): Promise<string> {
    this.#socket.write(this.#kind === 'https' ? 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' : 'EHLO client.test\r\n')
    return reply(this.#socket)
  }

  close(): void {
    this.#socket.destroy()
  }
}

export const kinds = ['https', 'submissions', 'submission', 'mx'] as const satisfies readonly (keyof SecuredPorts)[]

/** Opens one connection to each listener. */
export const openAll = (ports: SecuredPorts, trust?: ConnectionOptions): Promise<OpenConnection[]> =>
  Promise.all(kinds.map((kind) => OpenConnection.open(ports, kind, trust)))

/** Returns the serial number of the certificate on each listener. Throws if `trust` does not accept one. */
export async function shownSerials(ports: SecuredPorts, trust?: ConnectionOptions): Promise<string[]> {
  const opened = await openAll(ports, trust)
  const serials = opened.map(({ certificate }) => certificate.serialNumber)
  for (const connection of opened) connection.close()
  return serials
}

async function startTls(port: number) {
  const socket = connectPlain(port, '127.0.0.1')
  await reply(socket)
  socket.write('EHLO client.test\r\n')
  await reply(socket)
  socket.write('STARTTLS\r\n')
  await reply(socket)
  return socket
}

async function reply(socket: NodeJS.EventEmitter): Promise<string> {
  const [chunk] = (await waiting('an answer', once(socket, 'data'))) as [Buffer]
  return chunk.toString('latin1')
}
