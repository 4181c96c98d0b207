/**
 * Octets that are sent for sites: fields and bodies, as they go to the connection. They are held for a second, so that an answer costs no
 * write of its own; a crash loses that second.
 */
import { Change } from '#store/change.ts'
import type { Timer } from '../../clock.ts'
import type { Core } from '../../core.ts'
import { answersCounter, owedKey, trafficCounter, unsettledCounter } from '../site.ts'

export interface SiteTrafficOptions extends Pick<Core, 'database' | 'clock'> {
  readonly onError: (error: unknown) => void
}

const heldMs = 1000

interface Held {
  readonly organizationId: string
  bytes: number
  answers: number
}

/** A day in UTC, as `2026-11-28`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

export class SiteTraffic {
  readonly #options: SiteTrafficOptions
  #held = new Map<string, Held>()
  #timer: Timer | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: SiteTrafficOptions) {
    this.#options = options
  }

  count(organizationId: string, siteId: string, bytes: number): void {
    const held = this.#held.get(siteId)
    if (held) {
      held.bytes += bytes
      held.answers++
    } else this.#held.set(siteId, { organizationId, bytes, answers: 1 })
    this.#timer ??= this.#options.clock.after(heldMs, () => this.#write())
  }

  /** Writes what is held; resolves when that is durable. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#write()
    await this.#writing
  }

  #write(): void {
    this.#timer = undefined
    if (this.#held.size === 0) return
    const { database, clock, onError } = this.#options
    const day = dayOf(clock.now())
    const change = new Change()
    for (const [siteId, { organizationId, bytes, answers }] of this.#held) {
      change.add(trafficCounter(organizationId, siteId, day), bytes)
      change.add(answersCounter(organizationId, siteId, day), answers)
      change.add(unsettledCounter(organizationId, siteId), bytes).set(owedKey(organizationId, siteId))
    }
    this.#held = new Map()
    const before = this.#writing
    this.#writing = before.then(() => database.commit(change)).catch(onError)
  }
}
