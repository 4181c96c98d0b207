/**
 * Looks at organizations with new counts and at those with open findings, on every daemon. Costs no timer and no read while nothing is
 * counted and no finding is open.
 */
import type { Database } from '#store/database.ts'
import type { Bytes, Tally } from '#store/kv.ts'
import { decode } from '#store/change.ts'
import { unpack, within } from '#store/tuple.ts'
import { queuedParts, queueHead } from '#store/queue.ts'
import { creditUseWork } from '../billing/credits/credits.ts'
import type { Clock, Timer } from '../clock.ts'
import { openKey, type OpenRow } from '../findings/finding.ts'
import { levels } from '../insights/levels.ts'
import { everyMs, isWatchCheck, type NextLook } from './look.ts'

export interface WatchOptions {
  readonly database: Database
  readonly clock: Clock
  readonly look: (organizationId: string, projects: ReadonlySet<string>) => Promise<NextLook | undefined>
  readonly onError: (error: unknown, organizationId?: string) => void
}

interface Waiting {
  /** Time of the next look. */
  at: number
  readonly projects: Set<string>
}

/** Maximum number of organizations in a round. */
const maxAtOnce = 500
/** The wall clock can be set forward, so a round follows after this time at the latest. */
const maxPauseMs = 600_000

export class Watch {
  readonly #options: WatchOptions
  readonly #waiting = new Map<string, Waiting>()
  /** Keys of counts since the last round, by identity: the keys of a minute are cached. */
  readonly #noted = new Set<Bytes>()
  #timer: { readonly at: number; readonly timer: Timer } | undefined
  #running: Promise<void> | undefined
  #state: 'new' | 'started' | 'stopped' = 'new'

  constructor(options: WatchOptions) {
    this.#options = options
    options.database.onTallied((tallies) => this.#tallied(tallies))
    options.database.onWork(creditUseWork, (organizationIds) => organizationIds.forEach((id) => this.note(id, '')))
  }

  /** Begins with the open findings and the queued mail of earlier processes, and of daemons that left. */
  async start(): Promise<void> {
    this.#state = 'started'
    const { database, onError } = this.#options
    database.daemons.onGap(() => void this.#readStored().catch(onError))
    await this.#readStored()
  }

  /** Resolves when no look is in progress. */
  async idle(): Promise<void> {
    await this.#running
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#timer?.timer.cancel()
    await this.#running
  }

  /** Looks at an organization in the next round, for an event that is not counted. An empty project is the organization itself. */
  note(organizationId: string, projectId: string): void {
    this.#add(organizationId, [projectId], this.#options.clock.now())
  }

  #tallied(tallies: readonly Tally[]): void {
    if (this.#state !== 'started') return
    for (const { key } of tallies) {
      if (this.#noted.has(key)) continue
      this.#noted.add(key)
      const [organizationId, family, projectId] = unpack(key)
      if (family === levels[0].name) this.note(String(organizationId), String(projectId))
    }
  }

  async #readStored(): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    for await (const { key, value } of database.kv.range(within(openKey())))
      if (isWatchCheck(decode<OpenRow>(value).check)) this.#add(String(unpack(key)[3]), [], now)
    for (const part of await queuedParts(database))
      for (const { organizationId, projectId } of await queueHead(database, part, { limit: 1 })) this.#add(organizationId, [projectId], now)
  }

  #add(organizationId: string, projects: Iterable<string>, at: number): void {
    const waiting = this.#waiting.get(organizationId) ?? { at, projects: new Set<string>() }
    waiting.at = Math.min(waiting.at, at)
    for (const id of projects) waiting.projects.add(id)
    this.#waiting.set(organizationId, waiting)
    this.#setTimer(at)
  }

  /** Sets the timer for a look at this time. Rounds are at least `everyMs` apart. */
  #setTimer(at: number): void {
    const { clock } = this.#options
    const pauseMs = Math.min(maxPauseMs, Math.max(everyMs, at - clock.now()))
    const due = clock.monotonic() + pauseMs
    if (this.#state !== 'started' || this.#running || (this.#timer && this.#timer.at <= due)) return
    this.#timer?.timer.cancel()
    this.#timer = { at: due, timer: clock.after(pauseMs, () => this.#begin()) }
  }

  #begin(): void {
    this.#timer = undefined
    this.#running = this.#round().finally(() => {
      this.#running = undefined
      if (this.#waiting.size > 0) this.#setTimer(Math.min(...[...this.#waiting.values()].map(({ at }) => at)))
    })
  }

  /** Looks at the organizations that are due, longest waiting first. A failed look is repeated in the next round. */
  async #round(): Promise<void> {
    const { clock, look, onError } = this.#options
    const now = clock.now()
    this.#noted.clear()
    const due = [...this.#waiting].filter(([, { at }]) => at <= now).toSorted(([, a], [, b]) => a.at - b.at)
    for (const [organizationId, { projects }] of due.slice(0, maxAtOnce)) {
      if (this.#state !== 'started') return
      this.#waiting.delete(organizationId)
      try {
        const next = await look(organizationId, projects)
        if (next) this.#add(organizationId, next.projects, next.at)
      } catch (error) {
        onError(error, organizationId)
        this.#add(organizationId, projects, now + everyMs)
      }
    }
  }
}
