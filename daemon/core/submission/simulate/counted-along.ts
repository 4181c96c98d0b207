/**
 * Counters for a simulation of stored sends, oldest first. Adds each simulated send to the same windows as the real counters: minute, day
 * and month. Sends of other projects count toward the plan's daily limit with the number in the stored counters of that day.
 */
import type { Database } from '#store/database.ts'
import { keyName, pack } from '#store/tuple.ts'
import { captureCounter, dayOf, minuteOf, monthOf, organizationSendCounter, rateCounter, sendCounter } from '../../tenancy/counters.ts'
import type { Trace } from '../../trace/trace.ts'

/** Counts at the start of a page. `rates` covers the latest minutes. */
export interface Counts {
  readonly day: string
  readonly sends: number
  readonly month: string
  readonly captures: number
  readonly rates: readonly (readonly [submitter: string, minute: number, sends: number])[]
}

export const nothingCounted: Counts = { day: '', sends: 0, month: '', captures: 0, rates: [] }

/** Maximum number of submitters stored in a cursor. */
const maxRates = 8

export class CountedAlong {
  readonly #database: Database
  readonly #organizationId: string
  #counts: Counts

  constructor(database: Database, organizationId: string, counts: Counts) {
    this.#database = database
    this.#organizationId = organizationId
    this.#counts = counts
  }

  get counts(): Counts {
    return { ...this.#counts, rates: this.#counts.rates.slice(-maxRates) }
  }

  /** Returns the counters at the time of this send. Counters that are not simulated are zero. */
  async counterAt({ createdAt, projectId, submittedBy }: Trace): Promise<(key: Uint8Array) => Promise<number>> {
    this.#comeTo(createdAt)
    const { day, sends, month, captures, rates } = this.#counts
    const minute = minuteOf(createdAt)
    const rateOf = (at: number): number => rates.find(([one, then]) => one === submittedBy && then === at)?.[2] ?? 0
    const known = new Map([
      [this.#name(sendCounter(this.#organizationId, projectId, day)), sends],
      [this.#name(captureCounter(this.#organizationId, projectId, month)), captures],
      [this.#name(rateCounter(this.#organizationId, submittedBy, minute)), rateOf(minute)],
      [this.#name(rateCounter(this.#organizationId, submittedBy, minute - 1)), rateOf(minute - 1)],
    ])
    const ofPlan = this.#name(organizationSendCounter(this.#organizationId, day))
    return async (key) => {
      const name = keyName(key)
      return name === ofPlan ? sends + (await this.#sendsElsewhere(projectId, day)) : (known.get(name) ?? 0)
    }
  }

  /** Adds the increments of an accepted send. */
  add({ createdAt, projectId, submittedBy }: Trace, counted: ReadonlyMap<string, number>): void {
    const { day, month, rates } = this.#counts
    const minute = minuteOf(createdAt)
    const added = (key: Parameters<typeof pack>[0]): number => counted.get(this.#name(key)) ?? 0
    const inMinute = added(rateCounter(this.#organizationId, submittedBy, minute))
    const before = rates.find(([one, then]) => one === submittedBy && then === minute)?.[2] ?? 0
    const others = rates.filter(([one, then]) => one !== submittedBy || then !== minute)
    this.#counts = {
      ...{ day, month },
      sends: this.#counts.sends + added(sendCounter(this.#organizationId, projectId, day)),
      captures: this.#counts.captures + added(captureCounter(this.#organizationId, projectId, month)),
      rates: inMinute === 0 ? rates : [...others, [submittedBy, minute, before + inMinute]],
    }
  }

  /** Resets windows that have ended. */
  #comeTo(at: number): void {
    const { sends, captures, rates, ...then } = this.#counts
    const [day, month, minute] = [dayOf(at), monthOf(at), minuteOf(at)]
    this.#counts = {
      ...{ day, month },
      sends: day === then.day ? sends : 0,
      captures: month === then.month ? captures : 0,
      rates: rates.filter(([, one]) => one >= minute - 1),
    }
  }

  async #sendsElsewhere(projectId: string, day: string): Promise<number> {
    const { kv } = this.#database
    const all = await kv.counter(pack(organizationSendCounter(this.#organizationId, day)))
    return Math.max(0, all - (await kv.counter(pack(sendCounter(this.#organizationId, projectId, day)))))
  }

  #name(key: Parameters<typeof pack>[0]): string {
    return keyName(pack(key))
  }
}
