/** The open findings of all organizations as the operator reads them, in English. */
import type { Database } from '#store/database.ts'
import { findingText } from '../findings/finding-text.ts'
import { findings, severityOf, type FindingParams, type Observed } from '../findings/finding.ts'
import { severities, type FindingKind, type Severity } from '../findings/kinds.ts'
import { isForOperator, openFindings, type OpenFinding } from '../findings/open-findings.ts'
import { organizations } from '../tenancy/organization.ts'

export interface ReportedFinding {
  readonly id: FindingKind
  readonly severity: Severity
  /** The affected object, such as a domain or the id of a destination; empty for the service itself. */
  readonly subject: string
  /** Absent for findings of the service. */
  readonly organizationName?: string | undefined
  /** Values of the texts. */
  readonly params: FindingParams
  readonly title: string
  readonly summary: string
  /** What to do. */
  readonly fix: string
}

export function inWords(found: Omit<Observed, 'projectId'>, organizationName?: string): ReportedFinding {
  const text = findingText(found)
  const owner = organizationName === undefined ? {} : { organizationName }
  return { id: found.kind, severity: severityOf(found), subject: found.subject, ...owner, params: found.params, ...text }
}

/** Reads the open findings for the operator; most severe first. */
export async function openReport(database: Database): Promise<ReportedFinding[]> {
  const rows: OpenFinding[] = []
  for await (const row of openFindings(database)) if (isForOperator(row)) rows.push(row)
  const byOrganization = [...Map.groupBy(rows, ({ organizationId }) => organizationId)]
  const owners = await database.getOwn(
    organizations,
    byOrganization.map(([id]) => id),
  )
  const found = await Promise.all(
    byOrganization.map(async ([organizationId, all], i) => {
      const ids = all.map(({ id }) => id)
      const stored = await database.getMany(findings, { organizationId }, ids)
      return stored.flatMap((one) => (one?.record.state === 'open' ? [inWords(one.record, owners[i]?.record.name)] : []))
    }),
  )
  return inOrder(found.flat())
}

/** Returns whether the finding causes an alert; notices are only displayed. */
export const isAlarming = ({ severity }: Pick<ReportedFinding, 'severity'>): boolean => severity !== 'notice'

/** Returns the name that identifies a finding of the service or of an organization while it persists. */
export const reportedName = ({ id, subject }: Pick<ReportedFinding, 'id' | 'subject'>): string => `${id} ${subject}`

/** Sorts by severity, then by kind, subject and organization. */
export function inOrder<F extends ReportedFinding>(found: readonly F[]): F[] {
  const rank = ({ severity }: F): number => severities.indexOf(severity)
  const name = (one: F): string => `${reportedName(one)} ${one.organizationName ?? ''}`
  return found.toSorted((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1))
}
