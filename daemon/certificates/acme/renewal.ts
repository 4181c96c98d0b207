/**
 * Keeps the certificate of a certificate authority valid. Orders the first certificate, and a new one in the last third of the lifetime.
 * After a failure, retries with growing delays while the current certificate stays in use. No delay exceeds a third of the lifetime,
 * because a private authority may issue for minutes. If daemons share a store, a single daemon orders, and all use the result.
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
  /** Orders started within `orderWindow` by any daemon. */
  readonly begun: Tries
  readonly metrics: Pick<Metrics, 'certificateOrdered'>
  readonly request: Omit<OrderRequest, 'signal'>
}

const minute = 60_000
const hour = 60 * minute
/**
 * Limit of orders in an hour for all daemons together. Let's Encrypt allows five failed validations of a name in an hour, and a daemon does
 * not know how the orders of other daemons ended. Orders requested by a person are not limited. An issued certificate resets the count.
 */
export const orderWindow = { windowMs: hour, most: 4 }
const backoffMs = [5 * minute, 20 * minute, hour, 3 * hour, 6 * hour, 12 * hour]
/** Longest wait before the wall clock is checked again, because timers stop while a machine sleeps. */
const everyMs = hour
const renewAt = 2 / 3
/** Spreads the renewals of daemons that started at the same time. */
const jitterShare = 0.05
const backoffJitter = 0.2

const workName = 'certificate'
/** Messages between daemons: a new certificate is available; a failed order should be retried. */
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
  /** A person requested the order, so the limit does not apply. */
  #isAsked = false

  constructor(options: RenewalOptions) {
    this.#options = options
    this.#jitter = options.random() * jitterShare
  }

  /** Uses the stored certificate of this or another daemon. */
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

  /** Uses a replaced certificate file. A failed order is retried immediately by the daemon that orders. */
  async reload(): Promise<void> {
    if (this.#stop.signal.aborted) return
    await this.prepare()
    if (!this.#isOurs) this.#options.daemons.publish(againTopic, [''])
    this.#again()
    await this.#running
  }

  async #begin(): Promise<void> {
    await this.prepare() // the previous daemon may have stored another certificate last
    this.#isOurs = true
    this.#check()
  }

  /** Does not wait for the certificate authority. The next daemon in charge starts an unfinished order again. */
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
    this.prepare().catch((error: unknown) => log.warn({ err: error }, 'could not load the stored certificate'))
  }

  /** Orders if a certificate is due, and otherwise schedules the next check. */
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

  /** Limits a delay, so that it is at most the time between a renewal and the end of the certificate. */
  #atMost(milliseconds: number): number {
    return Math.min(milliseconds, this.#lifetimeMs() * (1 - renewAt))
  }

  /** Returns the lifetime of the current certificate. */
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
      this.#notBefore = this.#options.clock.now() + this.#atMost(hour) // authorities limit the rate of orders
      metrics.certificateOrdered('issued')
      const { issuer } = new X509Certificate(ordered.cert)
      log.info({ names, issuer, expires: this.#options.current.expires }, 'certificate issued; new connections use it')
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    }
  }

  /** Whether the limit of recent orders is reached. Otherwise counts this order. */
  async #waitsForOthers(): Promise<boolean> {
    const { request, begun, clock, log, current } = this.#options
    const { names } = request
    const always = this.#isAsked
    this.#isAsked = false
    const { tries, waitMs } = await begun.add(this.#nameOfOrders(), { always })
    if (always || tries < orderWindow.most) return false
    this.#notBefore = clock.now() + waitMs
    current.problem = `No certificate was ordered for ${names.join(', ')}: this and other daemons started ${tries} orders within an hour.`
    log.warn(
      { names, orders: tries, next_attempt_at: new Date(this.#notBefore) },
      'limit of certificate orders reached; the next order waits',
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
    log.warn({ ...facts, expires: current.expires }, 'certificate order failed; the current certificate stays in use')
  }
}

/** Returns a promise that rejects when the daemon stops. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(new Error('the daemon stops')), { once: true })
  return promise
}
