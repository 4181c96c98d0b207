/** Whether mail of the service, which alerts use, leaves only through hosts with a destination that fails now. */
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
  const hosts = [...new Set([...destinations.values()].filter(({ mode }) => mode === 'live').map(hostOf))]
  const [host] = hosts
  if (host === undefined) return [] // no mail leaves, which `alerts.no_mail` reports
  const failing = await failingHosts(parts)
  return hosts.every((one) => failing.has(one)) ? [observed('alerts.one_path', '', { host, more: hosts.length - 1 })] : []
}

/** Returns the hosts of destinations of all organizations with an open error. */
async function failingHosts({ database, policies }: Parts): Promise<ReadonlySet<string>> {
  const errors: OpenFinding[] = []
  for await (const row of openFindings(database)) {
    if (row.severity !== 'error' || errors.length === maxErrors) break // errors are first
    if (row.kind.startsWith('destination.')) errors.push(row)
  }
  const hosts = new Set<string>()
  for (const [organizationId, rows] of Map.groupBy(errors, (row) => row.organizationId)) {
    const { destinations } = await policies.of(organizationId)
    const ids = rows.map(({ id }) => id)
    for (const stored of await database.getMany(findings, { organizationId }, ids)) {
      const destination = destinations.get(stored?.record.subject.split('/')[0] ?? '')
      if (stored?.record.state === 'open' && destination) hosts.add(hostOf(destination))
    }
  }
  return hosts
}

/** Returns the host of the server, or the name of a provider with an API. */
function hostOf(destination: Destination): string {
  if (destination.provider === 'smtp') return destination.host.toLowerCase()
  return URL.parse(destination.baseUrl ?? '')?.host ?? destination.provider
}
