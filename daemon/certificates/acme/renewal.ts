/**
 * Keeps the certificate that is ordered from a certificate authority valid: orders the first one, and another with a third of the lifetime
 * left. What fails is tried again later and later; meanwhile the certificate before it is served. All waits are at most a third of the
 * lifetime, so that a private authority may issue for minutes. Of daemons that share a store one orders,
 * and all take what it was given.
 */
import { X509Certificate } from 'node:crypto'
import type { Timer } from '#core/clock.ts'
import type { Tries } from '#core/visitors/tries.ts'
import type { Daemons } from '#store/daemons/daemons.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { covers, usable } from '../certificate.ts'
import type { CertificateSource } from '../certificate-source.ts'
import type { SourceOptions } from '../configured-files.ts'
import { orderCertificate, OrderFailed, type OrderRequest } from './order.ts'
import type { Ordered } from './order-records.ts'

export interface RenewalOptions extends SourceOptions {
  readonly daemons: Daemons
  readonly random: () => number
  /** Orders that were begun within `orderWindow`, by any daemon. */
  readonly begun: Tries
  readonly metrics: Pick<Metrics, 'certificateOrdered'>
  readonly request: Omit<OrderRequest, 'signal'>
}

const minute = 60_000
const hour = 60 * minute
/**
 * Let's Encrypt takes five failed validations of a name in an hour. Who begins an order does not know how those of others went, as one is
 * dead and another has handed over: together they begin so many, and what a person asks for. An issued certificate starts the count anew.
 */
export const orderWindow = { windowMs: hour, most: 4 }
const backoffMs = [5 * minute, 20 * minute, hour, 3 * hour, 6 * hour, 12 * hour]
/** By the wall clock, which moves while a machine sleeps. */
const everyMs = hour
const renewAt = 2 / 3
/** So that many daemons that began together do not renew together. */
const jitterShare = 0.05
const backoffJitter = 0.2

const workName = 'certificate'
/** Between daemons: another certificate is there, or what failed is to be tried again. */
const [issuedTopic, againTopic] = ['certificate issued', 'certificate again']

export class AcmeRenewal implements CertificateSource {
  readonly #options: RenewalOptions
  readonly #stop = new AbortController()
  readonly #jitter: number
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #ordered: Ordered | undefined
  /** This daemon orders. */
  #isOurs = false
  #failures = 0
  #notBefore = 0
  /** By a person, who knows what has changed. */
  #isAsked = false

  constructor(options: RenewalOptions) {
    this.#options = options
    this.#jitter = options.random() * jitterShare
  }

  /** Takes what is kept, by this daemon or another one. */
  async prepare(): Promise<void> {
    const kept = await this.#options.request.records.certificate()
    if (kept) this.#put(kept)
  }

  async start(): Promise<void> {
    const { daemons, request } = this.#options
    daemons.subscribe(issuedTopic, () => this.#follow())
    daemons.subscribe(againTopic, () => this.#again())
    daemons.onGap(() => this.#follow())
    await this.prepare()
    await request.challenges.load()
    await daemons.share({ name: workName, start: () => this.#begin(), stop: () => this.#end() })
    this.#check()
  }

  stop(): Promise<void> {
    return this.#options.daemons.leave(workName)
  }

  /** What was put in the place of what is kept is taken; what failed is tried again at once, by the daemon that orders. */
  async reload(): Promise<void> {
    if (this.#stop.signal.aborted) return
    await this.prepare()
    if (!this.#isOurs) this.#options.daemons.publish(againTopic, [''])
    this.#again()
    await this.#running
  }

  async #begin(): Promise<void> {
    await this.prepare() // the daemon before may have kept another one at last
    this.#isOurs = true
    this.#check()
  }

  /** Does not wait for the certificate authority: an order that was not finished is begun anew by who orders next. */
  async #end(): Promise<void> {
    this.#stop.abort()
    this.#timer?.cancel()
    await this.#running
  }

  #again(): void {
    if (!this.#isOurs) return
    this.#notBefore = 0
    this.#isAsked = true
    this.#check()
  }

  #follow(): void {
    const { log } = this.#options
    if (this.#stop.signal.aborted) return
    this.prepare().catch((error: unknown) => log.warn({ err: error }, 'the certificate that is kept could not be read'))
  }

  /** Orders if it is time, and looks again when it may be. */
  #check(): void {
    if (this.#running || this.#stop.signal.aborted) return
    const { clock } = this.#options
    const now = clock.now()
    if (!this.#isOurs) return this.#lookLater(now + everyMs, now)
    const at = Math.max(this.#dueAt(now), this.#notBefore)
    if (at > now) {
      this.#isAsked = false
      return this.#lookLater(at, now)
    }
    this.#timer?.cancel()
    this.#running = this.#order().finally(() => {
      this.#running = undefined
      this.#check()
    })
  }

  #lookLater(at: number, now: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(Math.min(at - now, everyMs), () => {
      if (!this.#isOurs) this.#follow()
      this.#check()
    })
  }

  #dueAt(now: number): number {
    const { current, request } = this.#options
    const isWanted = this.#ordered?.directory === request.directory && this.#ordered.cert === current.cert
    if (!isWanted || request.names.some((name) => !covers(current, name))) return now
    return current.begins.getTime() + this.#lifetimeMs() * (renewAt - this.#jitter)
  }

  /** At most the time that is left when a renewal is due. */
  #atMost(milliseconds: number): number {
    return Math.min(milliseconds, this.#lifetimeMs() * (1 - renewAt))
  }

  /** Of the certificate in use. */
  #lifetimeMs(): number {
    const { begins, expires } = this.#options.current
    return expires.getTime() - begins.getTime()
  }

  async #order(): Promise<void> {
    const { request, log, metrics } = this.#options
    const { signal } = this.#stop
    const { names, directory } = request
    try {
      if (await this.#waitsForOthers()) return
      log.info({ names, directory }, 'ordering a certificate')
      const ordered = await Promise.race([orderCertificate({ ...request, signal }), aborted(signal)])
      await request.records.keepCertificate(ordered)
      this.#put(ordered)
      this.#options.daemons.publish(issuedTopic, [''])
      this.#failures = 0
      await this.#options.begun.clear(this.#nameOfOrders())
      this.#notBefore = this.#options.clock.now() + this.#atMost(hour) // whatever was issued: authorities bound how often they are asked
      metrics.certificateOrdered('issued')
      const { issuer } = new X509Certificate(ordered.cert)
      log.info({ names, issuer, expires: this.#options.current.expires }, 'a certificate was issued; new connections get it')
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    }
  }

  /** Whether enough orders were begun lately; counts this one otherwise. */
  async #waitsForOthers(): Promise<boolean> {
    const { request, begun, clock, log, current } = this.#options
    const { names } = request
    const always = this.#isAsked
    this.#isAsked = false
    const { tries, waitMs } = await begun.add(this.#nameOfOrders(), { always })
    if (always || tries < orderWindow.most) return false
    this.#notBefore = clock.now() + waitMs
    current.problem = `No certificate was ordered for ${names.join(', ')}: ${tries} orders were begun within an hour, here or at other daemons.`
    log.warn(
      { names, orders: tries, next_attempt_at: new Date(this.#notBefore) },
      'enough orders were begun within an hour; the next one waits',
    )
    return true
  }

  #nameOfOrders(): string {
    const { names, directory } = this.#options.request
    return [directory, ...names].join(' ')
  }

  #put(ordered: Ordered): void {
    const certificate = usable(ordered.cert, ordered.key)
    if (!certificate) return
    this.#ordered = ordered
    if (ordered.cert !== this.#options.current.cert) this.#options.current.replace(certificate)
  }

  #failed(error: unknown): void {
    const { request, current, clock, random, log, metrics } = this.#options
    const wait = this.#atMost(backoffMs[Math.min(this.#failures, backoffMs.length - 1)]! * (1 + random() * backoffJitter))
    const asked = error instanceof OrderFailed ? (error.retryAfterSeconds ?? 0) * 1000 : 0
    this.#failures++
    this.#notBefore = clock.now() + Math.max(wait, asked)
    metrics.certificateOrdered('failed')
    const message = error instanceof Error ? error.message : String(error)
    current.problem = `No certificate could be ordered for ${request.names.join(', ')}: ${message}`
    const facts = { names: request.names, reason: message, failures: this.#failures, next_attempt_at: new Date(this.#notBefore) }
    log.warn({ ...facts, expires: current.expires }, 'no certificate could be ordered; the one before stays in use')
  }
}

/** Rejects when the daemon stops. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(new Error('the daemon stops')), { once: true })
  return promise
}
