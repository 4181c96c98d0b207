/** The certificate that new connections get. Open ones keep theirs. */
import type { Certificate } from './certificate.ts'

/** A certificate with its key, both in PEM. */
type Pair = Pick<Certificate, 'cert' | 'key'>

export class CurrentCertificate {
  /** Made by Postern itself, so that no client can verify it. */
  readonly isSelfMade: boolean
  /** Why another one could not take its place, for people; undefined while nothing is wrong. */
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

  /** Calls `take` with each certificate that takes the place of another, until the returned function is called. */
  onChange(take: (pair: Pair) => void): () => void {
    this.#takers.add(take)
    return () => void this.#takers.delete(take)
  }

  /** From now on every listener gives this one to new connections. */
  replace(next: Certificate): void {
    this.#certificate = next
    this.problem = undefined
    for (const take of this.#takers) take(next)
  }

  /** What whoever watches the service should know; undefined when nothing is wrong. */
  warning(now: number): string | undefined {
    const left = this.expires.getTime() - now
    if (left <= 0) return 'The certificate has expired.'
    if (this.problem !== undefined) return 'The certificate could not be replaced; the log says why.'
    const whole = this.expires.getTime() - this.begins.getTime()
    return !this.isSelfMade && left < whole * lateShare ? `The certificate expires at ${this.expires.toISOString()}.` : undefined
  }
}

/** Renewals begin with a third of the lifetime left; with a fifth left, they have failed for long. */
const lateShare = 0.2
