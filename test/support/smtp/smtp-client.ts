/**
 * A small SMTP client over a raw socket (RFC 5321, RFC 2920, RFC 3207, RFC 4954). If the connection breaks, it reports whether the final
 * dot had been written: only then the outcome is unknown.
 */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ReplyReader, replyText, type Reply } from './smtp-replies.ts'

export type Security = 'none' | 'starttls' | 'tls'

/** The server and the security of the connection. `ca` makes the client verify the server; without it any certificate is accepted. */
export interface Endpoint {
  readonly port: number
  readonly security?: Security
  readonly ca?: string
}

export interface Letter {
  readonly from: string
  readonly to: readonly string[]
  /** The message as it leaves the client, before dot-stuffing; lines end in CRLF. */
  readonly content: Buffer
}

/** The outcome of a message: the reply to its final dot, or the first reply that refused it. */
export interface Answer {
  readonly accepted: boolean
  readonly reply: Reply
}

/** The connection ended while a reply was awaited. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
  /** Whether the final dot was written, so the server may have accepted the message. */
  readonly afterDot: boolean

  constructor(afterDot: boolean, cause?: unknown) {
    super(`link lost ${afterDot ? 'after' : 'before'} the final dot`, { cause })
    this.afterDot = afterDot
  }
}

interface Waiter {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

const transfer8Bit = /^8BITMIME$/m

export class SmtpClient {
  #socket: Socket
  #replies = new ReplyReader()
  #arrived: Reply[] = []
  #waiters: Waiter[] = []
  #lost: LinkLost | undefined
  #dotWritten = false
  /** The keywords of the last EHLO reply, one per line. */
  extensions = ''

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen(socket)
  }

  /** Connects, reads the greeting and sends EHLO, after STARTTLS or TLS if requested. */
  static async connect({ port, security = 'none', ca }: Endpoint): Promise<SmtpClient> {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca }
    const socket = security === 'tls' ? connectTls({ host: '127.0.0.1', port, ...trust }) : connectPlain({ host: '127.0.0.1', port })
    socket.setNoDelay(true)
    const client = new SmtpClient(socket)
    await client.#expect(client.next(), 220)
    await client.hello()
    if (security === 'starttls') {
      await client.#expect(client.command('STARTTLS'), 220)
      client.#upgrade(trust)
      await client.hello()
    }
    return client
  }

  /** Connects and logs in. */
  static async signIn(
    endpoint: Endpoint,
    { username, password }: { readonly username: string; readonly password: string },
  ): Promise<SmtpClient> {
    const client = await SmtpClient.connect(endpoint)
    await client.#expect(client.authenticate(username, password), 235)
    return client
  }

  /** Returns the next reply that no command has claimed. */
  next(): Promise<Reply> {
    const reply = this.#arrived.shift()
    if (reply) return Promise.resolve(reply)
    if (this.#lost) return Promise.reject(this.#lost)
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  /** Sends one line and returns its reply, accepted or not. */
  command(line: string): Promise<Reply> {
    this.#socket.write(`${line}\r\n`)
    return this.next()
  }

  async hello(): Promise<void> {
    const reply = await this.#expect(this.command('EHLO client.test'), 250)
    this.extensions = reply.lines.join('\n')
  }

  /** AUTH with an initial response (PLAIN) or by prompts (LOGIN). Returns the reply, accepted or not. */
  async authenticate(username: string, password: string, mechanism: 'PLAIN' | 'LOGIN' = 'PLAIN'): Promise<Reply> {
    if (mechanism === 'PLAIN') return this.command(`AUTH PLAIN ${base64(`\0${username}\0${password}`)}`)
    const prompt = await this.command('AUTH LOGIN')
    if (prompt.code !== 334) return prompt
    const second = await this.command(base64(username))
    return second.code === 334 ? this.command(base64(password)) : second
  }

  /** One transaction: envelope in one write, then the content. The session is then ready for the next one. */
  async send(letter: Letter): Promise<Answer> {
    this.#dotWritten = false
    const refusal = await this.#envelope(letter)
    if (refusal) return { accepted: false, reply: refusal }
    this.#dotWritten = true
    this.#socket.write(wireForm(letter.content))
    const reply = await this.next()
    this.#dotWritten = false
    return { accepted: reply.code === 250, reply }
  }

  /** Sends the envelope and a part of the content, then closes without a final dot. The message must never be sent. */
  async abandon(letter: Letter, share: number): Promise<void> {
    this.#dotWritten = false
    if ((await this.#envelope(letter)) === undefined) {
      const whole = wireForm(letter.content)
      await new Promise((resolve) => this.#socket.write(whole.subarray(0, Math.floor((whole.length - 5) * share)), resolve))
    }
    this.destroy()
  }

  async quit(): Promise<void> {
    await this.command('QUIT').catch(() => undefined)
    this.destroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Returns the first refusal of MAIL, RCPT and DATA; undefined if the server waits for content. */
  async #envelope({ from, to }: Letter): Promise<Reply | undefined> {
    const body = transfer8Bit.test(this.extensions) ? ' BODY=8BITMIME' : ''
    const recipients = to.map((address) => `RCPT TO:<${address}>\r\n`).join('')
    this.#socket.write(`MAIL FROM:<${from}>${body}\r\n${recipients}DATA\r\n`)
    const replies: Reply[] = []
    for (let i = 0; i < to.length + 2; i++) replies.push(await this.next())
    const data = replies.at(-1)
    const refused = replies.slice(0, -1).find((reply) => reply.code >= 400)
    if (data?.code !== 354) return refused ?? data
    // A server that waits for content after it refused a recipient would mail the others, so close.
    if (refused) this.destroy()
    return refused
  }

  async #expect(reply: Promise<Reply>, code: number): Promise<Reply> {
    const got = await reply
    if (got.code === code) return got
    this.destroy()
    throw new Error(`expected ${String(code)}, got ${replyText(got)}`)
  }

  #upgrade(trust: { readonly rejectUnauthorized?: boolean; readonly ca?: string }): void {
    this.#socket.removeAllListeners()
    this.#socket = connectTls({ socket: this.#socket, host: '127.0.0.1', ...trust })
    this.#replies = new ReplyReader()
    this.#listen(this.#socket)
  }

  #listen(socket: Socket): void {
    let cause: unknown
    socket.on('error', (error) => (cause = error))
    socket.on('close', () => this.#lose(new LinkLost(this.#dotWritten, cause)))
    socket.on('end', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      for (const reply of this.#replies.push(chunk)) this.#deliver(reply)
    })
  }

  #deliver(reply: Reply): void {
    const waiter = this.#waiters.shift()
    if (waiter) waiter.resolve(reply)
    else this.#arrived.push(reply)
  }

  #lose(error: LinkLost): void {
    this.#lost = error
    for (const { reject } of this.#waiters.splice(0)) reject(error)
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Returns the content with dot-stuffing and the final dot (RFC 5321 §4.5.2). */
export function wireForm(content: Buffer): Buffer {
  const text = content.toString('latin1')
  const stuffed = text.replaceAll('\r\n.', '\r\n..')
  const whole = `${stuffed.startsWith('.') ? '.' : ''}${stuffed}${stuffed.endsWith('\r\n') ? '' : '\r\n'}.\r\n`
  return Buffer.from(whole, 'latin1')
}
