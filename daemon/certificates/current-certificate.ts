/** The certificate for new connections. Open connections keep theirs. */
import type { Certificate } from './certificate.ts'

/** A certificate with its key, both in PEM. */
type Pair = Pick<Certificate, 'cert' | 'key'>

export class CurrentCertificate {
  /** Postern created the certificate, so clients cannot verify it. */
  readonly isSelfMade: boolean
  /** Reason why the certificate could not be replaced, for people; undefined without a problem. */
  problem: string | undefined
  readonly #takers = new Set<(pair: Pair) => void>()
  #certificate: Certificate

  constructor(first: Certificate, isSelfMade: boolean) {
    this.#certificate = first
    this.isSelfMade = isSelfMade
  }

  get cert(): string {
    return this.#certificate.cert
  }

  get key(): string {
    return this.#certificate.key
  }

  get selfSigned(): boolean {
    return this.#certificate.selfSigned
  }

  get begins(): Date {
    return this.#certificate.begins
  }

  get expires(): Date {
    return this.#certificate.expires
  }

  /** Calls `take` with each replacement. The returned function stops the calls. */
  onChange(take: (pair: Pair) => void): () => void {
    this.#takers.add(take)
    return () => void this.#takers.delete(take)
  }

  /** Replaces the certificate of all listeners for new connections. */
  replace(next: Certificate): void {
    this.#certificate = next
    this.problem = undefined
    for (const take of this.#takers) take(next)
  }

  /** Returns a warning for monitoring; undefined without a problem. */
  warning(now: number): string | undefined {
    const left = this.expires.getTime() - now
    if (left <= 0) return 'certificate.expired: The certificate has expired.'
    if (this.problem !== undefined) return 'The certificate could not be replaced; the log says why.'
    const whole = this.expires.getTime() - this.begins.getTime()
    return !this.isSelfMade && left < whole * lateShare ? `The certificate expires at ${this.expires.toISOString()}.` : undefined
  }
}

/** Share of the lifetime below which a warning is due. Renewals start at a third, so they have failed for a long time. */
const lateShare = 0.2
