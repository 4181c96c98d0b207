/** Sends requests to a certificate authority over https, with a deadline and without redirects. Keeps the problem of the last answer. */
import { request } from 'node:https'
import { getCACertificates } from 'node:tls'

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Error of an answer (RFC 7807, RFC 8555 §6.7). */
export interface Problem {
  readonly type: string
  readonly retryAfterSeconds: number | undefined
}

export interface AcmeTransportOptions {
  /** Name of the client, which RFC 8555 §6.1 requires. */
  readonly userAgent: string
  /** Certificates in PEM that the client trusts for the directory, in addition to public authorities. */
  readonly trusted: string | null
  readonly signal: AbortSignal
}

const timeoutMs = 30_000
const maxAnswerBytes = 1_048_576
const maxRetryAfterSeconds = 7 * 24 * 3600

export class AcmeTransport {
  readonly #options: AcmeTransportOptions
  readonly #ca: string[] | undefined
  #problem: Problem | undefined

  constructor(options: AcmeTransportOptions) {
    this.#options = options
    this.#ca = options.trusted === null ? undefined : [...getCACertificates('default'), options.trusted]
  }

  /** Problem of the last answer; undefined after a success. */
  get problem(): Problem | undefined {
    return this.#problem
  }

  async send({ url, method, headers, body }: Asked): Promise<Answered> {
    this.#problem = undefined
    const { userAgent, signal } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Answered>()
    const given = { ...headers, 'user-agent': userAgent, 'accept-encoding': 'identity' }
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const asked = request(url, { method, headers: given, signal: deadline, ...(this.#ca && { ca: this.#ca }) }, (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if ((size += chunk.length) > maxAnswerBytes) response.destroy(new Error('the answer is too large'))
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
    const answered = await promise.catch((error: Error) => {
      throw new Error(`${new URL(url).host} cannot be reached: ${error.message}`, { cause: error })
    })
    if (answered.status >= 400) this.#problem = problemOf(answered)
    return answered
  }
}

function problemOf({ text, headers }: Answered): Problem {
  const type = /"type"\s*:\s*"([^"]{1,200})"/.exec(text)?.[1] ?? 'about:blank'
  const { 'retry-after': written } = headers
  const retry = typeof written === 'string' ? written : ''
  const seconds = /^\d{1,9}$/.test(retry) ? Number(retry) : (Date.parse(retry) - Date.now()) / 1000
  return { type, retryAfterSeconds: seconds > 0 ? Math.min(seconds, maxRetryAfterSeconds) : undefined }
}
