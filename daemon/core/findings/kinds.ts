/** Every kind of finding: severity, group and audience. The meaning of a kind never changes. */

/** `error`: mail is lost, delayed or refused now. `warning`: this can happen later, or receivers trust less. `notice`: for information. */
export const severities = ['error', 'warning', 'notice'] as const
export type Severity = (typeof severities)[number]

/** Subjects by which people choose their alerts. */
export const findingGroups = ['delivery', 'reputation', 'webhooks', 'domains', 'quota', 'forms', 'security', 'service'] as const
export type FindingGroup = (typeof findingGroups)[number]

/** `operator`: of the service. `owner`: of an organization, shown to its members. `both`: of an organization, shown to the operator too. */
export type Audience = 'operator' | 'owner' | 'both'

export interface KindFacts {
  /** Severity unless the finding states another one. */
  readonly severity: Severity
  readonly group: FindingGroup
  readonly audience: Audience
  /** Not told while a `destination.*` error of the same project is open and told, because it follows from that error. */
  readonly isConsequence?: true
  /** Alerts have the finding only while it is an error. */
  readonly isAlertedAsErrorOnly?: true
  /** The finding ends only after its condition was absent in two looks this far apart, in milliseconds. */
  readonly endsAfterMs?: number
}

type Facts = readonly [
  severity: Severity,
  group: FindingGroup,
  audience: Audience,
  more?: Omit<KindFacts, 'severity' | 'group' | 'audience'>,
]

const settled = { endsAfterMs: 300_000 } as const
const consequence = { isConsequence: true } as const

const facts = {
  'machine.node': ['error', 'service', 'operator'],
  'data.folder': ['error', 'service', 'operator'],
  'master_key.missing': ['error', 'service', 'operator'],
  'master_key.wrong': ['error', 'service', 'operator'],
  'master_key.exposed': ['error', 'service', 'operator'],
  'port.unavailable': ['error', 'service', 'operator'],
  'daemon.not_running': ['notice', 'service', 'operator'],
  'disk.low': ['error', 'service', 'operator'],
  'disk.filling': ['warning', 'service', 'operator'],
  'log.lines_dropped': ['warning', 'service', 'operator'],
  'files.nearly_used': ['error', 'service', 'operator'],
  'files.limit_low': ['warning', 'service', 'operator'],
  'memory.limit_low': ['warning', 'service', 'operator'],
  'clock.wrong': ['error', 'service', 'operator'],
  'clock.jumped': ['warning', 'service', 'operator'],
  'clock.off': ['warning', 'service', 'operator'],
  'store.damaged': ['error', 'service', 'operator'],
  'database.away': ['error', 'service', 'operator'],
  'database.unsafe': ['error', 'service', 'operator'],
  'database.old': ['warning', 'service', 'operator'],
  'database.connections': ['warning', 'service', 'operator'],
  'database.standby_late': ['warning', 'service', 'operator'],
  'database.forgotten_copy': ['warning', 'service', 'operator'],
  'objects.away': ['error', 'service', 'operator'],
  'certificate.unusable': ['error', 'service', 'operator'],
  'certificate.expired': ['error', 'service', 'operator'],
  'certificate.expiring': ['warning', 'service', 'operator'],
  'certificate.renewal_failed': ['warning', 'service', 'operator'],
  'certificate.name': ['error', 'service', 'operator'],
  'certificate.self_signed': ['notice', 'service', 'operator'],
  'backup.none': ['notice', 'service', 'operator'],
  'backup.old': ['warning', 'service', 'operator'],
  'dns.unreachable': ['error', 'service', 'operator'],
  'address.listed': ['error', 'service', 'operator'],
  'address.no_reverse_name': ['warning', 'service', 'operator'],
  'address.reverse_mismatch': ['warning', 'service', 'operator'],
  'blocklist.refused': ['notice', 'service', 'operator'],
  'scanner.unreachable': ['error', 'forms', 'both'],
  'captcha.unreachable': ['error', 'forms', 'operator'],
  'spans.not_exported': ['warning', 'service', 'operator'],
  'alerts.no_mail': ['warning', 'service', 'operator'],
  'alerts.undeliverable': ['warning', 'service', 'owner'],
  'alerts.owner_unreachable': ['warning', 'service', 'operator'],
  'alerts.one_path': ['warning', 'service', 'operator'],
  'route.missing': ['warning', 'delivery', 'owner', { isAlertedAsErrorOnly: true }],
  'destination.login_refused': ['error', 'delivery', 'both'],
  'destination.probe_failed': ['error', 'delivery', 'both'],
  'destination.resting': ['error', 'delivery', 'both'],
  'destination.failing': ['error', 'delivery', 'both'],
  'mail.all_failing': ['error', 'delivery', 'both', consequence],
  'mail.bounced': ['warning', 'reputation', 'owner', settled],
  'mail.failed': ['warning', 'delivery', 'owner', settled],
  'mail.deferred': ['warning', 'delivery', 'owner', { ...settled, ...consequence }],
  'mail.refused': ['warning', 'delivery', 'owner', settled],
  'mail.complained': ['warning', 'reputation', 'owner', settled],
  'queue.late': ['warning', 'delivery', 'both', consequence],
  'queue.held': ['warning', 'delivery', 'both'],
  'approval.waiting': ['warning', 'delivery', 'owner'],
  'webhook.failing': ['error', 'webhooks', 'owner'],
  'webhook.parked': ['error', 'webhooks', 'both', { isAlertedAsErrorOnly: true }],
  'inbound.failing': ['error', 'webhooks', 'owner'],
  'source.silent': ['warning', 'reputation', 'both'],
  'source.never_seen': ['notice', 'reputation', 'both'],
  'source.poll_failing': ['warning', 'reputation', 'both'],
  'domain.dkim': ['error', 'domains', 'both'],
  'domain.spf': ['warning', 'domains', 'both'],
  'domain.dmarc': ['warning', 'domains', 'both'],
  'domain.bounce_mx': ['error', 'domains', 'both'],
  'domain.bounce_spf': ['warning', 'domains', 'both'],
  'domain.pending': ['notice', 'domains', 'both'],
  'domain.lookup_failed': ['notice', 'domains', 'both'],
  'domain.unknown': ['notice', 'domains', 'owner'],
  'site.domain': ['warning', 'domains', 'both'],
  'quota.nearly_used': ['warning', 'quota', 'owner'],
  'quota.used': ['error', 'quota', 'owner'],
  'payment.overdue': ['notice', 'quota', 'owner'],
  'form.notification_failing': ['error', 'forms', 'owner', consequence],
  'login.attacked': ['warning', 'security', 'owner'],
  'credential.expiring': ['notice', 'security', 'owner'],
} as const satisfies Readonly<Record<string, Facts>>

export type FindingKind = keyof typeof facts

export const findingKinds = Object.keys(facts) as readonly FindingKind[]

export function factsOf(kind: FindingKind): KindFacts {
  const [severity, group, audience, more]: Facts = facts[kind]
  return { severity, group, audience, ...more }
}
