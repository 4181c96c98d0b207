/** The job of a load generator, its result, and the clock and counters that all generators share. */

/** Number of parallel clients in all measurements. */
export const sessions = 50

export interface LoadJob {
  readonly port: number
  readonly sessions: number
  /** Number of measured acknowledgements. The first of each session is sent earlier and does not count. */
  readonly count: number
  /** Maximum duration of the load, regardless of the number of measured messages. */
  readonly mostSeconds: number
  /** Octets of each message or request body. */
  readonly size: number
  readonly from: string
  readonly to: string
}

/** Behavior of an SMTP client: PHPMailer, nodemailer and smtplib wait for the reply to each command; Postfix pipelines (RFC 2920). */
export interface SmtpDialog {
  readonly pipelining: boolean
  /** Uses a new connection with a login for each message. */
  readonly perConnection: boolean
  /** Uses STARTTLS before the login without session resumption, like a program that ends after its message. */
  readonly starttls: boolean
}

export interface SmtpJob extends LoadJob, SmtpDialog {
  readonly login?: { readonly username: string; readonly password: string }
}

export type RestRequest = RecordedRequest | MadeRequest

/** A client's request as Latin-1, sent unchanged. */
export interface RecordedRequest {
  readonly raw: string
}

export interface MadeRequest {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RestJob extends LoadJob {
  readonly key: string
  /** Pause of a connection between an acknowledgement and its next request; 0 by default. */
  readonly restMs?: number
  /** Sent unchanged instead of a message. Without a body, it is a GET. */
  readonly request?: RestRequest
  /** A file with a `RestRequest` in each line. Each is sent once. */
  readonly requests?: string
}

/** Clients of the handshake storm. */
export interface StormJob {
  readonly port: number
  readonly sessions: number
}

export interface StormResult {
  readonly handshakes: number
  /** Connections that ended without a response. */
  readonly failures: number
  readonly seconds: number
  /** Processor load of the generator. */
  readonly cpu: number
}

/** Connections that repeat one request until the attack stops. */
export interface AttackJob {
  readonly port: number
  readonly sessions: number
  /** The file with the request. */
  readonly request: string
}

export interface AttackResult {
  readonly served: number
  /** Responses with 429 or 503. */
  readonly refused: number
  readonly broken: number
  readonly seconds: number
}

export interface LoadResult {
  /** All acknowledged messages, including the first of each session. */
  readonly acknowledged: number
  readonly failures: number
  readonly firstFailure?: string
  /** Start of the first transaction, by `monotonicMs()`. */
  readonly begunAt: number
  /** Measured acknowledgements per second. */
  readonly perSecond: number
  /** Milliseconds from the first octet of the transaction to its acknowledgement. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds from the final dot to its acknowledgement; equal to the previous figure without a dot. */
  readonly dotP50: number
  readonly dotP99: number
  /** Processor load of the generator; 1 is one full processor. */
  readonly cpu: number
  /** Trace ids of about 0.5% of the acknowledgements. */
  readonly traceIds: readonly string[]
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/
const sampleEvery = 200

/** A clock shared by all processes of the machine, in milliseconds. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** Collects the acknowledgements of all sessions of a generator. Prints the result after the last session. */
export class LoadRecorder {
  over = false
  readonly #most: number
  readonly #uncounted: number
  readonly #whole: number[] = []
  readonly #dots: number[] = []
  readonly #traceIds: string[] = []
  readonly #cpuBefore = process.cpuUsage()
  readonly #begun = monotonicMs()
  #begunAt = 0
  #countedFrom = 0
  #countedUntil = 0
  #acknowledged = 0
  #failures = 0
  #firstFailure: string | undefined
  #sessions: number

  constructor({ sessions, count, mostSeconds }: LoadJob) {
    this.#sessions = sessions
    this.#uncounted = sessions
    this.#most = sessions + count
    setTimeout(() => (this.over = true), mostSeconds * 1000)
  }

  /** Starts a transaction now, by `monotonicMs()`. */
  begins(): number {
    const now = monotonicMs()
    if (this.#begunAt === 0) this.#begunAt = now
    return now
  }

  acknowledged(begunAt: number, dotAt: number, reply: Buffer): void {
    const now = monotonicMs()
    if (++this.#acknowledged % sampleEvery === 0) this.#sample(reply)
    if (this.#acknowledged >= this.#most) this.over = true
    if (this.#acknowledged === this.#uncounted) this.#countedFrom = now
    if (this.#acknowledged <= this.#uncounted) return
    this.#countedUntil = now
    this.#whole.push(now - begunAt)
    this.#dots.push(now - dotAt)
  }

  /** Records a refusal or a lost connection. More than 100 failures end the measurement. */
  failed(what: string): void {
    this.#firstFailure ??= what.slice(0, 300)
    if (++this.#failures > 100) this.over = true
  }

  /** A session ended with the load. */
  left(): void {
    if (--this.#sessions > 0) return
    process.stdout.write(JSON.stringify(this.#result()), () => process.exit(0))
  }

  #sample(reply: Buffer): void {
    const id = uuid.exec(reply.toString('latin1'))?.[0]
    if (id !== undefined) this.#traceIds.push(id)
  }

  #result(): LoadResult {
    const { user, system } = process.cpuUsage(this.#cpuBefore)
    return {
      acknowledged: this.#acknowledged,
      failures: this.#failures,
      ...(this.#firstFailure !== undefined && { firstFailure: this.#firstFailure }),
      begunAt: this.#begunAt,
      perSecond: this.#whole.length / ((this.#countedUntil - this.#countedFrom) / 1000),
      p50: percentile(this.#whole, 0.5),
      p99: percentile(this.#whole, 0.99),
      dotP50: percentile(this.#dots, 0.5),
      dotP99: percentile(this.#dots, 0.99),
      cpu: (user + system) / 1000 / (monotonicMs() - this.#begun),
      traceIds: this.#traceIds,
    }
  }
}

/** Returns the quantile `share` of the list; 0 for an empty list. */
export function percentile(list: readonly number[], share: number): number {
  const sorted = Float64Array.from(list).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
