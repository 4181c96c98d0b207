/** A vendor's endpoint on loopback: validates requests like the vendor, and answers as set by the test. */
import {
  createServer as createPlainServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { HttpProvider } from '#config/mail/providers.ts'
import { waiting } from '../waits.ts'
import { goodCertificate } from '../../protocols/relay/certificates.ts'

/** A complete request. */
export interface SeenRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface DoubleAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, other values as JSON. */
  readonly body?: unknown
}

/** A message as the vendor understood it. */
export interface TakenMessage {
  /** All recipients. */
  readonly recipients: readonly string[]
  /** The recipients that the message shows, for vendors that accept fields. */
  readonly named?: readonly string[]
  readonly mime?: Buffer
  readonly fields?: {
    readonly from: string
    readonly subject: unknown
    readonly text: unknown
    readonly html: unknown
    readonly replyTo: readonly string[]
    readonly headers: Readonly<Record<string, unknown>>
    readonly attachments: readonly { readonly filename: unknown; readonly content: Buffer }[]
  }
}

/** The behaviour of a vendor. */
export interface VendorRules {
  readonly provider: HttpProvider
  readonly credentials: Readonly<Record<string, string>>
  /** The vendor reads the recipients from the message header, which is rewritten if it names others. */
  readonly addressedByHeader?: true
  /** The vendor accepts the message as text, so octets must be UTF-8. */
  readonly takesText?: true
  /** The client makes another request over the same connection before the first message. */
  readonly asksFirst?: true
  /** A wrong credential. */
  readonly wrong: Readonly<Record<string, string>>
  /** The vendor's refusals. `rateLimited` asks for a wait of 17 seconds. */
  readonly refusals: Readonly<Record<'permanent' | 'transient' | 'rateLimited' | 'misconfigured', DoubleAnswer>>
  /** Returns the vendor's answer to a wrong key; undefined for the right one. */
  authenticate(request: SeenRequest): DoubleAnswer | undefined
  /** Returns the message of a send request; undefined for other requests. Throws if the vendor would refuse its form. */
  take(request: SeenRequest): TakenMessage | undefined
  /** Returns the answer to an accepted message. */
  accepted(message: TakenMessage): DoubleAnswer
  /** Returns the answer to a request that verifies the credentials. */
  probed(request: SeenRequest): DoubleAnswer | undefined
}

/** The answer to messages from now on: acceptance, the given answer, or a fault after the complete message arrived. */
export type Mood = 'accept' | 'hang' | 'drop' | DoubleAnswer

export class VendorDouble implements AsyncDisposable {
  readonly rules: VendorRules
  readonly requests: SeenRequest[] = []
  readonly taken: TakenMessage[] = []
  /** Number of complete messages, accepted or not. */
  handovers = 0
  /** Errors of requests that the vendor would not understand. */
  readonly faults: unknown[] = []
  mood: Mood = 'accept'
  /** Messages with a permanent refusal, regardless of the mood. */
  unfit: (message: TakenMessage) => boolean = () => false
  readonly #server: Server
  readonly #scheme: 'http' | 'https'
  readonly #waiting: (() => void)[] = []

  constructor(rules: VendorRules, scheme: 'http' | 'https' = 'https') {
    this.rules = rules
    this.#scheme = scheme
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#serve(request, response)
    this.#server = scheme === 'https' ? createServer(goodCertificate, handle) : createPlainServer(handle)
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get origin(): string {
    const host = this.#scheme === 'https' ? 'localhost' : '127.0.0.1'
    return `${this.#scheme}://${host}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when the next complete message has arrived. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when this many complete messages have arrived, accepted or not. */
  hasReceived(count: number): Promise<void> {
    const arrivals = async (): Promise<void> => {
      while (this.handovers < count) await this.arrival()
    }
    return waiting(`${count} messages at the provider`, arrivals())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await buffer(request).catch(() => undefined)
    if (!body) return
    const seen = { method, path: url, headers, body }
    this.requests.push(seen)
    try {
      this.#answer(seen, response)
    } catch (error) {
      this.faults.push(error)
      reply(response, { status: 400, body: { message: String(error) } })
    }
  }

  #answer(seen: SeenRequest, response: ServerResponse): void {
    const refused = this.rules.authenticate(seen)
    if (refused) return reply(response, refused)
    const probed = this.rules.probed(seen)
    if (probed) return reply(response, probed)
    const message = this.rules.take(seen)
    if (!message) throw new Error(`${seen.method} ${seen.path} is not known`)
    this.handovers += 1
    for (const resolve of this.#waiting.splice(0)) resolve()
    if (this.unfit(message)) return reply(response, this.rules.refusals.permanent)
    if (this.mood === 'hang') return
    if (this.mood === 'drop') return void response.destroy()
    if (this.mood !== 'accept') return reply(response, this.mood)
    this.taken.push(message)
    reply(response, this.rules.accepted(message))
  }
}

function reply(response: ServerResponse, { status, headers, body }: DoubleAnswer): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(isText ? body : body === undefined ? '' : JSON.stringify(body))
}

/** Returns the JSON object of a request with a JSON content type. */
export function jsonBody({ headers, body }: SeenRequest): Record<string, unknown> {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) throw new Error(`the content type is ${headers['content-type']}`)
  return JSON.parse(body.toString('utf8')) as Record<string, unknown>
}

/** Returns the objects of a list as records. */
export const records = (list: unknown): Record<string, unknown>[] => (list === undefined ? [] : (list as Record<string, unknown>[]))

/** The address in `Name <a@b>` or `a@b`. */
export const bare = (mailbox: unknown): string => /<([^<>]+)>$/.exec(String(mailbox))?.[1] ?? String(mailbox)

export const decoded = (base64: unknown): Buffer => Buffer.from(String(base64), 'base64')
