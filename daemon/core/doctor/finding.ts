/** Finding: a problem with its remedy, and the list of all kinds of findings. */

/** `error`: mail is lost, delayed or refused now. `warning`: this can happen later, or receivers trust less. `notice`: for information. */
export const severities = ['error', 'warning', 'notice'] as const
export type Severity = (typeof severities)[number]

/** Severity of every finding by its id. The meaning of an id never changes. */
export const severityOf = {
  'machine.node': 'error',
  'data.folder': 'error',
  'master_key.missing': 'error',
  'master_key.wrong': 'error',
  'master_key.exposed': 'error',
  'port.unavailable': 'error',
  'daemon.not_running': 'notice',
  'disk.low': 'error',
  'disk.filling': 'warning',
  'log.lines_dropped': 'warning',
  'files.nearly_used': 'error',
  'files.limit_low': 'warning',
  'memory.limit_low': 'warning',
  'clock.wrong': 'error',
  'clock.jumped': 'warning',
  'clock.off': 'warning',
  'store.damaged': 'error',
  'database.away': 'error',
  'database.unsafe': 'error',
  'database.old': 'warning',
  'database.connections': 'warning',
  'database.standby_late': 'warning',
  'database.forgotten_copy': 'warning',
  'objects.away': 'error',
  'certificate.unusable': 'error',
  'certificate.expired': 'error',
  'certificate.expiring': 'warning',
  'certificate.renewal_failed': 'warning',
  'certificate.name': 'error',
  'certificate.self_signed': 'notice',
  'backup.none': 'notice',
  'backup.old': 'warning',
  'queue.late': 'warning',
  'queue.held': 'warning',
  'dns.unreachable': 'error',
  'domain.dkim': 'error',
  'domain.spf': 'warning',
  'domain.dmarc': 'warning',
  'domain.bounce_mx': 'error',
  'domain.bounce_spf': 'warning',
  'domain.pending': 'notice',
  'domain.lookup_failed': 'notice',
  'address.listed': 'error',
  'address.no_reverse_name': 'warning',
  'address.reverse_mismatch': 'warning',
  'blocklist.refused': 'notice',
  'destination.probe_failed': 'error',
  'destination.resting': 'error',
  'webhook.parked': 'warning',
  'source.silent': 'warning',
  'source.never_seen': 'notice',
  'source.poll_failing': 'error',
  'site.domain': 'warning',
  'alerts.no_mail': 'warning',
} as const satisfies Record<string, Severity>

export type FindingId = keyof typeof severityOf

export const findingIds = Object.keys(severityOf) as readonly FindingId[]

export interface Finding {
  readonly id: FindingId
  readonly severity: Severity
  /**
   * The affected object, such as a domain or the id of a destination; empty for the service itself. Id and subject identify the finding.
   */
  readonly subject: string
  /** One sentence. */
  readonly summary: string
  /** Remedy in one or two sentences. */
  readonly fix: string
}

export const finding = (id: FindingId, subject: string, summary: string, fix: string): Finding => ({
  id,
  severity: severityOf[id],
  subject,
  summary,
  fix,
})

/** Returns the name that identifies a finding while it persists. */
export const nameOf = ({ id, subject }: Pick<Finding, 'id' | 'subject'>): string => `${id} ${subject}`

/** Returns whether the finding causes an alert; notices are only displayed. */
export const isAlarming = ({ severity }: Pick<Finding, 'severity'>): boolean => severity !== 'notice'

/** Sorts by severity, then by id and subject. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity }: Finding): number => severities.indexOf(severity)
  return findings.toSorted((a, b) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1))
}
