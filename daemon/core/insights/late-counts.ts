/**
 * Counts events that cause no write themselves: refused sends, SMTP logins, views of forms. Counts are collected, so that repeated refusals
 * cost one write.
 */
import { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { HeldCounts } from '../held-counts.ts'
import { countFor, type Place } from './count.ts'
import { ofProject } from './levels.ts'

export interface LateCountsOptions extends Core {
  readonly onError: (error: unknown) => void
}

/** Adds counts to a write; `times` is the number of events for each name. */
type Adding = (change: Change, names: readonly string[], nowMs: number, times: number) => void | Promise<void>

interface Held {
  readonly place: Place
  readonly adding: Adding
  readonly counts: Map<string, number>
}

export class LateCounts {
  readonly #held: HeldCounts<Held>

  constructor(options: LateCountsOptions) {
    this.#held = new HeldCounts({ ...options, write: (held) => write(options, held) })
  }

  /** Counts in the row of the project, or in the row of a subject by its id. */
  count(place: Place, name: string, subject = ofProject): void {
    this.countIn(subject, place, name, (change, names, nowMs, times) => countFor(change, place, subject, names, nowMs, times))
  }

  /** Counts in other rows of a project; `where` identifies them. */
  countIn(where: string, place: Place, name: string, adding: Adding): void {
    const { counts } = this.#held.of(`${place.organizationId} ${place.projectId} ${where}`, () => ({ place, adding, counts: new Map() }))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }

  /** Writes the collected counts; resolves when they are durable. */
  stop(): Promise<void> {
    return this.#held.flush()
  }
}

async function write({ database, policies, clock }: LateCountsOptions, all: ReadonlyMap<string, Held>): Promise<void> {
  const change = new Change()
  for (const { place, adding, counts } of all.values()) {
    const { projects } = await policies.of(place.organizationId)
    if (!projects.has(place.projectId)) continue // deleted in the meantime
    for (const [name, times] of counts) await adding(change, [name], clock.now(), times)
  }
  if (change.tallies.length > 0) await database.commit(change)
}
