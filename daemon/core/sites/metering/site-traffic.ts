/** Counts octets sent for sites: headers and bodies, as written to the connection. */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { HeldCounts } from '../../held-counts.ts'
import { answersCounter, owedKey, trafficCounter, unsettledCounter } from '../site.ts'

export interface SiteTrafficOptions extends Pick<Core, 'database' | 'clock'> {
  readonly onError: (error: unknown) => void
}

interface Sent {
  readonly organizationId: string
  bytes: number
  answers: number
}

/** Returns the day in UTC, such as `2026-11-28`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

export class SiteTraffic {
  readonly #held: HeldCounts<Sent>

  constructor(options: SiteTrafficOptions) {
    const { database, clock } = options
    const write = (held: ReadonlyMap<string, Sent>): Promise<unknown> => database.commit(changeOf(held, dayOf(clock.now())))
    this.#held = new HeldCounts({ ...options, write })
  }

  count(organizationId: string, siteId: string, bytes: number): void {
    const sent = this.#held.of(siteId, () => ({ organizationId, bytes: 0, answers: 0 }))
    sent.bytes += bytes
    sent.answers++
  }

  /** Writes the counts in memory; resolves when they are durable. */
  flush(): Promise<void> {
    return this.#held.flush()
  }
}

function changeOf(held: ReadonlyMap<string, Sent>, day: string): Change {
  const change = new Change()
  for (const [siteId, { organizationId, bytes, answers }] of held) {
    change.add(trafficCounter(organizationId, siteId, day), bytes)
    change.add(answersCounter(organizationId, siteId, day), answers)
    change.add(unsettledCounter(organizationId, siteId), bytes).set(owedKey(organizationId, siteId))
  }
  return change
}
