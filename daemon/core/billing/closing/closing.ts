/** Months are closed for all organizations: by the service itself some time after their end, or when the operator says so. */
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
  /** Invoices that were made now. */
  readonly closed: number
  /** Invoices that were there already. */
  readonly already: number
  /** Organizations without an invoice: not there in that month, or anonymous. */
  readonly none: number
  /** False when it took too long for one request; the same again goes on. */
  readonly isComplete: boolean
}

/**
 * So long after the end of a month it is closed: counts that are held in memory (agents' calls, refusals: one second), the last row of
 * stored traces (an hour), and clocks of daemons that differ are in by then, and what an operator wants to set right is.
 */
export const graceMs = 6 * 3_600_000
/** One request closes for so long at most. */
const requestMs = 15_000

export class Closing {
  readonly #options: ClosingOptions

  constructor(options: ClosingOptions) {
    this.#options = options
  }

  /** Every organization, once. Throws `validation_failed` for a month that is not over. */
  async close(month: string): Promise<ClosedMonth> {
    const { clock, register } = this.#options
    const { until } = periodOf(month, clock.now())
    if (clock.now() < until)
      throw invalid([{ path: 'period', message: `is not over; it can be closed from ${new Date(until).toISOString()} on` }])
    const end = clock.monotonic() + requestMs
    const closed = await this.#closeAll(month, () => clock.monotonic() >= end)
    await register.askForPayment(() => clock.monotonic() >= end).catch(() => undefined) // the background tries again, and says so
    return closed
  }

  /** Closes the months whose time has come; the first look only notes from which month on. `stopping` ends it between two invoices. */
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

  /** Closes what is open of an organization that is about to be removed, as its counts go with it. */
  async closeRemoved(organizationId: string): Promise<void> {
    const { database, clock } = this.#options
    const stored = await database.get(organizations, { organizationId }, organizationId)
    if (stored?.record.deletedAt === undefined) return
    const last = Math.min(stored.record.deletedAt, clock.now())
    const since = await this.#since()
    const first = monthOf(stored.record.createdAt)
    for (const month of monthsUpTo(since > first ? since : first, monthOf(last))) await closeMonth(this.#options, organizationId, month)
  }

  /** One that cannot be billed holds up no other; the first of these defects is thrown at the end. */
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

  /** One that is removed meanwhile has nothing left. */
  async #closeOne(organizationId: string, month: string): Promise<Closed> {
    try {
      return await closeMonth(this.#options, organizationId, month)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return 'none'
      throw error
    }
  }

  /** Months before it were billed in some other way, or not at all; the operator can still close them. */
  async #since(): Promise<string> {
    const { database, clock } = this.#options
    const row = await database.kv.get(pack(sinceKey))
    if (row) return decode<string>(row.value)
    const month = monthOf(clock.now())
    await database.commit(new Change().setNew(sinceKey, encode(month)))
    return month
  }
}

/** The months from the first up to the last, which is left out. */
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
