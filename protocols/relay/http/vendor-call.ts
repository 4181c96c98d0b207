/** Sends one request over a guarded connection, with timeouts. Records when the provider may have the complete request. */
import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '#core/clock.ts'
import { targetOf } from '../../outbound/open-connection.ts'
import { factsOf, type ConnectionFacts, type KeepAliveAgent, type KeptRequestArgs } from '../../outbound/keep-alive-agent.ts'
import { flatHeaders, isNotHttp } from '../../outbound/request.ts'
import { asFailure, Failure, type AttemptErrorCode, type Phase } from '../attempt-failure.ts'
import type { HttpDeadlines } from './deadlines.ts'
import type { VendorAnswer, VendorRequest } from './contract/vendor.ts'

/** Maximum octets of an answer. The rest is cut off. */
const maxAnswerOctets = 64 * 1024
const usualHeaders = { accept: 'application/json', 'user-agent': 'Postern' }
const bytesPerUnit = 16 * 1024

export interface CallOptions {
  readonly agent: KeepAliveAgent
  readonly clock: Clock
  readonly deadlines: HttpDeadlines
  readonly signal: AbortSignal
  /** Called when the connection is open. The last byte of the body is sent after it resolves. */
  readonly beforeLastByte?: (() => Promise<void>) | undefined
}

/** Result of a call: an answer, or the failure. */
export interface CallResult {
  readonly answer: VendorAnswer | undefined
  readonly failure: Failure | undefined
  /** The operating system has the last byte of the request, so the provider may have the complete request. */
  readonly handedOver: boolean
  readonly connection: ConnectionFacts | undefined
  readonly reused: boolean
  readonly milliseconds: Readonly<Record<string, number>>
}

/** Sends a request. Never rejects. If a reused connection fails before the body is complete, tries once more over a new one. */
export async function callVendor(request: VendorRequest, options: CallOptions): Promise<CallResult> {
  const first = await new VendorCall(request, options).run()
  const wasDead = first.failure?.code === 'connection_lost' && first.reused && !first.handedOver
  return wasDead && !options.signal.aborted ? new VendorCall(request, options).run() : first
}

class VendorCall {
  readonly #request: VendorRequest
  readonly #options: CallOptions
  readonly #milliseconds: Record<string, number> = {}
  #client!: ClientRequest
  #resolve!: (result: CallResult) => void
  #timer: Timer | undefined
  #since: number
  #connection: ConnectionFacts | undefined
  #phase: Phase = 'connect'
  #handedOver = false
  #settled = false

  constructor(request: VendorRequest, options: CallOptions) {
    this.#request = request
    this.#options = options
    this.#since = options.clock.monotonic()
  }

  run(): Promise<CallResult> {
    return new Promise((resolve) => {
      this.#resolve = resolve
      const { signal } = this.#options
      signal.addEventListener('abort', this.#onAbort)
      this.#client = openRequest(this.#arguments())
      this.#client.on('error', (error) => this.#fail(failureOf(error, this.#phase)))
      this.#client.once('socket', (socket) => this.#connected(socket))
      this.#client.once('response', (response) => this.#read(response))
      this.#client.once('close', () => this.#fail(new Failure('connection_lost', this.#phase)))
      if (signal.aborted) this.#onAbort()
      else this.#write()
    })
  }

  #arguments(): KeptRequestArgs {
    const { method, url, headers, body } = this.#request
    const place = new URL(url)
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    return {
      agent: this.#options.agent,
      method,
      ...targetOf(place),
      path: place.pathname + place.search,
      headers: { ...usualHeaders, ...headers, ...length, host: place.host, 'accept-encoding': 'identity' },
    }
  }

  #write(): void {
    const { body } = this.#request
    if (body === undefined || body.length === 0) {
      this.#client.end()
      return
    }
    // A body without its last byte is not a valid request.
    if (body.length > 1) this.#client.write(body.subarray(0, -1), (error) => error ?? void this.#finish(body))
    else this.#client.once('socket', () => void this.#finish(body))
    this.#client.flushHeaders()
  }

  #connected(socket: Socket): void {
    const { clock, deadlines, beforeLastByte } = this.#options
    this.#connection = factsOf(socket)
    if (this.#client.reusedSocket) this.#note('wait')
    this.#since = clock.monotonic()
    this.#phase = 'body'
    const units = Math.ceil((this.#request.body?.length ?? 0) / bytesPerUnit)
    this.#timer = clock.after(deadlines.body + deadlines.bodyPer16KiB * units, () => this.#expire('body_timeout'))
    void beforeLastByte?.().catch(() => undefined) // in parallel with the body; awaiting it later reports its failure
    if (this.#request.body === undefined) this.#awaitAnswer()
  }

  async #finish(body: Uint8Array): Promise<void> {
    try {
      await this.#options.beforeLastByte?.()
    } catch {
      return this.#fail(new Failure('start_not_recorded', 'body'))
    }
    if (this.#settled) return
    this.#handedOver = true
    this.#client.end(body.subarray(-1))
    this.#awaitAnswer()
  }

  #awaitAnswer(): void {
    this.#note('body')
    this.#phase = 'final'
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(this.#options.deadlines.header, () => this.#expire('final_timeout'))
  }

  #read(response: IncomingMessage): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(this.#options.deadlines.answer, () => this.#expire('final_timeout'))
    const chunks: Buffer[] = []
    let octets = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, maxAnswerOctets - octets))
      octets += chunk.length
      if (octets > maxAnswerOctets) this.#answered(response, chunks)
    })
    response.on('error', () => this.#fail(new Failure('connection_lost', this.#phase)))
    response.once('end', () =>
      response.complete ? this.#answered(response, chunks) : this.#fail(new Failure('connection_lost', this.#phase)),
    )
  }

  #answered({ statusCode = 0, headers, complete }: IncomingMessage, chunks: readonly Buffer[]): void {
    this.#note('final')
    const answer = { status: statusCode, headers: flatHeaders(headers), text: Buffer.concat(chunks).toString('utf8') }
    // Only a complete call returns its connection to the agent.
    this.#settle(answer, undefined, complete && (this.#handedOver || this.#request.body === undefined))
  }

  readonly #onAbort = (): void => this.#fail(new Failure('aborted', this.#phase))

  #expire(code: AttemptErrorCode): void {
    this.#fail(new Failure(code, this.#phase))
  }

  #fail(failure: Failure): void {
    this.#settle(undefined, failure)
  }

  #settle(answer: VendorAnswer | undefined, failure: Failure | undefined, whole = false): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer?.cancel()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    if (!whole) this.#client.destroy()
    this.#resolve({
      answer,
      failure,
      handedOver: this.#handedOver,
      connection: this.#connection,
      reused: this.#client.reusedSocket,
      milliseconds: { ...(!this.#client.reusedSocket && this.#connection?.milliseconds), ...this.#milliseconds },
    })
  }

  #note(step: string): void {
    const now = this.#options.clock.monotonic()
    this.#milliseconds[step] = now - this.#since
    this.#since = now
  }
}

function failureOf(error: Error, phase: Phase): Failure {
  const isForeign = 'code' in error && isNotHttp(String(error.code))
  return isForeign ? new Failure('http_protocol_error', phase) : asFailure(error, phase)
}
