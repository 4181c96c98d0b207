/** Whether mail of the service, which alerts use, leaves only through hosts that fail now. */
import type { Core } from '../core.ts'
import { findings, observed, type Observed } from '../findings/finding.ts'
import { openFindings, type OpenFinding } from '../findings/open-findings.ts'
import type { Destination } from '../routing/destination.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'

type Parts = Pick<Core, 'database' | 'policies'>

/** Maximum number of open errors of destinations that a look reads. */
const maxErrors = 1000

export async function alertPathFindings(parts: Parts): Promise<Observed[]> {
  const { destinations } = await parts.policies.of(systemOrganizationId)
  const live = [...destinations.values()].filter(({ mode }) => mode === 'live')
  const hosts = [...new Set(live.map(hostOf))]
  const [host] = hosts
  if (host === undefined) return [] // no mail leaves, which `alerts.no_mail` reports
  const failing = await failingServers(parts)
  return live.every((one) => failing.has(serverOf(one))) ? [observed('alerts.one_path', '', { host, more: hosts.length - 1 })] : []
}

/**
 * Causes of failures of the host itself. A wrong password, another setting or a refused message of an organization says nothing about the
 * mail of others through the host.
 */
const causesOfHosts: readonly unknown[] = ['dns', 'name', 'refused', 'timeout', 'connection', 'certificate', 'tls', 'starttls', 'greeting']

/** Returns the servers that destinations of any organization cannot reach. */
async function failingServers({ database, policies }: Parts): Promise<ReadonlySet<string>> {
  const errors: OpenFinding[] = []
  for await (const row of openFindings(database)) {
    if (row.severity !== 'error' || errors.length === maxErrors) break // errors are first
    if (row.kind === 'destination.probe_failed' || row.kind === 'destination.resting') errors.push(row)
  }
  const servers = new Set<string>()
  for (const [organizationId, rows] of Map.groupBy(errors, (row) => row.organizationId)) {
    const { destinations } = await policies.of(organizationId)
    const ids = rows.map(({ id }) => id)
    for (const stored of await database.getMany(findings, { organizationId }, ids)) {
      if (stored?.record.state !== 'open' || !causesOfHosts.includes(stored.record.params['cause'])) continue
      const destination = destinations.get(stored.record.subject)
      if (destination) servers.add(serverOf(destination))
    }
  }
  return servers
}

/** Returns the host of the server, or the name of a provider with an API. */
function hostOf(destination: Destination): string {
  if (destination.provider === 'smtp') return destination.host.toLowerCase()
  return URL.parse(destination.baseUrl ?? '')?.host ?? destination.provider
}

/** The host with its port and security: another port, or TLS at the wrong one, fails by the setting of one destination. */
function serverOf(destination: Destination): string {
  if (destination.provider !== 'smtp') return hostOf(destination)
  const { port, security, tlsPolicy } = destination
  return [hostOf(destination), port, security, tlsPolicy].join(' ')
}
