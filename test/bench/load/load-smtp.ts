/**
 * The SMTP load generator, in a separate process to keep its work apart from the server's. It uses raw sockets and prepared buffers, and
 * parses replies without creating strings. Reads a job as JSON and prints a result as JSON.
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { LoadRecorder, monotonicMs, type SmtpJob } from './load-job.ts'

const job = JSON.parse(process.argv[2] ?? '{}') as SmtpJob
const recorder = new LoadRecorder(job)
const newline = 10
const stamp = '0000000000000000'
const commands = [`MAIL FROM:<${job.from}>\r\n`, `RCPT TO:<${job.to}>\r\n`, 'DATA\r\n']
/** Data sent before each wait for replies. */
const envelope = (job.pipelining ? [commands.join('')] : commands).map((text) => Buffer.from(text))
const repliesEach = commands.length / envelope.length
const starttls = Buffer.from('STARTTLS\r\n')
const hello = Buffer.from('EHLO load.test\r\n')
const quit = Buffer.from('QUIT\r\n')
const login = job.login && Buffer.from(`AUTH PLAIN ${Buffer.from(`\0${job.login.username}\0${job.login.password}`).toString('base64')}\r\n`)

/** Created once, because it costs as much as a handshake. OpenSSL before 3.5, which most mail programs use, agrees on this curve. */
const secureContext = createSecureContext({ ecdhCurve: 'X25519:P-256' })

type Step = 'greeting' | 'hello' | 'starttls' | 'login' | 'envelope' | 'content' | 'quit'

/** Maximum octets of one read of a session, without a new buffer for each read. */
const readBytes = 4096

/** Runs successive clients with a copy of the message. Its stamp makes every message different. */
class Client {
  #socket!: Socket
  #step: Step = 'greeting'
  #isSecure = false
  #sent = 0
  #awaited = 1
  #column = 0
  #code = 0
  #goesOn = false
  #count = 0
  #mailAt = 0
  #dotAt = 0
  readonly #message: Buffer
  readonly #stampsAt: readonly number[]
  readonly #name: string
  readonly #buffer = Buffer.alloc(readBytes)

  constructor(number: number) {
    const { message, stampsAt } = makeMessage(job.size)
    this.#message = message
    this.#stampsAt = stampsAt
    this.#name = String(number).padStart(4, '0')
    this.open()
  }

  open(): void {
    this.#step = 'greeting'
    this.#isSecure = false
    this.#awaited = 1
    this.#column = 0
    const { port } = job
    const onread = { buffer: this.#buffer, callback: (length: number) => this.#read(this.#buffer.subarray(0, length)) }
    const options = { host: '127.0.0.1', port, noDelay: true }
    // a socket must deliver its own data before it becomes a TLS socket
    this.#take(job.starttls ? connect(options) : connect({ ...options, onread }))
    this.#socket.on('close', () => this.#closed())
  }

  #take(socket: Socket): void {
    this.#socket = socket
    if (job.starttls) socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => recorder.failed(String(error)))
  }

  /** the server's certificate is self-signed; its name is not part of the measurement */
  #secure(): void {
    const plain = this.#socket.removeAllListeners('data')
    this.#isSecure = true
    this.#take(connectTls({ socket: plain, secureContext, rejectUnauthorized: false }, () => this.#go('hello', 1, hello)))
  }

  #closed(): void {
    if (this.#step !== 'quit') recorder.failed(`closed during ${this.#step}`)
    if (recorder.over) recorder.left()
    else this.open()
  }

  /** Counts final reply lines by their first digit. */
  #read(chunk: Buffer): true {
    for (const octet of chunk) {
      if (octet === newline) {
        if (!this.#goesOn) this.#replied(chunk)
        this.#column = 0
        continue
      }
      if (this.#column === 0) this.#code = octet - 48
      else if (this.#column === 3) this.#goesOn = octet === 45
      this.#column++
    }
    return true // more data expected
  }

  #replied(chunk: Buffer): void {
    if (this.#code > 3) {
      recorder.failed(chunk.toString('latin1'))
      this.#step = 'quit'
      this.#socket.destroy()
      return
    }
    if (--this.#awaited === 0) this.#next(chunk)
  }

  #next(chunk: Buffer): void {
    switch (this.#step) {
      case 'greeting':
        this.#go('hello', 1, hello)
        break
      case 'hello':
        if (job.starttls && !this.#isSecure) this.#go('starttls', 1, starttls)
        else if (login) this.#go('login', 1, login)
        else this.#mail()
        break
      case 'starttls':
        this.#secure()
        break
      case 'login':
        this.#mail()
        break
      case 'envelope':
        this.#continue()
        break
      case 'content':
        this.#acknowledged(chunk)
        break
      case 'quit':
        this.#socket.end()
    }
  }

  #acknowledged(chunk: Buffer): void {
    recorder.acknowledged(this.#mailAt, this.#dotAt, chunk)
    if (job.perConnection || recorder.over) this.#go('quit', 1, quit)
    else this.#mail()
  }

  #mail(): void {
    this.#mailAt = recorder.begins()
    this.#sent = 0
    this.#continue()
  }

  /** Sends the rest of the envelope, then the message. */
  #continue(): void {
    const commands = envelope[this.#sent++]
    if (commands) {
      this.#go('envelope', repliesEach, commands)
      return
    }
    this.#dotAt = monotonicMs()
    this.#go('content', 1, this.#stamped())
  }

  #go(step: Step, replies: number, octets: Buffer): void {
    this.#step = step
    this.#awaited = replies
    this.#socket.write(octets)
  }

  #stamped(): Buffer {
    const text = this.#name + String(this.#count++).padStart(stamp.length - this.#name.length, '0')
    for (const at of this.#stampsAt) this.#message.write(text, at, 'latin1')
    return this.#message
  }
}

/** Creates a message of `size` octets with its final dot. Stamps are in Subject, Message-ID and the first line of the body. */
function makeMessage(size: number): { readonly message: Buffer; readonly stampsAt: readonly number[] } {
  const head = [
    'From: Load <' + job.from + '>',
    'To: <' + job.to + '>',
    `Subject: ${stamp}`,
    `Message-ID: <${stamp}.${String(process.pid)}@load.test>`,
    'Date: Sat, 21 Nov 2026 12:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain',
    '',
    stamp,
    '',
  ].join('\r\n')
  let body = ''
  while (head.length + body.length < size) body += `${randomBytes(54).toString('base64')}\r\n`
  const message = Buffer.from(`${head}${body}`.slice(0, size - 2) + '\r\n.\r\n')
  const stampsAt: number[] = []
  for (let at = message.indexOf(stamp); at >= 0; at = message.indexOf(stamp, at + 1)) stampsAt.push(at)
  return { message, stampsAt }
}

for (let i = 0; i < job.sessions; i++) new Client(i)
