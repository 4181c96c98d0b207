/** A receiver of webhooks on loopback: a real HTTP server that records requests and answers as set by a test. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import { waiting } from '../waits.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Responds to the nth request, from 1. */
export type Answering = (response: ServerResponse, request: IncomingMessage, nth: number) => void

export interface ReceiverOptions {
  /** 204 by default. */
  readonly answer?: Answering
  readonly certificate?: { readonly cert: string; readonly key: string }
  readonly host?: string
}

export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = []
  /** Number of connections, including those without a request. */
  connections = 0
  answer: Answering
  readonly #server: Server
  readonly #host: string
  readonly #isEncrypted: boolean
  #arrived = Promise.withResolvers<void>()

  constructor({ answer = (response) => response.writeHead(204).end(), certificate, host = '127.0.0.1' }: ReceiverOptions = {}) {
    this.answer = answer
    this.#host = host
    this.#isEncrypted = certificate !== undefined
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#take(request, response)
    this.#server = certificate ? createTlsServer(certificate, handle) : createServer(handle)
    this.#server.on('connection', () => this.connections++)
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, this.#host, resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return this.#isEncrypted ? `https://localhost:${this.port}/hook` : `http://${this.#host}:${this.port}/hook`
  }

  /** Resolves when this many requests have arrived. */
  hasReceived(count: number): Promise<readonly Received[]> {
    return waiting(`${count} requests at the receiver`, this.#hasReceived(count))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #hasReceived(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) await this.#arrived.promise
    return this.received
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString()
    this.received.push({ path: request.url ?? '', headers: request.headers, body })
    this.answer(response, request, this.received.length)
    const { resolve } = this.#arrived
    this.#arrived = Promise.withResolvers()
    resolve()
  }
}

/** Starts a receiver that ends with the test. */
export async function receiverOf(t: Pick<ExecutionContext, 'teardown'>, options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver(options).listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  return receiver
}
