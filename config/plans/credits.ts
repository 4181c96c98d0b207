/** Credits of managed websites: what plans come with, and what use costs. Spec "Limits" 15. */
import type { PlanName } from './plans.ts'

/** A millionth of a credit, which is the unit of all that is counted and stored. One credit is one rappen. */
export const ucrPerCredit = 1_000_000

/** `12.5` of 12,500,000 millionths, exactly. */
export function toCredits(ucr: number): string {
  const size = Math.abs(ucr)
  const decimals = String(size % ucrPerCredit)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${ucr < 0 ? '-' : ''}${Math.floor(size / ucrPerCredit)}${decimals && `.${decimals}`}`
}

export interface MonthlyCredits {
  /** Credits at the beginning of each month; undefined is by contract: use is recorded and costs none. */
  readonly credits: number | undefined
  /** Months after the one they are of in which they can still be used. */
  readonly carriedMonths: number
}

export const monthlyCredits: Readonly<Record<PlanName, MonthlyCredits>> = {
  anonymous: { credits: 0, carriedMonths: 0 },
  free: { credits: 200, carriedMonths: 0 },
  basic: { credits: 800, carriedMonths: 6 },
  pro: { credits: 4000, carriedMonths: 6 },
  enterprise: { credits: undefined, carriedMonths: 0 },
}

/** A price as an exact fraction: so many millionths of a credit for so many units. */
export interface CreditPrice {
  readonly ucr: bigint
  readonly units: bigint
}

const gibibyte = 2n ** 30n
const hourMs = 3_600_000n

export const creditPrices = {
  /** Ten credits for a GiB that is sent; the unit is an octet. */
  traffic: { ucr: 10_000_000n, units: gibibyte },
  /** Five credits for a GiB that is stored for a month of 730 hours; the unit is an octet for a millisecond. */
  storage: { ucr: 5_000_000n, units: gibibyte * 730n * hourMs },
} as const satisfies Readonly<Record<string, CreditPrice>>

/** What is paid for with credits. */
export type CreditUse = keyof typeof creditPrices
export const creditUses = ['traffic', 'storage'] as const satisfies readonly CreditUse[]
