/** What sites need to know of the credit of their organization, and what they tell it. */
import type { Change } from '#store/change.ts'

/** What a site used that is not paid for yet. */
export interface SiteUse {
  readonly organizationId: string
  readonly siteId: string
  readonly trafficBytes: number
  /** Octets times milliseconds. */
  readonly storedByteMs: bigint
  /** The end of the time in which it was used, in milliseconds. */
  readonly untilMs: number
}

export interface SiteCredits {
  /** Whether sites of the organization are served now; the same within ten seconds of a change. */
  hasCredit(organizationId: string): Promise<boolean>
  /** Adds to a write what the use costs: with the write it is paid for, or nothing of it is. Without it, use is counted on. */
  readonly settle?: (change: Change, use: SiteUse) => Promise<void>
}
