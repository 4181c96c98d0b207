/** The REST load generator: raw sockets with persistent connections, one request at a time each (RFC 9112). */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { LoadRecorder, type RestJob, type RestRequest } from './load-job.ts'

const job = JSON.parse(process.argv[2] ?? '{}') as RestJob
const recorder = new LoadRecorder(job)
const stamp = '0000000000000000'
const lines = job.requests === undefined ? [] : readFileSync(job.requests, 'utf8').trimEnd().split('\n')
const once = lines.map((line) => fixedRequest(JSON.parse(line) as RestRequest)).reverse()

/** Makes stamps unique per run: the server would answer repeated idempotency keys without sending. */
const firstStamp = (Math.floor(performance.timeOrigin) % 9e8) * 1000

/** One connection with a copy of the request. Its stamps make every message different. */
class Client {
  #socket!: Socket
  #pending = ''
  #count = firstStamp
  #askedAt = 0
  #leaving = false
  #request: Buffer
  readonly #stampsAt: number[] = []
  readonly #name: string

  constructor(number: number) {
    this.#request = job.requests !== undefined ? Buffer.alloc(0) : job.request ? fixedRequest(job.request) : makeRequest()
    for (let at = this.#request.indexOf(stamp); at >= 0; at = this.#request.indexOf(stamp, at + 1)) this.#stampsAt.push(at)
    this.#name = String(number).padStart(4, '0')
    this.open()
  }

  open(): void {
    this.#pending = ''
    const socket = connect({ host: '127.0.0.1', port: job.port, noDelay: true }, () => this.#ask())
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => recorder.failed(String(error)))
    socket.on('close', () => this.#closed())
  }

  #closed(): void {
    if (!this.#leaving) recorder.failed('closed')
    if (recorder.over) recorder.left()
    else this.open()
  }

  #ask(): void {
    if (job.requests !== undefined) {
      const next = once.pop()
      if (next) this.#request = next
      else recorder.over = true // repeats the last request, which does not count
    }
    const text = this.#name + String(this.#count++).padStart(stamp.length - this.#name.length, '0')
    for (const at of this.#stampsAt) this.#request.write(text, at, 'latin1')
    this.#askedAt = recorder.begins()
    this.#socket.write(this.#request)
  }

  #read(chunk: Buffer): void {
    this.#pending += chunk.toString('latin1')
    const head = this.#pending.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#pending.slice(0, head))?.[1])
    if (this.#pending.length < head + 4 + length) return
    if (this.#pending.startsWith('HTTP/1.1 2')) recorder.acknowledged(this.#askedAt, this.#askedAt, chunk)
    else recorder.failed(this.#pending)
    this.#pending = ''
    if (!recorder.over) {
      if (job.restMs === undefined) this.#ask()
      else setTimeout(() => this.#ask(), job.restMs)
      return
    }
    this.#leaving = true
    this.#socket.end()
  }
}

/** Creates a `POST /v1/messages` with a body of `size` octets. */
function makeRequest(): Buffer {
  const empty = JSON.stringify({ from: job.from, to: [job.to], subject: `Load ${stamp}`, text: '' })
  const text = `${stamp} ${randomBytes(job.size).toString('base64')}`.slice(0, job.size - empty.length)
  const body = JSON.stringify({ from: job.from, to: [job.to], subject: `Load ${stamp}`, text })
  const head = [
    'POST /v1/messages HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${job.key}`,
    'Content-Type: application/json',
    `Content-Length: ${String(body.length)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function fixedRequest(given: RestRequest): Buffer {
  if ('raw' in given) return Buffer.from(given.raw, 'latin1')
  const { path, headers = {}, body } = given
  const all = { Host: '127.0.0.1', Authorization: `Bearer ${job.key}`, ...headers }
  const length = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ ...all, ...length }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n'))
}

for (let i = 0; i < job.sessions; i++) new Client(i)
