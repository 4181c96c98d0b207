/**
 * Polls all mailboxes, each at its own interval, with a limit on concurrent polls. Notices new and deleted mailboxes immediately. The delay
 * of a failing mailbox grows with each failure and does not affect other mailboxes.
 */
import type { Clock, Timer } from '#core/clock.ts'
import type { MailboxKey } from '#core/feedback/intake/polled-mailboxes.ts'
import { toPollFailure, type PollProblem } from './poll-failure.ts'
import { pollOnce, type RoundParts, type RoundResult } from './mailbox-poll.ts'
import { delayAfterFailure, delayAfterSuccess, delayAtStart } from './poll-schedule.ts'

/** Events of the poller. Handlers must neither throw nor block. */
export interface PollEvents {
  polled(sourceId: string, result: RoundResult): void
  failed(sourceId: string, problem: PollProblem, reason: string): void
  /** An unexpected error. The poller tries again later. */
  defect(error: unknown, sourceId: string): void
}

export interface PollerOptions extends RoundParts {
  readonly clock: Clock
  readonly random: () => number
  readonly events: PollEvents
}

interface Entry extends MailboxKey {
  intervalSeconds: number
  failures: number
  timer: Timer | undefined
  run: AbortController | undefined
  seenAt: number
}

/** Interval of the look-up that finds mailboxes deleted with their organization, which causes no event. */
const lookEveryMs = 15_000
const maxAtOnce = 10
/** Limit of concurrent polls for an organization, so that slow servers of one organization leave room for others. */
const maxAtOnceOfOne = 5
/** Maximum duration of a poll. */
const roundMs = 5 * 60_000

export class Poller {
  readonly #options: PollerOptions
  readonly #entries = new Map<string, Entry>()
  readonly #waiting: Entry[] = []
  readonly #running = new Set<Promise<void>>()
  /** Number of running polls by organization. */
  readonly #runningOf = new Map<string, number>()
  #looking: Promise<void> = Promise.resolve()
  #looks = 0
  #isLooking = false
  #hasChanged = false
  #timer: Timer | undefined
  #stopped = false

  constructor(options: PollerOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.mailboxes.onChange(() => {
      this.#hasChanged = true
      if (!this.#isLooking) this.#begin()
    })
    this.#begin()
  }

  /** Aborts the running polls. Mails that are already committed stay committed. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#looking
    for (const entry of this.#entries.values()) this.#forget(entry)
    await Promise.all(this.#running)
  }

  #begin(): void {
    if (this.#stopped) return
    this.#timer?.cancel()
    this.#looking = this.#look().catch((error: unknown) => this.#options.events.defect(error, ''))
  }

  async #look(): Promise<void> {
    const { mailboxes, clock, random } = this.#options
    const look = ++this.#looks
    this.#isLooking = true
    this.#hasChanged = false
    try {
      for await (const { isNew, intervalSeconds, ...key } of mailboxes.all()) {
        if (this.#stopped) return
        const known = this.#entries.get(key.sourceId)
        if (known) Object.assign(known, { intervalSeconds, seenAt: look })
        else this.#add({ ...key, intervalSeconds, failures: 0, timer: undefined, run: undefined, seenAt: look }, isNew, random())
      }
      for (const entry of this.#entries.values()) if (entry.seenAt !== look) this.#forget(entry)
    } finally {
      this.#isLooking = false
      if (!this.#stopped) this.#timer = clock.after(this.#hasChanged ? 0 : lookEveryMs, () => this.#begin())
    }
  }

  #add(entry: Entry, isNew: boolean, random: number): void {
    this.#entries.set(entry.sourceId, entry)
    this.#wait(entry, delayAtStart(entry.intervalSeconds, isNew, random))
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.sourceId)
    entry.timer?.cancel()
    entry.run?.abort()
  }

  #wait(entry: Entry, ms: number): void {
    entry.timer = this.#options.clock.after(ms, () => {
      this.#waiting.push(entry)
      this.#next()
    })
  }

  #next(): void {
    while (!this.#stopped && this.#running.size < maxAtOnce) {
      const at = this.#waiting.findIndex(({ organizationId }) => (this.#runningOf.get(organizationId) ?? 0) < maxAtOnceOfOne)
      const [entry] = at < 0 ? [] : this.#waiting.splice(at, 1)
      if (!entry) return
      if (this.#entries.get(entry.sourceId) !== entry) continue
      this.#count(entry, 1)
      const run = this.#run(entry).finally(() => {
        this.#running.delete(run)
        this.#count(entry, -1)
        this.#next()
      })
      this.#running.add(run)
    }
  }

  #count({ organizationId }: Entry, by: 1 | -1): void {
    const running = (this.#runningOf.get(organizationId) ?? 0) + by
    if (running > 0) this.#runningOf.set(organizationId, running)
    else this.#runningOf.delete(organizationId)
  }

  /** Polls a mailbox and schedules its next poll. */
  async #run(entry: Entry): Promise<void> {
    const { clock } = this.#options
    const run = (entry.run = new AbortController())
    const timer = clock.after(roundMs, () => run.abort())
    const delay = await this.#poll(entry, run.signal)
    timer.cancel()
    entry.run = undefined
    if (!this.#stopped && this.#entries.get(entry.sourceId) === entry) this.#wait(entry, delay)
  }

  async #poll(entry: Entry, signal: AbortSignal): Promise<number> {
    const { random, events } = this.#options
    const { intervalSeconds, sourceId } = entry
    try {
      const result = await pollOnce(this.#options, entry, signal)
      entry.failures = 0
      if (result) events.polled(sourceId, result)
      return result?.isUnfinished ? 0 : delayAfterSuccess(intervalSeconds, random())
    } catch (error) {
      const failure = toPollFailure(error)
      entry.failures++
      await this.#report(entry, failure.problem, failure.message, failure.cause)
      return delayAfterFailure(intervalSeconds, entry.failures, failure.problem, random())
    }
  }

  async #report(entry: Entry, problem: PollProblem, reason: string, cause: unknown): Promise<void> {
    const { mailboxes, events } = this.#options
    if (this.#stopped || this.#entries.get(entry.sourceId) !== entry) return
    if (problem === 'store') events.defect(cause, entry.sourceId)
    await mailboxes.failed(entry, reason).catch((error: unknown) => events.defect(error, entry.sourceId))
    events.failed(entry.sourceId, problem, reason)
  }
}
