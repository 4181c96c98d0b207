/**
 * Keeps the certificate that is ordered from a certificate authority valid: orders the first one, and another with a third of the lifetime
 * left. What fails is tried again later and later; meanwhile the certificate before it is served.
 */
import { X509Certificate } from 'node:crypto'
import type { Timer } from '#core/clock.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { covers, usable } from '../certificate.ts'
import type { CertificateSource } from '../certificate-source.ts'
import type { SourceOptions } from '../configured-files.ts'
import { orderCertificate, OrderFailed, type OrderRequest } from './order.ts'
import { keepOrdered, readOrdered, type Ordered } from './ordered-files.ts'

export interface RenewalOptions extends SourceOptions {
  readonly random: () => number
  readonly metrics: Pick<Metrics, 'certificateOrdered'>
  readonly request: Omit<OrderRequest, 'signal'>
}

const minute = 60_000
const hour = 60 * minute
/** Let's Encrypt takes five failed validations of a name in an hour. */
const backoffMs = [5 * minute, 20 * minute, hour, 3 * hour, 6 * hour, 12 * hour]
/** By the wall clock, which moves while a machine sleeps. */
const everyMs = hour
const renewAt = 2 / 3
/** So that many daemons that began together do not renew together. */
const jitterShare = 0.05
const backoffJitter = 0.2

export class AcmeRenewal implements CertificateSource {
  readonly #options: RenewalOptions
  readonly #stop = new AbortController()
  readonly #jitter: number
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #ordered: Ordered | undefined
  #failures = 0
  #notBefore = 0

  constructor(options: RenewalOptions) {
    this.#options = options
    this.#jitter = options.random() * jitterShare
  }

  async start(): Promise<void> {
    this.#ordered = await readOrdered(this.#options.request.dataDir)
    this.#check()
  }

  /** Does not wait for the certificate authority: an order that was not finished is begun anew after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#timer?.cancel()
    await this.#running
  }

  /** What was put in the place of the file is taken; what failed is tried again at once. */
  async reload(): Promise<void> {
    if (this.#stop.signal.aborted) return
    const kept = await readOrdered(this.#options.request.dataDir)
    if (kept) this.#put(kept)
    this.#notBefore = 0
    this.#check()
    await this.#running
  }

  /** Orders if it is time, and looks again when it may be. */
  #check(): void {
    if (this.#running || this.#stop.signal.aborted) return
    const { clock } = this.#options
    const now = clock.now()
    const at = Math.max(this.#dueAt(now), this.#notBefore)
    this.#timer?.cancel()
    if (at > now) {
      this.#timer = clock.after(Math.min(at - now, everyMs), () => this.#check())
      return
    }
    this.#running = this.#order().finally(() => {
      this.#running = undefined
      this.#check()
    })
  }

  #dueAt(now: number): number {
    const { current, request } = this.#options
    const isWanted = this.#ordered?.directory === request.directory && this.#ordered.cert === current.cert
    if (!isWanted || request.names.some((name) => !covers(current, name))) return now
    const [begins, expires] = [current.begins.getTime(), current.expires.getTime()]
    return begins + (expires - begins) * (renewAt - this.#jitter)
  }

  async #order(): Promise<void> {
    const { request, log, metrics } = this.#options
    const { signal } = this.#stop
    const { names, directory } = request
    try {
      log.info({ names, directory }, 'ordering a certificate')
      const ordered = await Promise.race([orderCertificate({ ...request, signal }), aborted(signal)])
      await keepOrdered(request.dataDir, ordered)
      this.#put(ordered)
      this.#failures = 0
      this.#notBefore = this.#options.clock.now() + hour // whatever was issued: authorities bound how often they are asked
      metrics.certificateOrdered('issued')
      const { issuer } = new X509Certificate(ordered.cert)
      log.info({ names, issuer, expires: this.#options.current.expires }, 'a certificate was issued; new connections get it')
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    }
  }

  #put(ordered: Ordered): void {
    const certificate = usable(ordered.cert, ordered.key)
    if (!certificate) return
    this.#ordered = ordered
    if (ordered.cert !== this.#options.current.cert) this.#options.current.replace(certificate)
  }

  #failed(error: unknown): void {
    const { request, current, clock, random, log, metrics } = this.#options
    const wait = backoffMs[Math.min(this.#failures, backoffMs.length - 1)]! * (1 + random() * backoffJitter)
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
