/** The job of a load generator, its result, and the clock and counters that all generators share. */

export interface LoadJob {
  readonly port: number
  readonly sessions: number
  /** Load that is not counted, before the load that is. */
  readonly warmupSeconds: number
  readonly seconds: number
  /** Ends the load early after this many acknowledgements, warm-up included. */
  readonly most?: number
  /** Octets of each message or request body. */
  readonly size: number
  readonly from: string
  readonly to: string
}

export interface SmtpJob extends LoadJob {
  readonly login?: { readonly username: string; readonly password: string }
  readonly perConnection: boolean
}

export interface RestJob extends LoadJob {
  readonly key: string
}

export interface LoadResult {
  /** Acknowledged in all, warm-up included. */
  readonly acknowledged: number
  readonly failures: number
  readonly firstFailure?: string
  /** Acknowledgements a second in the counted time. */
  readonly perSecond: number
  /** Milliseconds from the first octet of the transaction to its acknowledgement. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds from the final dot to its acknowledgement; the same as above where there is no dot. */
  readonly dotP50: number
  readonly dotP99: number
  /** The generator's own use of one processor, 1 being all of it. */
  readonly cpu: number
  /** Trace ids of about one in two hundred acknowledgements. */
  readonly traceIds: readonly string[]
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/
const sampleEvery = 200

/** Collects the acknowledgements of all sessions of one generator and prints the result when the last one has left. */
export class LoadRecorder {
  over = false
  readonly #job: LoadJob
  readonly #countFrom: number
  readonly #countUntil: number
  readonly #whole: number[] = []
  readonly #dots: number[] = []
  readonly #traceIds: string[] = []
  readonly #cpuBefore = process.cpuUsage()
  readonly #begun = performance.now()
  #acknowledged = 0
  #counted = 0
  #lastAt = 0
  #failures = 0
  #firstFailure: string | undefined
  #sessions: number

  constructor(job: LoadJob) {
    this.#job = job
    this.#sessions = job.sessions
    this.#countFrom = this.#begun + job.warmupSeconds * 1000
    this.#countUntil = this.#countFrom + job.seconds * 1000
    setTimeout(() => (this.over = true), this.#countUntil - this.#begun)
  }

  acknowledged(begunAt: number, dotAt: number, reply: Buffer): void {
    const now = performance.now()
    if (++this.#acknowledged % sampleEvery === 0) this.#sample(reply)
    if (this.#acknowledged >= (this.#job.most ?? Infinity)) this.over = true
    if (now < this.#countFrom || now > this.#countUntil) return
    this.#counted++
    this.#lastAt = now
    this.#whole.push(now - begunAt)
    this.#dots.push(now - dotAt)
  }

  /** A refusal or a broken link. A server that fails more than a hundred times is not worth measuring. */
  failed(what: string): void {
    this.#firstFailure ??= what.slice(0, 300)
    if (++this.#failures > 100) this.over = true
  }

  /** A session ended because the load is over. */
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
    const elapsed = performance.now() - this.#begun
    const span = this.#job.most === undefined ? this.#job.seconds : (this.#lastAt - this.#countFrom) / 1000
    return {
      acknowledged: this.#acknowledged,
      failures: this.#failures,
      ...(this.#firstFailure !== undefined && { firstFailure: this.#firstFailure }),
      perSecond: this.#counted / span,
      p50: percentile(this.#whole, 0.5),
      p99: percentile(this.#whole, 0.99),
      dotP50: percentile(this.#dots, 0.5),
      dotP99: percentile(this.#dots, 0.99),
      cpu: (user + system) / 1000 / elapsed,
      traceIds: this.#traceIds,
    }
  }
}

/** The value below which `share` of the list lies; 0 for an empty list. */
export function percentile(list: readonly number[], share: number): number {
  const sorted = Float64Array.from(list).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
