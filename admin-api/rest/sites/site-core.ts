/** The core of the site operations. */
import type { ArchiveDeploys } from '#core/sites/deploys/archive-deploys.ts'
import type { SiteDeploys } from '#core/sites/deploys/deploys.ts'
import type { SiteAddresses } from '#core/sites/site-addresses.ts'
import type { SiteDomains } from '#core/sites/domains/site-domains.ts'
import type { SiteUsages } from '#core/sites/metering/site-usage.ts'
import type { Sites } from '#core/sites/sites.ts'
import type { Takedowns } from '#core/sites/takedown.ts'

export interface SiteCore {
  readonly sites: Sites
  readonly deploys: SiteDeploys
  readonly archives: ArchiveDeploys
  readonly usages: SiteUsages
  readonly domains: SiteDomains
  readonly takedowns: Takedowns
  readonly addresses: SiteAddresses | undefined
  /** Folder for temporary copies of archives. */
  readonly folder: string
}
