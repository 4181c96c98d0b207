/** The ledger of credits added up by day, for as many days as a plot shows. Its entries of use are one a day and website already. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { listCreditEntries, type CreditEntry } from '../wire/operations.ts'

export const dayMs = 86_400_000
const pageSize = '200'
/** What a plot reads at most; with more entries it begins later. */
const maxPages = 10

export interface CreditDays {
  /** Begin of the current day (UTC), in milliseconds since the epoch. */
  readonly today: number
  /** From this day on nothing is missing. */
  readonly complete: number
  /** By the begin of the day: what the balance changed by, and what of it was used. */
  readonly changes: ReadonlyMap<number, { readonly credits: number; readonly used: number }>
  /** What came and what expired, the earliest first. */
  readonly grants: readonly { readonly at: number; readonly credits: number }[]
}

const dayOf = ({ day }: CreditEntry): number => Date.parse(`${day}T00:00:00.000Z`)
const isUse = ({ reason }: CreditEntry): boolean => reason === 'traffic' || reason === 'storage'

/** Undefined until it is read, and where it cannot be; read anew with the balance. */
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
    const asked: { readonly limit: string; readonly cursor?: string } = { limit: pageSize, ...(cursor !== null && { cursor }) }
    const { data, next_cursor: next }: Entries = await call(listCreditEntries, { query: asked }, { signal, isShown: false })
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
