/** Sites for every operation that takes one, and the requests of these operations; see `../fixture/requests.ts`. */
import { createHash } from 'node:crypto'
import { zipOfFiles } from '../../../support/web/zip-file.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'

const zip = zipOfFiles({ 'index.html': '<h1>Alpenblick</h1>' })
const archive = { 'content-type': 'application/zip' }
const page = Buffer.from('<h1>Alpenrose</h1>')
const sha256 = createHash('sha256').update(page).digest('hex')
const manifest = { files: [{ path: 'index.html', sha256, size: page.length }] }

interface MadeSites {
  readonly site: string
  readonly spareSite: string
  readonly siteDeploy: string
  readonly spareDeploy: string
  readonly openDeploy: string
}

/** Adds sites. Their names are unique in the whole service, so `end` differs for each organization. */
export async function makeSites(rest: RestClient, end: string): Promise<MadeSites> {
  const { id: site } = await rest.must('POST', '/v1/sites', { slug: `alpenblick-${end}` })
  const { id: spare } = await rest.must('POST', '/v1/sites', { slug: `alpenrose-${end}` })
  const path = `/v1/sites/${String(site)}`
  const deploy = async (query: string): Promise<string> =>
    ((await rest.call('POST', `${path}/deploys${query}`, zip, archive)).body as { id: string }).id
  const [active, other] = [await deploy('?activate=true'), await deploy('')]
  const { id: open } = await rest.must('POST', `${path}/deploys`, manifest)
  await rest.must('POST', `${path}/domains`, { domain: 'www.alpenblick.example' })
  return { site: String(site), spareSite: String(spare), siteDeploy: active, spareDeploy: other, openDeploy: String(open) }
}

const refused = { outsider: 'refused' } as const
const own = { outsider: 'own' } as const

export const siteRequests = (made: MadeSites & { readonly target: string }) => {
  const one = { ...refused, params: { id: made.site } }
  const deployed = { ...refused, params: { id: made.site, deploy_id: made.siteDeploy } }
  const domain = { ...refused, params: { id: made.site, domain: 'www.alpenblick.example' } }
  return {
    listSites: own,
    getSite: one,
    getSiteUsage: one,
    listSiteDomains: one,
    listSiteDeploys: one,
    getSiteDeploy: deployed,
    createSite: { ...refused, body: { slug: 'gipfel', project_id: made.target } },
    updateSite: { ...one, body: { paused: true } },
    addSiteDomain: { ...one, body: { domain: 'www.alpenrose.example' } },
    verifySiteDomain: domain,
    createSiteDeploy: { ...one, body: manifest },
    putSiteFile: {
      ...{ ...refused, params: { id: made.site, deploy_id: made.openDeploy, sha256 }, body: page },
      headers: { 'content-type': 'application/octet-stream' },
    },
    activateSiteDeploy: { ...refused, params: { id: made.site, deploy_id: made.spareDeploy } },
    deleteSiteDeploy: deployed,
    removeSiteDomain: domain,
    deleteSite: { ...refused, params: { id: made.spareSite } },
  }
}
