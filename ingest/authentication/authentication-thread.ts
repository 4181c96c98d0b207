/** The core's `Authenticator`. It works on threads with deadlines and a memory limit, because mail is hostile and its cryptography slow. */
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Clock, Timer } from '#core/clock.ts'
import type { Authentication, Authenticator, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import type { AuthenticationTask, FromAuthentication } from './authentication-worker.ts'
import { boundedDns } from '../dns/bounded-dns.ts'
import type { Resolve } from '../dns/resolve.ts'
import { answerQuestion } from '../dns/thread-questions.ts'
import { afterProcessorTime } from '../threads/thread-time.ts'

/** Times in milliseconds. */
export interface AuthenticationLimits {
  /** Limit for all DNS queries of a mail. */
  readonly dnsMs: number
  /**
   * Processor time of the thread while a mail is in progress, including other mails on the thread. At the limit the thread is ended; see
   * `thread-time.ts`.
   */
  readonly allMs: number
  /** Maximum idle time; idle threads are ended. */
  readonly idleMs: number
}

export interface AuthenticationOptions {
  readonly clock: Clock
  readonly resolve: Resolve
  /** The hostname of this server, for SPF macros. */
  readonly hostname: string
  /** For tests, as is `entry`. */
  readonly limits?: AuthenticationLimits
  readonly entry?: URL
}

const usual: AuthenticationLimits = { dnsMs: 10_000, allMs: 30_000, idleMs: 30_000 }
const heapMiB = 384
/** DNS queries of one mail. Only a mail built for that purpose needs more. */
const maxQuestions = 100
/** Hashing a large mail takes seconds. Mails above this size have a separate thread, so that small mails do not wait. */
const maxSmall = 1024 * 1024
const sizes = ['small', 'large'] as const
type SizeClass = (typeof sizes)[number]
const own = new URL('./authentication-worker.ts', import.meta.url)

/** The result if every attempt failed. */
const unknown: Authentication = {
  spf: { result: 'temperror', domain: null },
  dkim: [],
  dmarc: { result: 'temperror', domain: null, policy: null },
  arc: { result: 'temperror' },
}

export class AuthenticationThread implements Authenticator {
  readonly #options: AuthenticationOptions
  readonly #limits: AuthenticationLimits
  readonly #threads = new Set<Worker>()
  /** The threads that all mails share, unless a mail made its thread fail. */
  readonly #shared: Record<SizeClass, Worker | undefined> = { small: undefined, large: undefined }
  #inFlight = 0
  #idle: Timer | undefined
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(options: AuthenticationOptions) {
    this.#options = options
    this.#limits = options.limits ?? usual
  }

  /** Number of threads that exist. */
  get running(): number {
    return this.#threads.size
  }

  async authenticate(mail: ReceivedMail): Promise<Authentication> {
    if (this.#closed) return unknown
    this.#inFlight++
    this.#idle?.cancel()
    const found = await this.#ask((this.#shared[mail.raw.length > maxSmall ? 'large' : 'small'] ??= this.#start()), mail)
    if (--this.#inFlight === 0) this.#idle = this.#options.clock.after(this.#limits.idleMs, () => this.#rest())
    if (found) return found
    // the thread ended because of this mail or another mail: each is tried once more, alone on a new thread
    const alone = this.#last.then(() => this.#askAlone(mail))
    this.#last = alone
    return (await alone) ?? unknown
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#idle?.cancel()
    await Promise.all([...this.#threads].map((thread) => thread.terminate()))
  }

  async #askAlone(mail: ReceivedMail): Promise<Authentication | undefined> {
    if (this.#closed) return undefined
    const thread = this.#start()
    const found = await this.#ask(thread, mail)
    await thread.terminate()
    return found
  }

  #start(): Worker {
    // the thread parses hostile input: no environment variables, because they may hold secrets
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB }
    const thread = new Worker(this.#options.entry ?? own, { resourceLimits, env: {}, execArgv: [] })
    this.#threads.add(thread)
    thread.on('error', () => this.#end(thread))
    thread.on('exit', () => {
      this.#threads.delete(thread)
      this.#end(thread)
    })
    thread.unref() // only work in progress keeps the process alive
    return thread
  }

  #rest(): void {
    for (const thread of Object.values(this.#shared)) if (thread) this.#end(thread)
  }

  #end(thread: Worker): void {
    for (const size of sizes) if (this.#shared[size] === thread) this.#shared[size] = undefined
    void thread.terminate()
  }

  /** Sends a mail to a thread. Resolves with undefined if the thread ended without an answer. */
  async #ask(thread: Worker, mail: ReceivedMail): Promise<Authentication | undefined> {
    const { promise, resolve: settle } = Promise.withResolvers<Authentication | undefined>()
    const { port1: port, port2 } = new MessageChannel()
    const resolve = this.#dns()
    port.on('message', (message: FromAuthentication) => {
      if (message.kind === 'authentication') settle(message.authentication)
      else void answerQuestion(message, resolve).then((answer) => port.postMessage(answer))
    })
    port.on('close', () => settle(undefined))
    const late = (): void => {
      settle(undefined)
      this.#end(thread)
    }
    const deadline = afterProcessorTime(this.#options.clock, () => thread, this.#limits.allMs, late)
    thread.postMessage({ mail, hostname: this.#options.hostname, port: port2 } satisfies AuthenticationTask, [port2])
    try {
      return await promise
    } finally {
      deadline.cancel()
      port.close()
    }
  }

  /** Resolver for one mail. */
  #dns(): Resolve {
    const { clock, resolve } = this.#options
    let end: number | undefined // counted from the first query, because the thread may be busy at first
    const bounded = boundedDns(resolve, clock, () => (end ??= clock.monotonic() + this.#limits.dnsMs) - clock.monotonic())
    let asked = 0
    return (name, type) => (++asked > maxQuestions ? Promise.reject(tooMany) : bounded(name, type))
  }
}

const tooMany = Object.assign(new Error('too many questions'), { code: 'ETIMEOUT' })
