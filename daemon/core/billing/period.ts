/** Billing periods: calendar months in UTC, written as `2026-11`. */
import { dayOf, monthOf } from '../tenancy/counters.ts'
import { invalid } from '../refusals.ts'

const dayMs = 86_400_000

export interface Period {
  /** `2026-11`. */
  readonly month: string
  /** Milliseconds since the epoch; `from` is inclusive, `until` exclusive. */
  readonly from: number
  readonly until: number
  /** All days of the month as dates. */
  readonly days: readonly string[]
  /** Days that have begun; all days of a past month. */
  readonly begun: readonly string[]
}

/** Returns the given month, by default the present month. Throws `validation_failed` for an invalid or future month. */
export function periodOf(month: string | undefined, nowMs: number): Period {
  const name = month ?? monthOf(nowMs)
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(name)) throw invalid([{ path: 'period', message: 'must be a month such as 2026-11' }])
  if (name > monthOf(nowMs)) throw invalid([{ path: 'period', message: `has not begun; the current month is ${monthOf(nowMs)}` }])
  const [year = 0, number = 0] = name.split('-').map(Number)
  const from = Date.UTC(year, number - 1, 1)
  const until = Date.UTC(year, number, 1)
  const days = Array.from({ length: (until - from) / dayMs }, (_, i) => dayOf(from + i * dayMs))
  return { month: name, from, until, days, begun: days.filter((day) => day <= dayOf(nowMs)) }
}
