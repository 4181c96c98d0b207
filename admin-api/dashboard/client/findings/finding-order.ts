/** Order of findings on screens, and findings that follow from others. Pure. */
import type { Finding } from '../wire/api.d.ts'

/** Kinds in the order of their urgency. Others come last in their severity. */
const order = [
  ...['quota.used', 'destination.login_refused', 'destination.resting', 'destination.probe_failed', 'destination.failing'],
  ...['mail.all_failing', 'route.missing', 'webhook.failing', 'webhook.parked'],
  ...['domain.dkim', 'domain.spf', 'domain.bounce_mx', 'domain.bounce_spf', 'domain.dmarc'],
  ...['mail.bounced', 'mail.failed', 'mail.complained', 'form.notification_failing', 'scanner.unreachable', 'inbound.failing'],
  ...['queue.late', 'mail.deferred', 'mail.refused', 'approval.waiting', 'queue.held'],
  ...['source.poll_failing', 'source.silent', 'login.attacked', 'site.domain', 'alerts.undeliverable'],
  ...['payment.overdue', 'quota.nearly_used', 'credential.expiring', 'domain.unknown'],
]
const severities = ['error', 'warning', 'notice']

/** The most urgent open finding by destination id. */
export type Troubles = ReadonlyMap<string, Finding>

/** Kinds that follow from an error of a destination of the same project. */
const consequences = new Set(['mail.all_failing', 'mail.deferred', 'queue.late', 'form.notification_failing'])

const isOfDestination = ({ kind }: Finding): boolean => kind.startsWith('destination.')

/** Returns the id of the destination that a `destination.*` finding is about. */
export const destinationOf = ({ subject, params }: Pick<Finding, 'subject' | 'params'>): string =>
  String(params['destinationId'] ?? subject)

/** Returns the findings in order, without consequences of other findings in the list. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const sorted = findings.toSorted((a, b) => compare(ranksOf(a), ranksOf(b)))
  return sorted.filter((one, at) => !sorted.some((other, before) => other !== one && isExplained(one, at, other, before)))
}

/** Returns the most urgent finding of each destination, in order. Includes projects whose mail no destination delivers. */
export function byDestination(findings: readonly Finding[]): Troubles {
  const troubles = new Map<string, Finding>()
  const meant = findings.filter((one) => isOfDestination(one) || one.kind === 'mail.all_failing')
  for (const finding of meant.toSorted((a, b) => compare(ranksOf(a), ranksOf(b))))
    for (const id of destinationsOf(finding)) if (!troubles.has(id)) troubles.set(id, finding)
  return troubles
}

const destinationsOf = (finding: Finding): readonly string[] =>
  isOfDestination(finding)
    ? [destinationOf(finding)]
    : String(finding.params['destinationIds'] ?? '')
        .split(' ')
        .filter(Boolean)

/** Values that count messages, recipients or attempts; a finding can have several, and the first one decides. */
const counts = ['undelivered', 'waiting', 'count', 'some', 'failed']

const ranksOf = ({ kind, severity, params, opened_at: at }: Finding): readonly number[] => [
  severities.indexOf(severity),
  order.includes(kind) ? order.indexOf(kind) : order.length,
  -Number(counts.map((name) => params[name]).find((count) => count !== undefined) ?? 0),
  Date.parse(at),
]

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((rank, i) => rank !== b[i])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

/** Whether `other` is the cause of `one`. Of several findings of a destination, the first one stays. */
function isExplained(one: Finding, at: number, other: Finding, before: number): boolean {
  const isOfPlace = other.project_id === null || other.project_id === one.project_id
  if (isOfDestination(other) && other.severity === 'error') {
    if (consequences.has(one.kind)) return isOfPlace
    return isOfDestination(one) && before < at && destinationOf(one) === destinationOf(other)
  }
  return one.kind === 'webhook.parked' && other.kind === 'webhook.failing' && other.subject === one.subject
}

const marks: Readonly<Record<string, string>> = {
  'destination.resting': 'paused',
  'webhook.parked': 'parked',
  'route.missing': 'captured',
  'quota.used': 'warning',
}

/** Returns the mark of a finding: that of the state, or else of the severity. */
export const markOf = ({ kind, severity, state }: Pick<Finding, 'kind' | 'severity' | 'state'>): string =>
  state === 'over' ? 'ok' : (marks[kind] ?? { error: 'failed', warning: 'warning', notice: 'none' }[severity])
