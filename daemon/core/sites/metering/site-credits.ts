/** Interface between sites and the credits of their organization. */
import type { Change } from '#store/change.ts'

/** Usage of a site that is not yet charged. */
export interface SiteUse {
  readonly organizationId: string
  readonly siteId: string
  readonly trafficBytes: number
  /** Octets times milliseconds. */
  readonly storedByteMs: bigint
  /** End of the time span of the use, in milliseconds. */
  readonly untilMs: number
}

export interface SiteCredits {
  /** Returns whether sites of the organization are served now. A change takes effect within ten seconds. */
  hasCredit(organizationId: string): Promise<boolean>
  /** Adds the charge for the usage to a write. If absent, usage accumulates. */
  readonly settle?: (change: Change, use: SiteUse) => Promise<void>
}
