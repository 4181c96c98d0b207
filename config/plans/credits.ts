/** Credits of managed websites: credits in each plan, and prices of usage. Spec "Limits" 15. */
import type { PlanName } from './plans.ts'

/** A millionth of a credit, the unit of all counts and stored values. One credit is one rappen. */
export const ucrPerCredit = 1_000_000

/** Returns `12.5` for 12,500,000 millionths, without rounding. */
export function toCredits(ucr: number): string {
  const size = Math.abs(ucr)
  const decimals = String(size % ucrPerCredit)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${ucr < 0 ? '-' : ''}${Math.floor(size / ucrPerCredit)}${decimals && `.${decimals}`}`
}

export interface MonthlyCredits {
  /** Credits at the beginning of each month. Undefined: by contract; usage is recorded and costs no credits. */
  readonly credits: number | undefined
  /** Number of later months in which unused credits remain valid. */
  readonly carriedMonths: number
}

export const monthlyCredits: Readonly<Record<PlanName, MonthlyCredits>> = {
  anonymous: { credits: 0, carriedMonths: 0 },
  free: { credits: 200, carriedMonths: 0 },
  basic: { credits: 800, carriedMonths: 6 },
  pro: { credits: 4000, carriedMonths: 6 },
  enterprise: { credits: undefined, carriedMonths: 0 },
}

/** A price as an exact fraction: millionths of a credit for a number of units. */
export interface CreditPrice {
  readonly ucr: bigint
  readonly units: bigint
}

const gibibyte = 2n ** 30n
const hourMs = 3_600_000n

export const creditPrices = {
  /** Ten credits for each GiB sent. The unit is an octet. */
  traffic: { ucr: 10_000_000n, units: gibibyte },
  /** Five credits for each GiB stored for a month of 730 hours. The unit is an octet for a millisecond. */
  storage: { ucr: 5_000_000n, units: gibibyte * 730n * hourMs },
} as const satisfies Readonly<Record<string, CreditPrice>>

/** Usage that costs credits. */
export type CreditUse = keyof typeof creditPrices
export const creditUses = ['traffic', 'storage'] as const satisfies readonly CreditUse[]
