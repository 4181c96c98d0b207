/** One request and its answer over a guarded connection, with deadlines, and the moment from which the provider may have it all. */
import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '#core/clock.ts'
import { targetOf } from '../../outbound/open-connection.ts'
import { factsOf, type ConnectionFacts, type KeepAliveAgent, type KeptRequestArgs } from '../../outbound/keep-alive-agent.ts'
import { flatHeaders, isNotHttp } from '../../outbound/request.ts'
import { asFailure, Failure, type AttemptErrorCode, type Phase } from '../attempt-failure.ts'
import type { HttpDeadlines } from './deadlines.ts'
import type { VendorAnswer, VendorRequest } from './contract/vendor.ts'

/** Octets of an answer that are read; what goes beyond is cut off. */
const maxAnswerOctets = 64 * 1024
const usualHeaders = { accept: 'application/json', 'user-agent': 'Postern' }
const bytesPerUnit = 16 * 1024

export interface CallOptions {
  readonly agent: KeepAliveAgent
  readonly clock: Clock
  readonly deadlines: HttpDeadlines
  readonly signal: AbortSignal
  /** Awaited before the last byte of the body is written; called when a connection stands. */
  readonly beforeLastByte?: (() => Promise<void>) | undefined
}

/** How a call went: an answer, or why there is none. */
export interface CallResult {
  readonly answer: VendorAnswer | undefined
  readonly failure: Failure | undefined
  /** The last byte of the request was given to the system, so the provider may have all of it. */
  readonly handedOver: boolean
  readonly connection: ConnectionFacts | undefined
  readonly reused: boolean
  readonly milliseconds: Readonly<Record<string, number>>
}

/** Never rejects. A connection that was used before and turns out dead before the body is through is replaced once. */
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
    // A body that is one byte short is of no use.
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
    void beforeLastByte?.().catch(() => undefined) // in parallel with the body; its failure shows when it is awaited
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
    // A complete call gives its connection back; of any other nothing can be used again.
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
