/** Closes months for all organizations: automatically some time after their end, or at the operator's request. */
import { Change, decode, encode } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { monthOf } from '../../tenancy/counters.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { organizations } from '../../tenancy/organization.ts'
import { periodOf } from '../period.ts'
import { closeMonth, type Closed, type ClosingOptions as CloseOptions } from './close-month.ts'
import { closedMonthKey, sinceKey } from './invoice-document.ts'
import type { InvoiceRegister } from './invoice-register.ts'

export interface ClosingOptions extends CloseOptions {
  readonly register: InvoiceRegister
}

export interface ClosedMonth {
  readonly month: string
  /** Number of new invoices. */
  readonly closed: number
  /** Number of invoices that already existed. */
  readonly already: number
  /** Number of organizations without an invoice, because they did not exist in that month or are anonymous. */
  readonly none: number
  /** False if the request reached its time limit; the same request continues. */
  readonly isComplete: boolean
}

/**
 * Time between the end of a month and its automatic closing. By then, counts in memory (agents' calls and refusals: one second) and the
 * last row of stored traces (an hour) are written. It also covers clock differences of daemons, and leaves the operator time for
 * corrections.
 */
export const graceMs = 6 * 3_600_000
/** Time limit of one request. */
const requestMs = 15_000

export class Closing {
  readonly #options: ClosingOptions

  constructor(options: ClosingOptions) {
    this.#options = options
  }

  /** Closes a month once for every organization. Throws `validation_failed` for a month that is not over. */
  async close(month: string): Promise<ClosedMonth> {
    const { clock, register } = this.#options
    const { until } = periodOf(month, clock.now())
    if (clock.now() < until)
      throw invalid([{ path: 'period', message: `is not over; it can be closed from ${new Date(until).toISOString()} on` }])
    const end = clock.monotonic() + requestMs
    const closed = await this.#closeAll(month, () => clock.monotonic() >= end)
    await register.askForPayment(() => clock.monotonic() >= end).catch(() => undefined) // the background work repeats it and logs failures
    return closed
  }

  /** Closes the months that are due. The first call only stores the first month to close. `stopping` stops it between two invoices. */
  async closeDue(stopping: () => boolean): Promise<void> {
    const since = await this.#since()
    for (const month of monthsFrom(since, monthOf(this.#options.clock.now() - graceMs))) {
      const key = closedMonthKey(month)
      if (await this.#options.database.kv.get(pack(key))) continue
      const { isComplete } = await this.#closeAll(month, stopping)
      if (!isComplete) return
      await this.#options.database.commit(new Change().set(key, encode(this.#options.clock.now())))
    }
  }

  /** Closes the open months of an organization before its removal, because its counts are removed with it. */
  async closeRemoved(organizationId: string): Promise<void> {
    const { database, clock } = this.#options
    const stored = await database.get(organizations, { organizationId }, organizationId)
    if (stored?.record.deletedAt === undefined) return
    const last = Math.min(stored.record.deletedAt, clock.now())
    const since = await this.#since()
    const first = monthOf(stored.record.createdAt)
    for (const month of monthsUpTo(since > first ? since : first, monthOf(last))) await closeMonth(this.#options, organizationId, month)
  }

  /** An organization that cannot be billed does not prevent the others. The first such error is thrown at the end. */
  async #closeAll(month: string, stopping: () => boolean): Promise<ClosedMonth> {
    const counts: Record<Closed, number> = { closed: 0, already: 0, none: 0 }
    let failed: { readonly error: unknown } | undefined
    for await (const { id } of allOrganizations(this.#options.database)) {
      if (stopping()) return { month, ...counts, isComplete: false }
      try {
        counts[await this.#closeOne(id, month)]++
      } catch (error) {
        failed ??= { error: new Error(`the month ${month} of ${id} cannot be closed`, { cause: error }) }
      }
    }
    if (failed) throw failed.error
    return { month, ...counts, isComplete: true }
  }

  /** Returns `none` for an organization that was removed concurrently. */
  async #closeOne(organizationId: string, month: string): Promise<Closed> {
    try {
      return await closeMonth(this.#options, organizationId, month)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return 'none'
      throw error
    }
  }

  /**
   * Returns the first month that is closed automatically. Earlier months were billed elsewhere or not at all; the operator can still close
   * them.
   */
  async #since(): Promise<string> {
    const { database, clock } = this.#options
    const row = await database.kv.get(pack(sinceKey))
    if (row) return decode<string>(row.value)
    const month = monthOf(clock.now())
    await database.commit(new Change().setNew(sinceKey, encode(month)))
    return month
  }
}

/** Returns the months from the first up to, but not including, `end`. */
const monthsFrom = (first: string, end: string): string[] => monthsUpTo(first, end).filter((month) => month !== end)

function monthsUpTo(first: string, last: string): string[] {
  const months: string[] = []
  const [year = 0, number = 0] = first.split('-').map(Number)
  for (let i = 0; ; i++) {
    const month = monthOf(Date.UTC(year, number - 1 + i, 1))
    if (month > last) return months
    months.push(month)
  }
}
