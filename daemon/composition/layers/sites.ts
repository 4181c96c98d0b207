/** Composes managed websites: their data, the server and background work. */
import { formsUrl, publicUrl, pagesUrl } from '#config/settings/load.ts'
import { systemLookUp } from '#core/outbound/resolver.ts'
import { SiteAddresses } from '#core/sites/site-addresses.ts'
import { ArchiveDeploys } from '#core/sites/deploys/archive-deploys.ts'
import { Blobs } from '#core/sites/deploys/blobs.ts'
import { SiteDeploys } from '#core/sites/deploys/deploys.ts'
import { readReport } from '#core/sites/deploys/read-report.ts'
import { domainRecheck } from '#core/sites/domains/domain-recheck.ts'
import { SiteDomains } from '#core/sites/domains/site-domains.ts'
import type { SiteCredits } from '#core/sites/metering/site-credits.ts'
import { SiteTraffic } from '#core/sites/metering/site-traffic.ts'
import { SiteUsages } from '#core/sites/metering/site-usage.ts'
import { SiteAnswers } from '#core/sites/serving/site-answers.ts'
import { SiteViews } from '#core/sites/serving/site-views.ts'
import { siteUpkeep } from '#core/sites/site-upkeep.ts'
import { Sites } from '#core/sites/sites.ts'
import { Takedowns } from '#core/sites/takedown.ts'
import { readSitePage } from '#ingest/html/site-page.ts'
import { SiteServer } from '../../../admin-api/sites/site-server.ts'
import type { SiteParts } from '../composed.ts'
import { broke, type Add, type Composition } from '../parts.ts'

export const addSites = (add: Add): void => add('sites', siteParts)

function siteParts(composition: Composition): SiteParts {
  const { get, config, replace } = composition
  const core = get('core')
  const { database } = core
  const { credits: account } = get('billing')
  const credits: SiteCredits = {
    hasCredit: (organizationId) => account.hasCredit(organizationId),
    settle: (change, use) => account.settle(change, use),
  }
  const addresses = addressesOf(composition)
  const forms = formsUrl(config, config.http.listen)
  const blobs = new Blobs({ database, readPage: readSitePage, formsUrl: forms })
  const reportOf = (organizationId: string, deploy: Parameters<typeof readReport>[2]) => readReport(database, organizationId, deploy)
  const deploys = new SiteDeploys({ ...core, blobs, credits, reportOf })
  const traffic = new SiteTraffic({ ...core, onError: broke(composition, 'traffic of websites') })
  const own = [forms, publicUrl(config, config.http.listen), pagesUrl(config, config.http.listen)]
  const ownHosts = [...own.map((url) => new URL(url).hostname), config.smtpHost, ...(config.inboundDomain ?? '').split(',')]
  const lookUp = replace.lookUp ?? systemLookUp(config.outbound.dnsServers)
  const domains = new SiteDomains({ ...core, resolver: get('resolver'), lookUp, addresses, ownHosts })
  const recheck = addresses && domainRecheck({ ...core, domains, onError: broke(composition, 'domains of websites') })
  return {
    core: {
      ...{ sites: new Sites({ ...core, credits, addresses }), deploys, archives: new ArchiveDeploys(deploys) },
      ...{ usages: new SiteUsages(core), takedowns: new Takedowns(core), addresses, folder: config.dataDir },
      domains,
    },
    recheck,
    ...{ traffic, upkeep: siteUpkeep({ ...core, credits, onError: broke(composition, 'websites') }) },
    server: serverOf(composition, traffic, credits, addresses),
  }
}

/** Returns the addresses of websites. They use https if the service does, because the same proxy serves both. */
function addressesOf({ config: { sites, baseUrl } }: Composition): SiteAddresses | undefined {
  if (sites.domain === null || sites.listen === null) return undefined
  if (baseUrl?.startsWith('https:')) return new SiteAddresses(sites.domain, 'https')
  return new SiteAddresses(sites.domain, 'http', sites.listen.port)
}

function serverOf(
  composition: Composition,
  traffic: SiteTraffic,
  credits: SiteCredits,
  addresses: SiteAddresses | undefined,
): SiteServer | undefined {
  const { get, config } = composition
  const { listen, maxConnections, maxConnectionsPerAddress: maxPerAddress } = config.sites
  if (!addresses || listen === null) return undefined
  const core = get('core')
  return new SiteServer({
    ...{ listen, maxConnections, maxPerAddress, traffic, trustProxy: config.http.trustProxy },
    onListening: (port) => addresses.listensAt(port),
    views: new SiteViews({ ...core, addresses, credits }),
    answers: new SiteAnswers(core.database),
    onError: broke(composition, 'an answer of a website'),
  })
}
