/**
 * Credits of one organization during a change: grants are added, expire and are spent, and each change adds a ledger entry. Pure: the
 * caller reads the records and writes the result.
 */
import { creditPrices, monthlyCredits, ucrPerCredit, type CreditUse } from '#config/plans/credits.ts'
import type { PlanName } from '#config/plans/plans.ts'
import { dayOf, monthOf } from '../../tenancy/counters.ts'
import { grantKinds, type CreditAccount, type CreditEntry, type CreditGrant } from './credit.ts'

export type NewEntry = Omit<CreditEntry, 'id' | 'at'>

export interface UsedBySite {
  readonly use: CreditUse
  readonly siteId: string
  /** Octets, or octets times milliseconds. */
  readonly quantity: bigint
}

export type NewGrant = Pick<CreditGrant, 'id' | 'kind' | 'amountUcr' | 'period' | 'expiresAt' | 'note' | 'grantedBy'>

/** Used shares of the credits, in percent, that cause an alert. */
export const alertPercents = [80, 95, 100] as const

/** Returns the account of an organization without use. */
export const newAccount = (organizationId: string): CreditAccount => ({
  ...{ id: organizationId, owedUcr: 0, remainders: { traffic: '0', storage: '0' } },
  ...{ grantedMonth: '', grants: 0, baseUcr: 0, alerted: 0 },
})

export class CreditBook {
  account: CreditAccount
  readonly grants: Map<string, CreditGrant>
  readonly entries: NewEntry[] = []

  constructor(account: CreditAccount, grants: readonly CreditGrant[]) {
    this.account = account
    this.grants = new Map(grants.map((grant) => [grant.id, grant]))
  }

  /** Available credits in millionths of a credit; negative if more was used than granted. */
  get balanceUcr(): number {
    let sum = 0 - this.account.owedUcr
    for (const { remainingUcr } of this.grants.values()) sum += remainingUcr
    return sum
  }

  /** Expires credits, and grants the plan's monthly allowances since the last call. */
  bringUpToDate(plan: PlanName, nowMs: number): void {
    this.#expire(nowMs)
    const month = monthOf(nowMs)
    const { credits = 0, carriedMonths } = monthlyCredits[plan]
    for (const period of monthsAfter(this.account.grantedMonth, month, carriedMonths)) {
      const due = credits * ucrPerCredit - this.#allowanceOf(period)
      const expiresAt = startOfMonth(period, 1 + carriedMonths)
      if (due <= 0) continue
      // deterministic, so that repeated reads return the same id before it is stored
      const id = `crg_${period.replace('-', '')}_${this.account.grants}`
      this.grant({ id, kind: 'allowance', amountUcr: due, period, expiresAt, note: '', grantedBy: '' }, nowMs)
    }
    if (month > this.account.grantedMonth) this.account = { ...this.account, grantedMonth: month }
  }

  /** Adds a grant, which first pays the owed credits. */
  grant(made: NewGrant, nowMs: number): CreditGrant {
    const number = this.account.grants
    const paid = Math.min(this.account.owedUcr, made.amountUcr)
    const grant = { ...made, remainingUcr: made.amountUcr - paid, grantedAt: nowMs, number }
    this.grants.set(grant.id, grant)
    const day = dayOf(nowMs)
    this.entries.push({ reason: 'grant', deltaUcr: made.amountUcr, grantId: grant.id, day })
    if (paid > 0)
      this.entries.push(
        { reason: 'adjust', deltaUcr: -paid, grantId: grant.id, day },
        { reason: 'adjust', deltaUcr: paid, grantId: null, day },
      )
    this.account = { ...this.account, grants: number + 1, owedUcr: this.account.owedUcr - paid }
    this.account = { ...this.account, baseUcr: Math.max(0, this.balanceUcr), alerted: 0 }
    return grant
  }

  /**
   * Charges the use of a website; free for plans with credits by contract. Fractions of a millionth of a credit are carried to the next
   * charge, so the sum of all charges is exact.
   */
  spend({ use, siteId, quantity }: UsedBySite, plan: PlanName, untilMs: number): void {
    if (quantity <= 0n) return
    const isByContract = monthlyCredits[plan].credits === undefined
    const pieces = isByContract ? [{ grantId: null, deltaUcr: 0 }] : this.#take(this.#cost(use, quantity))
    for (const [i, piece] of pieces.entries())
      this.entries.push({ reason: use, ...piece, siteId, day: dayOf(untilMs), ...(i === 0 && { quantity: String(quantity) }) })
  }

  /** Returns the highest share that was reached since the last increase, or 0, and stores it in the account. */
  reachedAlert(): number {
    const { baseUcr, alerted } = this.account
    if (baseUcr === 0) return 0
    const used = BigInt(baseUcr - this.balanceUcr) * 100n
    const reached = alertPercents.findLast((percent) => used >= BigInt(baseUcr) * BigInt(percent)) ?? 0
    if (reached <= alerted) return alerted
    this.account = { ...this.account, alerted: reached }
    return reached
  }

  #cost(use: CreditUse, quantity: bigint): number {
    const { ucr, units } = creditPrices[use]
    const parts = quantity * ucr + BigInt(this.account.remainders[use])
    this.account = { ...this.account, remainders: { ...this.account.remainders, [use]: String(parts % units) } }
    return Number(parts / units)
  }

  #take(costUcr: number): { grantId: string | null; deltaUcr: number }[] {
    const pieces: { grantId: string | null; deltaUcr: number }[] = []
    let left = costUcr
    for (const grant of [...this.grants.values()].filter(({ remainingUcr }) => remainingUcr > 0).toSorted(inOrderOfUse)) {
      const taken = Math.min(left, grant.remainingUcr)
      this.grants.set(grant.id, { ...grant, remainingUcr: grant.remainingUcr - taken })
      pieces.push({ grantId: grant.id, deltaUcr: 0 - taken })
      left -= taken
      if (left === 0) return pieces
    }
    this.account = { ...this.account, owedUcr: this.account.owedUcr + left }
    return [...pieces, { grantId: null, deltaUcr: 0 - left }]
  }

  #expire(nowMs: number): void {
    for (const grant of this.grants.values()) {
      const { id, remainingUcr, expiresAt } = grant
      if (expiresAt === null || expiresAt > nowMs || remainingUcr === 0) continue
      this.grants.set(id, { ...grant, remainingUcr: 0 })
      this.entries.push({ reason: 'expire', deltaUcr: -remainingUcr, grantId: id, day: dayOf(expiresAt) })
      this.account = { ...this.account, baseUcr: Math.max(0, this.account.baseUcr - remainingUcr) }
    }
  }

  #allowanceOf(period: string): number {
    let sum = 0
    for (const grant of this.grants.values()) if (grant.period === period) sum += grant.amountUcr
    return sum
  }
}

/** Sorts allowances first, then grants of the operator, then purchased credits; within a kind by expiry, then by age. */
export function inOrderOfUse(a: CreditGrant, b: CreditGrant): number {
  const byKind = grantKinds.indexOf(a.kind) - grantKinds.indexOf(b.kind)
  if (byKind !== 0) return byKind
  const expiry = (grant: CreditGrant): number => grant.expiresAt ?? Number.MAX_SAFE_INTEGER
  return expiry(a) - expiry(b) || a.number - b.number
}

/** Returns the start of the month that is `later` months after `month`. */
function startOfMonth(month: string, later: number): number {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return Date.UTC(year, number - 1 + later, 1)
}

/** Returns the months whose allowance can be due: the present month, and earlier ungranted months whose allowance has not expired. */
function monthsAfter(granted: string, present: string, carriedMonths: number): string[] {
  if (granted === '' || granted >= present) return granted > present ? [] : [present]
  const months = Array.from({ length: carriedMonths + 1 }, (_, i) => monthOf(startOfMonth(present, i - carriedMonths)))
  return months.filter((month) => month > granted)
}
