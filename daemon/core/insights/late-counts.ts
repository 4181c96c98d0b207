/**
 * Counts what writes nothing by itself: refused sends, logins over SMTP, views of forms. They are held for a second, so that whoever is
 * refused in a row costs one write; a crash loses that second.
 */
import { Change } from '#store/change.ts'
import type { Timer } from '../clock.ts'
import type { Core } from '../core.ts'
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

const heldMs = 1000

export class LateCounts {
  readonly #options: LateCountsOptions
  #held = new Map<string, Held>()
  #timer: Timer | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: LateCountsOptions) {
    this.#options = options
  }

  /** In the row of the project, or of one thing of it, by its id. */
  count(place: Place, name: string, subject = ofProject): void {
    this.countIn(subject, place, name, (change, names, nowMs, times) => countFor(change, place, subject, names, nowMs, times))
  }

  /** In other rows of what belongs to a project; `where` names them. */
  countIn(where: string, place: Place, name: string, adding: Adding): void {
    const key = `${place.organizationId} ${place.projectId} ${where}`
    let held = this.#held.get(key)
    if (!held) this.#held.set(key, (held = { place, adding, counts: new Map() }))
    held.counts.set(name, (held.counts.get(name) ?? 0) + 1)
    this.#timer ??= this.#options.clock.after(heldMs, () => this.#write())
  }

  /** Writes what is held; resolves when that is durable. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#write()
    await this.#writing
  }

  #write(): void {
    this.#timer = undefined
    if (this.#held.size === 0) return
    const held = [...this.#held.values()]
    this.#held = new Map()
    this.#writing = this.#commit(held).catch(this.#options.onError)
  }

  async #commit(all: readonly Held[]): Promise<void> {
    const { database, policies, clock } = this.#options
    const change = new Change()
    for (const { place, adding, counts } of all) {
      const { projects } = await policies.of(place.organizationId)
      if (!projects.has(place.projectId)) continue // deleted meanwhile
      for (const [name, times] of counts) await adding(change, [name], clock.now(), times)
    }
    if (change.tallies.length > 0) await database.commit(change)
  }
}
