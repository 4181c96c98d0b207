/** Sums of the credit ledger by day, for the days of a plot. The ledger has one usage entry per day and website. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { CreditEntry } from '../wire/api.d.ts'

export const dayMs = 86_400_000
const pageSize = 200
/** Maximum number of ledger pages. With more entries, the plot starts later. */
const maxPages = 10

export interface CreditDays {
  /** Start of the current day (UTC) in milliseconds since the epoch. */
  readonly today: number
  /** First day with complete entries. */
  readonly complete: number
  /** Change of the balance and used credits, by the start of the day. */
  readonly changes: ReadonlyMap<number, { readonly credits: number; readonly used: number }>
  /** Added and expired credits in chronological order. */
  readonly grants: readonly { readonly at: number; readonly credits: number }[]
}

const dayOf = ({ day }: CreditEntry): number => Date.parse(`${day}T00:00:00.000Z`)
const isUse = ({ reason }: CreditEntry): boolean => reason === 'traffic' || reason === 'storage'

/** Returns undefined while loading and after a failure. Reads again when the balance changes. */
export function useCreditDays(days: number, balance: string): CreditDays | undefined {
  const [read, setRead] = useState<CreditDays>()
  useEffect(() => {
    const aborter = new AbortController()
    readDays(days, aborter.signal).then(setRead, () => undefined)
    return () => aborter.abort()
  }, [days, balance])
  return read
}

interface Entries {
  readonly data: readonly CreditEntry[]
  readonly next_cursor: string | null
}

async function readDays(days: number, signal: AbortSignal): Promise<CreditDays> {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  let complete = today - (days - 1) * dayMs
  const entries: CreditEntry[] = []
  let cursor: string | null = null
  for (let page = 1; page === 1 || cursor !== null; page++) {
    const asked: { readonly limit: number; readonly cursor?: string } = { limit: pageSize, ...(cursor !== null && { cursor }) }
    const { data, next_cursor: next }: Entries = await call('/v1/billing/credits/entries', { query: asked }, { signal, isShown: false })
    entries.push(...data)
    cursor = data.every((entry) => dayOf(entry) < complete) ? null : next
    const last = data.at(-1)
    if (page < maxPages || cursor === null || !last) continue
    complete = Math.max(complete, dayOf(last) + dayMs)
    cursor = null
  }
  return { today, complete, ...addedUp(entries.filter((entry) => dayOf(entry) >= complete)) }
}

function addedUp(entries: readonly CreditEntry[]): Pick<CreditDays, 'changes' | 'grants'> {
  const changes = new Map<number, { credits: number; used: number }>()
  for (const entry of entries) {
    const { credits, used } = changes.get(dayOf(entry)) ?? { credits: 0, used: 0 }
    const change = Number(entry.credits)
    changes.set(dayOf(entry), { credits: credits + change, used: used - (isUse(entry) ? change : 0) })
  }
  const grants = entries.filter(({ reason }) => reason === 'grant' || reason === 'expire')
  const came = grants.map(({ at, credits }) => ({ at: Date.parse(at), credits: Number(credits) }))
  return { changes, grants: came.toSorted((a, b) => a.at - b.at) }
}
