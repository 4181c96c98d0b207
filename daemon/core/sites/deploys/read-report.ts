/** Reads the data for the report of a deploy. */
import type { Database } from '#store/database.ts'
import { readRules } from '../serving/site-views.ts'
import { siteBlobs, type DeployReport, type PageFacts, type SiteDeploy } from '../site.ts'
import { isPage } from './content-types.ts'
import { deployReport } from './deploy-report.ts'
import { headersFile, redirectsFile } from './site-path.ts'
import { readManifest } from './stored-deploys.ts'

/** Number of blobs in one read. */
const step = 100

export async function readReport(database: Database, organizationId: string, { id, ignored }: SiteDeploy): Promise<DeployReport> {
  const files = await readManifest(database, organizationId, id)
  const inSite = files.filter(({ path }) => isPage(path))
  const pages = new Map<string, PageFacts>()
  for (let at = 0; at < inSite.length; at += step) {
    const some = inSite.slice(at, at + step)
    const found = await database.getMany(
      siteBlobs,
      { organizationId },
      some.map(({ sha256 }) => sha256),
    )
    for (const [i, { path }] of some.entries()) {
      const facts = found[i]?.record.page
      if (facts) pages.set(path, facts)
    }
  }
  const digest = (name: string): string | undefined => files.find(({ path }) => path === name)?.sha256
  return deployReport({
    ...{ paths: new Set(files.map(({ path }) => path)), pages, ignored },
    redirects: await readRules(database, organizationId, digest(redirectsFile)),
    headers: await readRules(database, organizationId, digest(headersFile)),
  })
}
