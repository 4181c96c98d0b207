/** Plot of the credit balance at the end of each day. Projects it with the average use of the last seven days. */
import type { JSX } from 'preact'
import { mayRead } from '../app/permissions.ts'
import { query } from '../app/location.ts'
import type { PlotData, PlotEvent } from '../insights/drawing.ts'
import { Plot } from '../insights/plot.tsx'
import { CompareButton } from '../insights/range-bar.tsx'
import { dayLabel, isCompared } from '../insights/time-range.ts'
import { credits as shown, number } from '../parts/time.ts'
import type { Credits } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { dayMs, useCreditDays, type CreditDays } from './credit-days.ts'
import { GivenEvents } from './events.tsx'
import { texts } from './plots-texts.ts'

const pastDays = 30
const comingDays = 30
/** Number of completed days that the projection averages. */
const usualDays = 7

/** Hidden for unlimited credits, and before the first change of the balance. */
export function CreditBurnDown({ credits }: { readonly credits: Credits }): JSX.Element | null {
  const w = texts()
  const compared = isCompared(query.value)
  const ledger = useCreditDays(compared ? 2 * pastDays : pastDays, credits.balance_credits)
  if (credits.is_unlimited || !ledger || ledger.changes.size === 0) return null
  const { data, end } = plotOf(credits, ledger, compared)
  const [balance, projection] = data.series
  return (
    <GivenEvents events={grantsOf(ledger)}>
      <div class="plot-box">
        <Plot
          {...{ data, title: w.burnDown, note: w.perDayAndAhead({ days: comingDays }), name: 'credits' }}
          summary={`${balance?.label ?? ''} ${balance?.total ?? ''}, ${projection?.label ?? ''}: ${end}`}
          {...(mayRead.value && { explore: { to: '/websites', says: w.showWebsites } })}
        />
        <div class="plot-choice">
          <CompareButton />
        </div>
      </div>
    </GivenEvents>
  )
}

interface BurnDown {
  readonly data: PlotData
  /** Text for the day on which the credits run out. */
  readonly end: string
}

function plotOf(credits: Credits, ledger: CreditDays, compared: boolean): BurnDown {
  const w = texts()
  const balance = Number(credits.balance_credits)
  const { today, complete } = ledger
  const begin = Math.max(today - (pastDays - 1) * dayMs, complete)
  const past = (today - begin) / dayMs + 1
  const coming = projectionOf(credits, ledger)
  const zero = coming.findIndex((value) => value <= 0)
  const ahead = zero < 0 ? coming : coming.slice(0, zero + 1)
  const end =
    balance <= 0 ? w.usedUp : zero < 0 ? w.longerThan({ days: comingDays }) : w.until({ date: dayLabel(today + (zero + 1) * dayMs) })
  const times = Array.from({ length: past + ahead.length }, (_, day) => begin + day * dayMs)
  const balances = balancesOf(balance, ledger)
  const before = times.map((time) => (time > today ? null : (balances(time - pastDays * dayMs) ?? null)))
  return {
    end,
    data: {
      ...{
        times,
        stepMs: dayMs,
        atLeast: 1,
        format: shortly,
        last: ahead.length === 0 ? undefined : dayLabel(times.at(-1) ?? 0),
      },
      series: [
        {
          label: w.balance,
          look: 'line',
          kind: 'line',
          total: shown(credits.balance_credits),
          values: times.map((time) => balances(time) ?? null),
        },
        {
          ...{ label: w.projection, look: 'dashed', kind: 'line', total: end },
          values: times.map((time) => (time < today ? null : time === today ? balance : (ahead[(time - today) / dayMs - 1] ?? null))),
        },
      ],
      before: compared
        ? { values: before, label: allTexts().periodBefore, total: shortOf(before.findLast((value) => value !== null)) }
        : undefined,
    },
  }
}

const shortly = (value: number): string => number(Math.round(value * 100) / 100)
const shortOf = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : shortly(value))

/** Returns the balance at the end of a day. Undefined outside of the days covered by the ledger. */
function balancesOf(balance: number, { today, complete, changes }: CreditDays): (time: number) => number | undefined {
  const known = new Map<number, number>()
  let left = balance
  for (let time = today; time >= complete; time -= dayMs) {
    known.set(time, left)
    left -= changes.get(time)?.credits ?? 0
  }
  return (time) => known.get(time)
}

/** Returns the average daily use of completed days, or the use of today if that average is zero. */
function usualUse({ today, complete, changes }: CreditDays): number {
  const days = Math.max(1, Math.min(usualDays, (today - complete) / dayMs))
  const over = Array.from({ length: days }, (_, day) => changes.get(today - (day + 1) * dayMs)?.used ?? 0)
  const used = over.reduce((sum, one) => sum + one, 0)
  return used === 0 ? (changes.get(today)?.used ?? 0) : used / days
}

/**
 * Returns the projected balance of each coming day. Grants are used in order, expire with their remainder, and the plan allowance renews
 * monthly.
 */
function projectionOf({ grants, balance_credits: balance }: Credits, ledger: CreditDays): readonly number[] {
  const use = usualUse(ledger)
  const left = grants.map(({ kind, remaining, expires_at: end }) => ({
    ...{ kind, amount: Number(remaining), end: end === null ? Infinity : Date.parse(end) },
  }))
  const monthly = grants.findLast(({ kind }) => kind === 'allowance')
  const debt = Math.min(0, Number(balance))
  return Array.from({ length: comingDays }, (_, index) => {
    const time = ledger.today + (index + 1) * dayMs
    for (const grant of left) if (grant.end <= time) grant.amount = 0
    const own = left.findLastIndex(({ kind }) => kind === 'allowance') + 1
    if (monthly && new Date(time).getUTCDate() === 1) left.splice(own, 0, nextOf(monthly, time))
    let due = use
    for (const grant of left) {
      const taken = Math.min(due, grant.amount)
      grant.amount -= taken
      due -= taken
    }
    return Math.max(0, left.reduce((sum, { amount }) => sum + amount, 0) + debt)
  })
}

const longestMonth = 31

/** Returns the allowance of a new month. It ends with the month, unless the previous one lasted longer; then it ends after the plot. */
function nextOf({ kind, amount, granted_at: begin, expires_at: end }: Credits['grants'][number], time: number) {
  const isOfMonth = end !== null && Date.parse(end) - Date.parse(begin) <= longestMonth * dayMs
  const month = new Date(time)
  return { kind, amount: Number(amount), end: isOfMonth ? Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1) : Infinity }
}

/** Returns added and expired credits as events. */
const grantsOf = ({ grants }: CreditDays): readonly PlotEvent[] =>
  grants.map(({ at, credits }) => ({
    at,
    text: texts().creditChange({ amount: `${credits < 0 ? '−' : '+'}${shortly(Math.abs(credits))}` }),
    isBad: false,
  }))
