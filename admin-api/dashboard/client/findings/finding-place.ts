/** The place in the dashboard where a person can act on a finding. Pure. */
import type { Finding } from '../wire/api.d.ts'
import { destinationOf, inOrder } from './finding-order.ts'

type Step =
  | 'addDomain'
  | 'addRule'
  | 'checkSource'
  | 'openInvoice'
  | 'openOperator'
  | 'openQueue'
  | 'openSettings'
  | 'openWebsites'
  | 'review'
  | 'reviewLogin'
  | 'rotate'
  | 'seeAnswer'
  | 'seeFailures'
  | 'seeWhy'
  | 'sendAgain'
  | 'showBounces'
  | 'showComplaints'
  | 'showRecord'
  | 'showRequests'
  | 'showTraces'
  | 'showUsage'

export interface Place {
  /** Name of the button. */
  readonly step: Step
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

const place = (step: Step, path: string, query: Readonly<Record<string, string>> = {}): Place => ({ step, path, query })

type PlaceOf = (finding: Finding) => Place

const hourMs = 3_600_000

/** Traces with this filter, from the beginning of the hours that the finding counts. */
const traces =
  (step: Step, filter: Readonly<Record<string, string>>): PlaceOf =>
  ({ params, opened_at: at }) =>
    place(step, '/traces', { ...filter, since: new Date(Date.parse(at) - Number(params['hours'] ?? 1) * hourMs).toISOString() })

const domains: PlaceOf = () => place('showRecord', '/domains')
const source: PlaceOf = ({ subject }) => place('checkSource', `/incoming/sources/${subject}`)
const inboundRoute: PlaceOf = ({ subject }) => place('seeAnswer', `/incoming/routes/${subject}`)
/** The subject is the id of the form, followed by `/webhook` for its webhook. */
const form: PlaceOf = ({ subject }) => place('openSettings', `/forms/${subject.split('/')[0]}/notifications`)

/** The receiver of parked deliveries: a webhook endpoint, an inbound route or a form. */
function parked(finding: Finding): Place {
  const { subject } = finding
  if (subject.startsWith('inr_')) return inboundRoute(finding)
  return subject.startsWith('frm_') ? form(finding) : place('sendAgain', `/settings/webhooks/${subject}`)
}

/** Only invalid requests have a trace. The figures show the others by code. */
const refused: PlaceOf = (finding) =>
  finding.params['code'] === 'validation_failed'
    ? traces('showRequests', { outcome: 'refused' })(finding)
    : place('showRequests', '/insights')

const destination: PlaceOf = (finding) => place('seeWhy', `/destinations/${destinationOf(finding)}`)

const places: Readonly<Record<string, PlaceOf>> = {
  'quota.used': () => place('showUsage', '/settings/usage'),
  'quota.nearly_used': () => place('showUsage', '/settings/usage'),
  'payment.overdue': () => place('openInvoice', '/settings/invoices'),
  ...{ 'destination.resting': destination, 'destination.login_refused': destination, 'destination.probe_failed': destination },
  'destination.failing': (finding) => traces('seeFailures', { has: 'error', destination_id: destinationOf(finding) })(finding),
  'route.missing': () => place('addRule', '/routing', { new: '1' }),
  'webhook.failing': ({ subject }) => place('seeAnswer', `/settings/webhooks/${subject}`),
  ...{ 'webhook.parked': parked, 'inbound.failing': inboundRoute, 'form.notification_failing': form },
  ...{ 'domain.dkim': domains, 'domain.spf': domains, 'domain.dmarc': domains, 'domain.bounce_mx': domains },
  ...{ 'domain.bounce_spf': domains, 'domain.pending': domains, 'domain.lookup_failed': domains },
  'domain.unknown': ({ subject }) => place('addDomain', '/domains', { new: '1', domain: subject }),
  'site.domain': () => place('openWebsites', '/websites'),
  'mail.all_failing': traces('showTraces', { has: 'error' }),
  'mail.bounced': traces('showBounces', { status: 'bounced' }),
  'mail.complained': traces('showComplaints', { status: 'complained' }),
  'mail.failed': traces('seeFailures', { status: 'failed' }),
  'mail.deferred': traces('showTraces', { status: 'queued' }),
  'mail.refused': refused,
  'queue.late': () => place('openQueue', '/queue'),
  'queue.held': () => place('review', '/queue', { held: 'true' }),
  'approval.waiting': () => place('review', '/traces', { status: 'pending' }),
  ...{ 'source.silent': source, 'source.never_seen': source, 'source.poll_failing': source },
  'scanner.unreachable': () => place('openOperator', '/operator'),
  'login.attacked': () => place('reviewLogin', '/settings/smtp-logins'),
  'credential.expiring': ({ params }) => place('rotate', params['what'] === 'login' ? '/settings/smtp-logins' : '/settings/keys'),
}

/** Returns the place in the project of the finding. Undefined if no screen shows the cause. */
export function placeOf(finding: Finding): Place | undefined {
  const { kind, project_id: project } = finding
  const found = Object.hasOwn(places, kind) ? places[kind]?.(finding) : undefined
  return found && { ...found, query: { ...found.query, ...(project !== null && { project }) } }
}

/** Returns the number of open errors by the address that shows their cause. One cause counts once, as on the overview. */
export function errorsByPath(findings: readonly Finding[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const finding of inOrder(findings)) {
    const path = finding.severity === 'error' ? placeOf(finding)?.path : undefined
    if (path !== undefined) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return counts
}
