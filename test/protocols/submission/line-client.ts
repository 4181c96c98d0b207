/** An SMTP client that sends exact input and returns raw replies. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { waiting } from '../../support/waits.ts'

export class LineClient {
  #socket: Socket
  #received = ''
  #ended = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen()
  }

  static async connect(port: number, insideTls = false, host = '127.0.0.1'): Promise<LineClient> {
    const socket = insideTls ? connectTls({ port, host, rejectUnauthorized: false }) : connectTcp({ port, host })
    socket.setNoDelay(true)
    const client = new LineClient(socket)
    await waiting('the connection', new Promise((resolve) => socket.once(insideTls ? 'secureConnect' : 'connect', resolve)))
    return client
  }

  get localPort(): number | undefined {
    return this.#socket.localPort
  }

  /** Writes octets; a string is one command line. */
  send(what: string | Buffer): void {
    this.#socket.write(typeof what === 'string' ? `${what}\r\n` : what)
  }

  /** Writes octets and waits until they are sent, so that the next ones travel separately. */
  async sendApart(octets: Buffer): Promise<void> {
    await new Promise((resolve) => this.#socket.write(octets, resolve))
    await new Promise(setImmediate)
  }

  /** Returns the next whole reply, with lines joined by LF. */
  async reply(): Promise<string> {
    return waiting(() => `a reply after ${JSON.stringify(this.#received)}`, this.#readReply())
  }

  async command(line: string): Promise<string> {
    this.send(line)
    return this.reply()
  }

  async startTls(): Promise<string> {
    const answer = await this.command('STARTTLS')
    if (answer.startsWith('220')) await this.upgrade()
    return answer
  }

  /** Performs the TLS handshake on the open connection. */
  async upgrade(): Promise<void> {
    this.#socket.removeAllListeners('data')
    const secure = connectTls({ socket: this.#socket, rejectUnauthorized: false })
    this.#socket = secure
    this.#listen()
    await waiting('the TLS handshake', new Promise((resolve) => secure.once('secureConnect', resolve)))
  }

  /** Runs greeting, EHLO, STARTTLS, EHLO and AUTH. */
  async logIn(token = 'AHVzZXIAc2VjcmV0'): Promise<string> {
    await this.reply()
    await this.command('EHLO client.test')
    await this.startTls()
    await this.command('EHLO client.test')
    return this.command(`AUTH PLAIN ${token}`)
  }

  /** Returns received data that is not a reply, after the server has closed. */
  async closed(): Promise<string> {
    await waiting('the end of the connection', this.#untilEnd())
    return this.#received
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1')
      this.#wake()
    })
    this.#socket.on('error', () => undefined)
    for (const event of ['end', 'close']) {
      this.#socket.on(event, () => {
        this.#ended = true
        this.#wake()
      })
    }
  }

  async #readReply(): Promise<string> {
    for (;;) {
      const reply = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r\n/.exec(this.#received)?.[0]
      if (reply !== undefined) {
        this.#received = this.#received.slice(reply.length)
        return reply.trimEnd().replaceAll('\r\n', '\n')
      }
      if (this.#ended) throw new Error(`the server closed; it had said ${JSON.stringify(this.#received)}`)
      await this.#change()
    }
  }

  async #untilEnd(): Promise<void> {
    while (!this.#ended) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

/** Sends an envelope up to the 354 reply. */
export async function beginMessage(client: LineClient): Promise<void> {
  await client.command('MAIL FROM:<a@site.test>')
  await client.command('RCPT TO:<b@example.test>')
  await client.command('DATA')
}
