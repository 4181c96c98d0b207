/** Counts what writes nothing by itself: refused sends, logins over SMTP, views of forms. Whoever is refused in a row costs one write. */
import { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { HeldCounts } from '../held-counts.ts'
import { countFor, type Place } from './count.ts'
import { ofProject } from './levels.ts'

export interface LateCountsOptions extends Core {
  readonly onError: (error: unknown) => void
}

/** Adds to a write that each of the names happened so often. */
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

  /** In the row of the project, or of one thing of it, by its id. */
  count(place: Place, name: string, subject = ofProject): void {
    this.countIn(subject, place, name, (change, names, nowMs, times) => countFor(change, place, subject, names, nowMs, times))
  }

  /** In other rows of what belongs to a project; `where` names them. */
  countIn(where: string, place: Place, name: string, adding: Adding): void {
    const { counts } = this.#held.of(`${place.organizationId} ${place.projectId} ${where}`, () => ({ place, adding, counts: new Map() }))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }

  /** Writes what is held; resolves when that is durable. */
  stop(): Promise<void> {
    return this.#held.flush()
  }
}

async function write({ database, policies, clock }: LateCountsOptions, all: ReadonlyMap<string, Held>): Promise<void> {
  const change = new Change()
  for (const { place, adding, counts } of all.values()) {
    const { projects } = await policies.of(place.organizationId)
    if (!projects.has(place.projectId)) continue // deleted meanwhile
    for (const [name, times] of counts) await adding(change, [name], clock.now(), times)
  }
  if (change.tallies.length > 0) await database.commit(change)
}
