/** Scans by ClamAV: one session with `clamd` for each file, which sends it in pieces (clamd(8), INSTREAM). */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { ScanFailed, type ScanResult, type VirusScanner } from '#core/forms/uploads/virus-scanner.ts'
import { dialLocal, type LocalAddress } from '../outbound/dial-local.ts'

export interface ClamdOptions {
  readonly address: LocalAddress
  /** Longest silence: while connecting, while it takes nothing more, and until it answers. */
  readonly idleMs?: number
}

const defaultIdleMs = 60_000
/** An answer is one line. */
const maxAnswerBytes = 4096
/** `clamd` takes pieces of any length; this is what the store has them in, or less. */
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
    const breakOff = (): void => session.end('The scan was broken off.')
    signal?.addEventListener('abort', breakOff)
    try {
      return await session.scan(octets)
    } finally {
      signal?.removeEventListener('abort', breakOff)
      socket.destroy()
    }
  }
}

/** Everything that ends the session early ends each wait. */
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

  end(words: string, cause?: unknown): void {
    this.#ended.abort(new ScanFailed(words, { isDown: true, cause }))
  }

  /** An answer counts also when the connection breaks behind it. */
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
      if (this.#isAnswered) break // it has seen enough, or takes no more
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

/** `stream: OK`, `stream: Name FOUND`, or what went wrong. */
function resultOf(answer: string): ScanResult {
  if (answer === 'stream: OK') return { virus: null }
  const [, virus] = /^stream: (.{1,200}) FOUND$/.exec(answer) ?? []
  if (virus !== undefined) return { virus }
  throw new ScanFailed(`The virus scanner could not scan the file: ${answer.slice(0, 200)}`, { isDown: false })
}
