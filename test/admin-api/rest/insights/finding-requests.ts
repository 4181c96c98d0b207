/** Findings that a check opens, and the requests of findings; see `../fixture/requests.ts`. */
import { findings, observed, type Observed } from '#core/findings/finding.ts'
import type { StartedDaemon } from '../../../support/daemon/start-daemon.ts'

/** Opens the findings as one look of a check, and ends the earlier findings of this check; returns the ids of the open ones in order. */
export async function openFindings(
  { part, database }: Pick<StartedDaemon, 'part' | 'database'>,
  organizationId: string,
  seen: readonly Observed[],
  check = 'test',
): Promise<string[]> {
  await part('settle').settle({ organizationId, check, observed: seen })
  const stored = await Promise.all(seen.map(({ kind, subject }) => database.find(findings, { organizationId }, 'subject', [kind, subject])))
  return stored.map((one) => one?.record.id ?? '')
}

export async function makeFinding(daemon: StartedDaemon, projectId: string): Promise<{ readonly finding: string }> {
  const seen = observed('webhook.parked', 'whk_1', { count: 3 }, projectId)
  const [finding = ''] = await openFindings(daemon, daemon.organizationId, [seen])
  return { finding }
}

export const findingRequests = ({ finding, project }: { readonly finding: string; readonly project: string }) => {
  const one = { outsider: 'refused', params: { id: finding } } as const
  return {
    listFindings: { outsider: 'refused', query: `project=${project}` } as const,
    ...{ getFinding: one, acknowledgeFinding: one },
    muteFinding: { ...one, body: { until: '2030-01-02T00:00:00Z' } },
  }
}
