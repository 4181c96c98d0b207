/** Checks the domain of websites against the addresses of the service, because browsers share cookies below a registrable domain. */
import { ConfigInvalid, type Config } from '#config/settings/load.ts'

type Named = Pick<Config, 'sites' | 'baseUrl' | 'authUrl' | 'formsUrl' | 'mcpUrl'>

/** Throws `ConfigInvalid` if websites and the service are below the same registrable domain (public suffix list). */
export async function requireDomainApart({ sites: { domain }, baseUrl, authUrl, formsUrl, mcpUrl }: Named): Promise<void> {
  if (domain === null) return
  const { organizationOf, sameOrganization } = await import('#ingest/dns/domains.ts') // the list is long, and most starts do not need it
  const urls = Object.entries({
    POSTERN_BASE_URL: baseUrl,
    POSTERN_AUTH_URL: authUrl,
    POSTERN_FORMS_URL: formsUrl,
    POSTERN_MCP_URL: mcpUrl,
  })
  const shared = urls.flatMap(([variable, url]) => {
    const host = url === null ? '' : new URL(url).hostname
    if (host === '' || !sameOrganization(domain, host)) return []
    return [
      `POSTERN_SITES_DOMAIN is ${domain}, and ${variable} is at ${host}: browsers share cookies below ${organizationOf(host)}, and tenants control the scripts of websites. Register a separate domain for websites.`,
    ]
  })
  if (shared.length > 0) throw new ConfigInvalid(shared)
}
