/** A small REST client without retries. */
import { Agent, request, type IncomingMessage } from 'node:http'

export interface RestAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
  /** The parsed JSON body; undefined if the body is not JSON. */
  readonly body: unknown
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Json = Readonly<Record<string, unknown>>

/** Calls one daemon with one key, over persistent connections. */
export class RestClient implements Disposable {
  readonly #origin: string
  readonly #key: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  /** `address` is `host:port` as in the ready file. */
  constructor(address: string, key: string) {
    this.#origin = `http://${address}`
    this.#key = key
  }

  /**
   * Sends one request with JSON or with raw octets. Of an event stream, only the first event is returned. Rejects only if the connection
   * fails; the outcome is then unknown.
   */
  call(method: Method, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<RestAnswer> {
    const payload = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    const content = payload && { 'content-type': 'application/json', 'content-length': String(payload.length) }
    const options = { method, agent: this.#agent, headers: { authorization: `Bearer ${this.#key}`, ...content, ...headers } }
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#origin), options, (response) => {
        if (isEvents(response)) return void response.once('data', (first: Buffer) => (resolve(answer(response, first)), sent.destroy()))
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('close', () => (response.complete ? undefined : reject(new Error('the answer broke off'))))
        response.on('end', () => resolve(answer(response, Buffer.concat(chunks))))
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  /** Returns the JSON object of a call that must succeed. The error contains the actual answer. */
  async must(method: Method, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
    const { status, bytes, body: parsed } = await this.call(method, path, body, headers)
    if (status >= 200 && status < 300) return (parsed ?? {}) as Json
    throw new Error(`${method} ${path} answered ${String(status)}: ${bytes.toString('utf8').slice(0, 500)}`)
  }

  /** Yields every row of a list, page by page. */
  async *rows(path: string, limit = 100): AsyncIterable<Json> {
    for (let cursor: unknown = ''; typeof cursor === 'string';) {
      const query = `${path.includes('?') ? '&' : '?'}limit=${String(limit)}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const page = await this.must('GET', path + query)
      yield* page['data'] as Json[]
      cursor = page['next_cursor']
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

const isEvents = ({ headers }: IncomingMessage): boolean => headers['content-type'] === 'text/event-stream'

function answer(response: IncomingMessage, bytes: Buffer): RestAnswer {
  const json = /[/+]json/.test(response.headers['content-type'] ?? '') && bytes.length > 0
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    body: json ? JSON.parse(bytes.toString('utf8')) : undefined,
  }
}
