/** Cache of parsed messages, so that repeated views do not parse again. */
import type { Clock } from '../../clock.ts'
import type { ReadMessage, ReadResult } from './message-reader.ts'

/** Maximum octets in total, per organization, and per message. */
export interface ReadingCacheLimits {
  readonly all: number
  readonly organization: number
  readonly message: number
}

const usual: ReadingCacheLimits = { all: 24 * 1024 * 1024, organization: 6 * 1024 * 1024, message: 3 * 1024 * 1024 }

interface CachedReading {
  readonly result: ReadResult
  /** On the monotonic clock. A failure may be temporary, for example on an overloaded machine. */
  readonly until: number
  readonly octets: number
}

/** Evicts the least recently used messages: of an organization over its limit, then of all. */
export class ReadingCache {
  readonly #clock: Clock
  readonly #limits: ReadingCacheLimits
  /** By organization, then by message; both in order of use. */
  readonly #organizations = new Map<string, Map<string, CachedReading>>()
  readonly #octetsOf = new Map<string, number>()
  #octets = 0

  constructor(clock: Clock, limits: ReadingCacheLimits = usual) {
    this.#clock = clock
    this.#limits = limits
  }

  get(organizationId: string, messageId: string): ReadResult | undefined {
    const own = this.#organizations.get(organizationId)
    const kept = own?.get(messageId)
    if (!own || !kept || kept.until < this.#clock.monotonic()) return undefined
    own.delete(messageId)
    own.set(messageId, kept)
    this.#organizations.delete(organizationId)
    this.#organizations.set(organizationId, own)
    return kept.result
  }

  /** Returns the result. Caches it unless it is too large or a failure that a retry may resolve. */
  keep(organizationId: string, messageId: string, result: ReadResult): ReadResult {
    const octets = result.ok ? octetsOf(result.message) : failureOctets
    if (octets <= this.#limits.message && (result.ok || result.isLasting)) this.#put(organizationId, messageId, { result, octets })
    return result
  }

  #put(organizationId: string, messageId: string, { result, octets }: Pick<CachedReading, 'result' | 'octets'>): void {
    const own = this.#organizations.get(organizationId) ?? new Map<string, CachedReading>()
    this.#organizations.delete(organizationId)
    this.#organizations.set(organizationId, own)
    this.#count(organizationId, octets - (own.get(messageId)?.octets ?? 0))
    own.delete(messageId)
    own.set(messageId, { result, octets, until: result.ok ? Infinity : this.#clock.monotonic() + failureMs })
    while ((this.#octetsOf.get(organizationId) ?? 0) > this.#limits.organization) this.#dropOldest(organizationId, own)
    for (const [oldest, its] of this.#organizations) {
      while (this.#octets > this.#limits.all && its.size > 0) this.#dropOldest(oldest, its)
      if (this.#octets <= this.#limits.all) return
    }
  }

  #dropOldest(organizationId: string, own: Map<string, CachedReading>): void {
    for (const [messageId, { octets }] of own) {
      own.delete(messageId)
      this.#count(organizationId, -octets)
      break
    }
    if (own.size > 0) return
    this.#organizations.delete(organizationId)
    this.#octetsOf.delete(organizationId)
  }

  #count(organizationId: string, octets: number): void {
    this.#octets += octets
    this.#octetsOf.set(organizationId, (this.#octetsOf.get(organizationId) ?? 0) + octets)
  }
}

const failureOctets = 512
const failureMs = 600_000

/** Estimates the memory of a message, with two octets per character. */
function octetsOf({
  notes,
  subject,
  text,
  html,
  document,
  headers,
  addressesSeen,
  attachments,
  from,
  to,
  cc,
  bcc,
  replyTo,
  visible,
}: ReadMessage): number {
  const around = [document.root, document.body].flatMap((attributes) => Object.values(attributes))
  const strings = [
    subject,
    text,
    html,
    document.html,
    document.styles,
    visible?.text ?? '',
    ...(visible?.links ?? []).flatMap((link) => [link.text, link.href]),
    ...around,
    ...addressesSeen,
    ...notes.map(({ sentence }) => sentence),
    ...headers.flatMap(({ name, value }) => [name, value]),
  ]
  const entries = strings.length + attachments.length + from.length + to.length + cc.length + bcc.length + replyTo.length
  return 512 + 2 * strings.reduce((sum, { length }) => sum + length, 0) + 128 * entries
}
