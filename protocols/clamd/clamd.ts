/** Scans files with ClamAV: opens a session with `clamd` for each file and sends the file in pieces (clamd(8), INSTREAM). */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { ScanFailed, type ScanResult, type VirusScanner } from '#core/forms/uploads/virus-scanner.ts'
import { dialLocal, type LocalAddress } from '../outbound/dial-local.ts'

export interface ClamdOptions {
  readonly address: LocalAddress
  /** Timeout without progress: while connecting, while the socket is full, and while waiting for the answer. */
  readonly idleMs?: number
}

const defaultIdleMs = 60_000
/** An answer is one line. */
const maxAnswerBytes = 4096
/** `clamd` accepts pieces of any length. The store returns content in pieces of at most this size. */
const maxPieceBytes = 256 * 1024

export class Clamd implements VirusScanner {
  readonly #address: LocalAddress
  readonly #idleMs: number

  constructor({ address, idleMs = defaultIdleMs }: ClamdOptions) {
    this.#address = address
    this.#idleMs = idleMs
  }

  async scan(octets: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ScanResult> {
    const socket = dialLocal(this.#address)
    const session = new Session(socket, this.#idleMs)
    const breakOff = (): void => session.end('The scan was canceled.')
    signal?.addEventListener('abort', breakOff)
    try {
      return await session.scan(octets)
    } finally {
      signal?.removeEventListener('abort', breakOff)
      socket.destroy()
    }
  }
}

/** Session with `clamd`. A timeout, an error or an abort rejects each pending wait. */
class Session {
  readonly #socket: Socket
  readonly #ended = new AbortController()
  #answer = ''

  constructor(socket: Socket, idleMs: number) {
    this.#socket = socket
    socket.setTimeout(idleMs, () => this.end('The virus scanner does not answer.'))
    socket.on('error', (error) => this.end('The virus scanner cannot be reached.', error))
    socket.on('close', () => this.end('The virus scanner closed the connection.'))
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (this.#answer.length < maxAnswerBytes) this.#answer += text
    })
  }

  end(message: string, cause?: unknown): void {
    this.#ended.abort(new ScanFailed(message, { isDown: true, cause }))
  }

  /** Returns the result of a complete answer even if the connection fails after it. */
  async scan(octets: AsyncIterable<Uint8Array>): Promise<ScanResult> {
    try {
      await this.#send(octets)
    } catch (error) {
      if (!this.#isAnswered) throw error
    }
    return resultOf(this.#answer.slice(0, this.#answer.indexOf('\0')))
  }

  async #send(octets: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#write(Buffer.from('zINSTREAM\0'))
    for await (const piece of octets) {
      for (let at = 0; at < piece.length && !this.#isAnswered; at += maxPieceBytes)
        await this.#writePiece(piece.subarray(at, at + maxPieceBytes))
      if (this.#isAnswered) break // the scan has ended, or clamd refuses further data
    }
    if (!this.#isAnswered) await this.#write(Buffer.alloc(4))
    while (!this.#isAnswered) await this.#wait('data')
  }

  get #isAnswered(): boolean {
    return this.#answer.includes('\0')
  }

  async #writePiece(piece: Uint8Array): Promise<void> {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(piece.length)
    this.#socket.write(length)
    await this.#write(piece)
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#ended.signal.throwIfAborted()
    if (!this.#socket.write(bytes)) await this.#wait('drain')
  }

  async #wait(event: string): Promise<void> {
    const { signal } = this.#ended
    signal.throwIfAborted()
    await once(this.#socket, event, { signal }).catch((cause: unknown) => {
      throw signal.aborted ? (signal.reason as ScanFailed) : cause
    })
  }
}

/** Parses the answer: `stream: OK` or `stream: Name FOUND`. Throws `ScanFailed` for any other answer. */
function resultOf(answer: string): ScanResult {
  if (answer === 'stream: OK') return { virus: null }
  const [, virus] = /^stream: (.{1,200}) FOUND$/.exec(answer) ?? []
  if (virus !== undefined) return { virus }
  throw new ScanFailed(`The virus scanner could not scan the file: ${answer.slice(0, 200)}`, { isDown: false })
}
