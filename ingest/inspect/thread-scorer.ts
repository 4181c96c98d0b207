/** Scores mails on separate threads, a few at a time, because mail is hostile and the signature packages are large. */
import { Worker } from 'node:worker_threads'
import type { Clock } from '#core/clock.ts'
import type { InspectScore, InspectScorer, InspectSession } from '#core/inspect/report.ts'
import { answerQuestion, answerTo } from '../dns/thread-questions.ts'
import { afterProcessorTime } from '../threads/thread-time.ts'
import { excessOf } from '../authentication/verifiable-head.ts'
import { boundedDns } from '../dns/bounded-dns.ts'
import { WatchedLists } from '../dns/dns-lists.ts'
import type { DnsList, Resolve } from '../dns/resolve.ts'
import { problemText, type ProblemCode } from './sentences/problems.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

export interface ScorerLimits {
  /** Limit for all DNS queries of a mail, from the first query on, in milliseconds. */
  readonly dnsMs: number
  /** Limit of processor time for a mail, from the start of its scoring; see `thread-time.ts`. */
  readonly allMs: number
  /** Limit for the start of the thread, which takes long on a busy machine. */
  readonly startMs: number
  /** Number of mails scored at a time. */
  readonly most: number
}

export interface ThreadScorerOptions {
  readonly clock: Clock
  readonly resolve: Resolve
  readonly lists: readonly DnsList[]
  /** Fetches the MTA-STS policy of a domain before the deadline in milliseconds. Undefined if fetching is not permitted. */
  readonly fetchPolicy?: ((domain: string, deadlineMs: number) => Promise<string>) | undefined
  readonly limits?: ScorerLimits
  /** For tests. */
  readonly entry?: URL
}

const usual: ScorerLimits = { dnsMs: 8500, allMs: 20_000, startMs: 60_000, most: 4 }
const policyMs = 5000
const heapMiB = 384
const maxHeader = 1024 * 1024
const worker = new URL('./score-worker.ts', import.meta.url)

export class ThreadScorer implements InspectScorer, AsyncDisposable {
  readonly #options: ThreadScorerOptions
  readonly #limits: ScorerLimits
  readonly #lists: WatchedLists
  readonly #threads = new Set<Worker>()
  readonly #waiting: (() => void)[] = []
  #free: number
  #closed = false

  constructor(options: ThreadScorerOptions) {
    this.#options = options
    this.#limits = options.limits ?? usual
    this.#lists = new WatchedLists(options.lists, options.clock)
    this.#free = this.#limits.most
  }

  /** Number of running threads. */
  get running(): number {
    return this.#threads.size
  }

  async score(raw: Uint8Array, session: InspectSession): Promise<InspectScore> {
    if (this.#free === 0) await new Promise<void>((go) => this.#waiting.push(go))
    else this.#free -= 1
    try {
      if (this.#closed) return unscored('closing')
      const excess = excessOf(raw, { maxOctets: maxHeader })
      return excess ? unscored(excessive[excess]) : await this.#score(raw, session)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#threads].map((thread) => thread.terminate()))
  }

  /** The remaining time for DNS queries; the limit starts with the first query. */
  #dnsTime(): () => number {
    const { clock } = this.#options
    let end: number | undefined
    return () => (end ??= clock.monotonic() + this.#limits.dnsMs) - clock.monotonic()
  }

  async #score(raw: Uint8Array, session: InspectSession): Promise<InspectScore> {
    const { clock, entry = worker, fetchPolicy } = this.#options
    const left = this.#dnsTime()
    const resolve = boundedDns(this.#options.resolve, clock, left)
    const { promise, resolve: settle } = Promise.withResolvers<InspectScore>()
    // the thread parses hostile input: no environment variables, because they may hold secrets
    const thread = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {}, execArgv: [] })
    this.#threads.add(thread)
    const late = (): void => settle(unscored('slow'))
    let timer = clock.after(this.#limits.startMs, late)
    const post = (message: ToThread): void => thread.postMessage(message)
    const failed = (error: unknown): void => settle(this.#closed ? unscored('closing') : unscored('unreadable', error))
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'begun') {
        timer.cancel()
        timer = afterProcessorTime(clock, () => thread, this.#limits.allMs, late)
        // other queries continue while the lists are tested
        void this.#lists.current(boundedDns(this.#options.resolve, clock, this.#dnsTime())).then((lists) => post({ kind: 'lists', lists }))
      } else if (message.kind === 'report') settle({ ok: true, report: message.report })
      else if (message.kind === 'question') void answerQuestion(message, resolve).then(post)
      else if (fetchPolicy) void answerTo(message.number, fetchPolicy(message.domain, Math.max(1, Math.min(policyMs, left())))).then(post)
    })
    thread.on('error', failed)
    thread.on('exit', (code) => failed(new Error(`the thread that scores ended with ${code}`)))
    post({ kind: 'score', raw, session, now: session.receivedAt, hasPolicies: fetchPolicy !== undefined })
    try {
      return await promise
    } finally {
      timer.cancel()
      this.#threads.delete(thread)
      await thread.terminate()
    }
  }
}

const excessive = { octets: 'header_octets', lines: 'header_lines' } as const

const unscored = (code: ProblemCode, error?: unknown): InspectScore => ({
  ...{ ok: false, problem: problemText(code) },
  ...(error !== undefined && { error }),
})
