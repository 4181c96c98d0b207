/**
 * An SMTP server that does what a test tells it: accept, refuse, hold, drop, answer nonsense, at any step of the dialog.
 * It keeps what it was given, byte for byte.
 */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { goodCertificate } from './certificates.ts'

export type SinkStep =
  'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth' | 'reset' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot' | 'noop' | 'quit'

/**
 * What the sink does at a step. A text is sent as it stands, with a CRLF added; `drop` closes, `reset` closes with RST,
 * `hold` waits for `release`, `endless` sends lines of a reply that never ends, `last-words` are said before closing, `only-words`
 * before silence.
 */
export type SinkAnswer =
  string | { readonly act: 'drop' | 'reset' | 'hold' | 'endless' } | { readonly act: 'last-words' | 'only-words'; readonly text: string }

export type SinkScript = (step: SinkStep, line: string, connection: SinkConnection) => SinkAnswer | undefined

export interface SinkOptions {
  readonly offers?: readonly string[]
  readonly security?: 'tls' | 'starttls' | 'none'
  readonly certificate?: { readonly cert: string; readonly key: string }
  readonly users?: Readonly<Record<string, string>>
  /** Access tokens that XOAUTH2 takes at the moment. */
  readonly tokens?: ReadonlySet<string>
  /** Takes any CR or LF around a dot for the end of data, as careless servers do. */
  readonly lenient?: boolean
  /** Sends every reply byte by byte. */
  readonly split?: boolean
  readonly script?: SinkScript
}

export interface SinkMessage {
  readonly mail: string
  readonly rcpt: readonly string[]
  /** Without the doubled dots and the final one. */
  readonly content: string
  readonly secured: boolean
  readonly connection: number
}

const standardOffers = ['PIPELINING', 'SIZE 10000000', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']

export class Sink implements AsyncDisposable {
  readonly options: SinkOptions
  /** Messages that the sink answered 250 to. */
  readonly messages: SinkMessage[] = []
  /** Everything that was received as a command, in order, over all connections. */
  readonly lines: string[] = []
  readonly connections: SinkConnection[] = []
  script: SinkScript
  port = 0
  readonly #reached = new Map<SinkStep, number>()
  readonly #waiting = new Set<() => void>()
  readonly #server: Server

  constructor(options: SinkOptions) {
    this.options = options
    this.script = options.script ?? (() => undefined)
    const accept = (socket: Socket): void => void this.connections.push(new SinkConnection(this, socket, this.connections.length))
    const certificate = options.certificate ?? goodCertificate
    this.#server = options.security === 'tls' ? createTlsServer(certificate, accept) : createServer(accept)
    this.#server.on('tlsClientError', () => undefined)
  }

  /** Listens on the given port of 127.0.0.1, any free one when it is 0. */
  async listen(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  /** Resolves when this step has been reached so many times since the sink began. */
  async reached(step: SinkStep, times = 1): Promise<void> {
    while ((this.#reached.get(step) ?? 0) < times) await this.#change()
  }

  /** Resolves when so many connections are open. */
  async open(count: number): Promise<void> {
    while (this.connections.filter((connection) => connection.open).length !== count) await this.#change()
  }

  /** Answers what has been held. */
  release(): void {
    for (const connection of this.connections) connection.release()
  }

  note(step?: SinkStep): void {
    if (step !== undefined) this.#reached.set(step, (this.#reached.get(step) ?? 0) + 1)
    for (const wake of [...this.#waiting]) wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.connections) connection.socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }
}

export class SinkConnection {
  readonly number: number
  socket: Socket
  open = true
  secured: boolean
  /** Sizes of the pieces that commands and content came in. */
  readonly pieces: string[] = []
  readonly #sink: Sink
  #buffer = ''
  #held: (() => void) | undefined
  #mode: 'command' | 'content' | 'secret' = 'command'
  #secrets: string[] = []
  #mail = ''
  #rcpt: string[] = []
  #bodyNoted = false

  constructor(sink: Sink, socket: Socket, number: number) {
    this.#sink = sink
    this.socket = socket
    this.number = number
    this.secured = socket instanceof TLSSocket
    this.#listen(socket)
    sink.note()
    this.#answer('greeting', '', '220 sink.test ESMTP')
  }

  release(): void {
    const held = this.#held
    this.#held = undefined
    held?.()
    this.#work()
  }

  #listen(socket: Socket): void {
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      this.pieces.push(chunk.toString('latin1'))
      this.#buffer += chunk.toString('latin1')
      this.#work()
    })
    socket.on('close', () => {
      this.open = false
      this.#sink.note()
    })
  }

  #work(): void {
    while (this.open && this.#held === undefined && this.#buffer !== '') {
      if (!(this.#mode === 'content' ? this.#takeContent() : this.#takeLine())) return
    }
  }

  #takeLine(): boolean {
    const end = this.#buffer.indexOf('\r\n')
    if (end < 0) return false
    const line = this.#buffer.slice(0, end)
    this.#buffer = this.#buffer.slice(end + 2)
    if (this.#mode === 'secret') this.#onSecret(line)
    else this.#onCommand(line)
    return true
  }

  #onCommand(line: string): void {
    this.#sink.lines.push(line)
    const verb = line.split(' ')[0]?.toUpperCase()
    if (verb === 'EHLO') return this.#answer('ehlo', line, this.#ehlo())
    if (verb === 'HELO') return this.#answer('helo', line, '250 sink.test')
    if (verb === 'STARTTLS') return this.#answer('starttls', line, '220 2.0.0 Go on')
    if (verb === 'AUTH') return this.#onAuth(line)
    if (verb === 'RSET') return this.#answer('reset', line, '250 2.0.0 Flushed')
    if (verb === 'MAIL') return this.#answer('mail', line, '250 2.1.0 Sender ok')
    if (verb === 'RCPT') return this.#answer('rcpt', line, this.#mail === '' ? '503 5.5.1 MAIL first' : '250 2.1.5 Recipient ok')
    if (verb === 'DATA') return this.#answer('data', line, this.#rcpt.length === 0 ? '554 5.5.1 No valid recipients' : '354 Go on')
    if (verb === 'NOOP') return this.#answer('noop', line, '250 2.0.0 Ok')
    if (verb === 'QUIT') return this.#answer('quit', line, { act: 'last-words', text: '221 2.0.0 Bye' })
    this.#send('500 5.5.2 Not known')
  }

  #ehlo(): string {
    const { offers = standardOffers, security, users } = this.#sink.options
    const all = ['sink.test', ...offers]
    if (security === 'starttls' && !this.secured) all.push('STARTTLS')
    if (users && !all.some((offer) => offer.startsWith('AUTH'))) all.push('AUTH PLAIN LOGIN')
    return all.map((offer, at) => `250${at === all.length - 1 ? ' ' : '-'}${offer}`).join('\r\n')
  }

  #onAuth(line: string): void {
    const [, mechanism, initial] = line.split(' ')
    this.#secrets = [mechanism ?? '']
    if (initial !== undefined) return this.#onSecret(initial)
    this.#mode = 'secret'
    this.#answer('auth', line, mechanism === 'LOGIN' ? '334 VXNlcm5hbWU6' : '334 ')
  }

  #onSecret(line: string): void {
    this.#secrets.push(Buffer.from(line, 'base64').toString())
    if (this.#secrets[0] === 'LOGIN' && this.#secrets.length === 2) return this.#answer('auth', line, '334 UGFzc3dvcmQ6')
    if (this.#secrets[0] === 'XOAUTH2') return this.#onToken(line)
    this.#mode = 'command'
    const [, user = '', password = ''] = this.#secrets[0] === 'LOGIN' ? this.#secrets : (this.#secrets[1] ?? '').split('\0')
    const good = this.#sink.options.users?.[user] === password
    this.#answer('auth', line, good ? '235 2.7.0 Welcome' : `535 5.7.8 Wrong: ${line} ${password}`)
  }

  /** What is wrong is told in a challenge, and the refusal follows the empty answer to that. */
  #onToken(line: string): void {
    const [, response = '', after] = this.#secrets
    const token = /^user=me\x01auth=Bearer ([^\x01]+)\x01\x01$/.exec(response)?.[1] ?? ''
    const good = this.#sink.options.tokens?.has(token) === true
    this.#mode = good || after === '' ? 'command' : 'secret'
    if (good) return this.#answer('auth', line, '235 2.7.0 Welcome')
    if (after !== undefined) return this.#answer('auth', line, after === '' ? `535 5.7.8 Wrong: ${token}` : '501 5.5.2 Answer with nothing')
    this.#answer('auth', line, `334 ${Buffer.from('{"status":"401","schemes":"bearer"}').toString('base64')}`)
  }

  #takeContent(): boolean {
    if (!this.#bodyNoted) {
      this.#bodyNoted = true
      const early = this.#sink.script('body', '', this)
      this.#sink.note('body')
      if (early !== undefined) {
        this.#perform('body', '', early)
        return true
      }
    }
    const end = this.#sink.options.lenient ? /(?:^|[\r\n])\.(?:\r\n|\r|\n)/.exec(this.#buffer) : /(?:^|\r\n)\.\r\n/.exec(this.#buffer)
    if (end === null) return false
    const content = this.#buffer.slice(0, end.index + end[0].indexOf('.'))
    this.#buffer = this.#buffer.slice(end.index + end[0].length)
    this.#mode = 'command'
    this.#answer('dot', content.replaceAll(/(^|\r\n)\./g, '$1'), '250 2.0.0 Queued')
    return true
  }

  #answer(step: SinkStep, line: string, standard: SinkAnswer): void {
    const answer = this.#sink.script(step, line, this) ?? standard
    if (typeof answer === 'object' && answer.act === 'hold') this.#held = () => this.#perform(step, line, standard)
    else this.#perform(step, line, answer)
    this.#sink.note(step)
  }

  #perform(step: SinkStep, line: string, answer: SinkAnswer): void {
    if (typeof answer === 'string') {
      this.#follow(step, line, answer)
      return
    }
    if (answer.act === 'reset') this.socket.resetAndDestroy()
    else if (answer.act === 'last-words') this.socket.end(`${answer.text}\r\n`)
    else if (answer.act === 'endless') this.#babble()
    else if (answer.act === 'only-words') this.#fallSilent(answer.text)
    else this.socket.destroySoon() // what was said before is still sent
    if (answer.act !== 'endless' && answer.act !== 'only-words') this.open = false
  }

  /** Sends a reply and does what follows from it. */
  #follow(step: SinkStep, line: string, text: string): void {
    const good = text.startsWith('2')
    if (step === 'mail' && good) [this.#mail, this.#rcpt] = [line, []]
    if (step === 'rcpt' && good) this.#rcpt.push(line.slice('RCPT TO:<'.length, -1))
    if (step === 'reset' || step === 'ehlo') this.#clear()
    if (step === 'data' && text.startsWith('354')) [this.#mode, this.#bodyNoted] = ['content', false]
    if (step === 'dot') {
      const { secured, number } = this
      if (good) this.#sink.messages.push({ mail: this.#mail, rcpt: this.#rcpt, content: line, secured, connection: number })
      this.#clear()
    }
    this.#send(text)
    if (step === 'starttls' && good) this.#secure()
  }

  #clear(): void {
    this.#mail = ''
    this.#rcpt = []
  }

  #send(text: string): void {
    const bytes = Buffer.from(`${text}\r\n`)
    if (!this.#sink.options.split) return void this.socket.write(bytes)
    for (const byte of bytes) this.socket.write(Buffer.of(byte))
  }

  #fallSilent(text: string): void {
    this.#send(text)
    this.#held = () => undefined
  }

  #babble(): void {
    const more = (error?: Error | null): void => {
      if (!error && this.open) this.socket.write('250-and so on\r\n'.repeat(20), more)
    }
    more()
  }

  #secure(): void {
    this.socket.removeAllListeners('data')
    this.socket = new TLSSocket(this.socket, { isServer: true, ...(this.#sink.options.certificate ?? goodCertificate) })
    this.secured = true
    this.#listen(this.socket)
  }
}
