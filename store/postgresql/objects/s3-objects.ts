/** Objects in a bucket of Amazon S3, or of a server with the same protocol. */
import { setTimeout as wait } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { StoreAway, type Bytes } from '../../kv.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'

export interface S3Options {
  readonly bucket: string
  /** First part of all names, with a slash at its end; or empty. */
  readonly prefix: string
  /** URL of a server other than Amazon's, without a path. */
  readonly endpoint?: string | undefined
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  /** Timeout of one request, in milliseconds; 10,000 by default. */
  readonly requestMs?: number
  /** How long a request is repeated after transient failures, in milliseconds; 10,000 by default. */
  readonly retryMs?: number
}

const defaults = { requestMs: 10_000, retryMs: 10_000 }
const [firstPauseMs, maxPauseMs] = [100, 5000]
const passing = [408, 425, 429, 500, 502, 503, 504]

interface Request {
  readonly body?: Bytes
  readonly sha256?: string
  readonly query?: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly body: Buffer
}

export class S3Objects implements ObjectStore {
  readonly shown: string
  readonly #client: AwsClient
  readonly #options: S3Options
  readonly #base: string

  constructor(options: S3Options) {
    const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = options
    this.#options = options
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }), region, service: 's3', retries: 0 })
    this.#base = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com/` : `${endpoint}/${bucket}/`
    this.shown = `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`
  }

  /** The operator creates the bucket, and folders exist only as parts of names. */
  async prepare(): Promise<void> {}

  /** The server verifies the hash, and responds after the content is durable. */
  async put(name: string, content: Bytes, sha256: string): Promise<void> {
    await this.#must('PUT', name, { body: content, sha256 })
  }

  async get(name: string): Promise<Bytes | undefined> {
    const answer = await this.#ask('GET', name)
    if (answer.status === 404 && codeOf(answer) === 'NoSuchKey') return undefined
    if (answer.status !== 200) throw this.#refused(answer)
    return answer.body
  }

  async remove(name: string): Promise<void> {
    const answer = await this.#ask('DELETE', name)
    if (answer.status >= 300 && codeOf(answer) !== 'NoSuchKey') throw this.#refused(answer)
  }

  async *list(folder: string): AsyncIterable<ListedObject> {
    const prefix = `${this.#options.prefix}${folder}/`
    for (let after: string | undefined; ;) {
      const query = { 'list-type': '2', prefix, ...(after !== undefined && { 'start-after': after }) }
      const page = (await this.#must('GET', '', { query })).body.toString()
      const before = after
      for (const [, listed = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        after = elementOf(listed, 'Key') ?? ''
        yield { name: after.slice(this.#options.prefix.length), modifiedAt: Date.parse(elementOf(listed, 'LastModified') ?? '') }
      }
      if (elementOf(page, 'IsTruncated') !== 'true' || after === before) return
    }
  }

  async #must(method: string, name: string, request: Request): Promise<Answer> {
    const answer = await this.#ask(method, name, request)
    if (answer.status >= 300) throw this.#refused(answer)
    return answer
  }

  /** Repeats a request until its response is final. */
  async #ask(method: string, name: string, request: Request = {}): Promise<Answer> {
    const deadline = Date.now() + (this.#options.retryMs ?? defaults.retryMs)
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      let failure: StoreAway
      try {
        const answer = await this.#once(method, name, request)
        if (!passing.includes(answer.status)) return answer
        failure = this.#refused(answer)
      } catch (error) {
        failure = new StoreAway(`The object store ${this.shown} cannot be reached: ${reasonOf(error)}`, { cause: error })
      }
      if (Date.now() + pause > deadline) throw failure
      await wait(pause * (0.5 + Math.random() / 2))
    }
  }

  async #once(method: string, name: string, { body, sha256, query }: Request): Promise<Answer> {
    const url = new URL(this.#base + (name === '' ? '' : this.#options.prefix + name))
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value)
    const signed = await this.#client.sign(url.href, {
      method,
      redirect: 'error',
      headers: { 'x-amz-content-sha256': sha256 ?? emptySha256 },
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
    })
    // Not in the request: garbage collection of the request would drop its signal, and with it the timeout.
    const response = await fetch(signed, { signal: AbortSignal.timeout(this.#options.requestMs ?? defaults.requestMs) })
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
  }

  #refused(answer: Answer): StoreAway {
    const said = elementOf(answer.body.toString(), 'Message') ?? ''
    return new StoreAway(`The object store ${this.shown} refuses: ${answer.status} ${codeOf(answer)}${said && `, ${said}`}`)
  }
}

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Returns the text of the first element with this name. The elements in use contain no escaped characters. */
const elementOf = (xml: string, name: string): string | undefined => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
const codeOf = ({ body }: Answer): string => elementOf(body.toString('utf8', 0, 4096), 'Code') ?? ''

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message || String((cause as { code?: string }).code)})` : message
}
