/** Findings for members, as their checks write them. */
import { credentialFindings } from '#core/doctor/credential-check.ts'
import { breakerFinding, parkedFinding, probeFinding, sourceFindings } from '#core/doctor/delivery-findings.ts'
import { domainFindings } from '#core/doctor/domain-findings.ts'
import { siteDomainFindings } from '#core/doctor/site-domain-check.ts'
import { observed, type Observed } from '#core/findings/finding.ts'
import { attemptNames, projectNames, recipientNames, refusedLetter } from '#core/insights/count.ts'
import { sorted, type Condition } from '#core/watch/condition.ts'
import { loginConditions } from '#core/watch/conditions/logins.ts'
import { mailConditions } from '#core/watch/conditions/mail.ts'
import { approvalConditions, attackConditions, organizationConditions } from '#core/watch/conditions/people.ts'
import { queueConditions } from '#core/watch/conditions/queue.ts'
import { quotaConditions } from '#core/watch/conditions/quota.ts'
import { receiverConditions } from '#core/watch/conditions/receivers.ts'
import { destinationConditions, routeConditions } from '#core/watch/conditions/routes.ts'
import { scanConditions } from '#core/watch/conditions/scans.ts'
import { senderConditions } from '#core/watch/conditions/senders.ts'

const hour = 3_600_000
const day = 24 * hour
export const checkedAt = Date.UTC(2030, 0, 15, 10)

const project = { id: 'prj_1', name: 'Shop' }
const destination = { id: 'dst_1', projectId: project.id, name: 'Postmark', mode: 'live' as const }
const destinations = new Map([[destination.id, destination]])
const failovers = { of: () => undefined }
const policy = { destinations, failovers } as unknown as Parameters<typeof loginConditions>[0]

type Counts = Readonly<Record<string, number>>

const figures = (subject: string, counts: Counts) => ({
  project,
  steps: [{ from: checkedAt - hour / 2, subject, counts: new Map(Object.entries(counts)) }],
  periods: { day: 0, hour: 0, quarter: 0 },
})
const ofProject = (counts: Counts) => figures('', counts)
const ofDestination = (counts: Counts) => figures(destination.id, counts)

const mail = [
  ...mailConditions(ofDestination({ [recipientNames.taken]: 100, [recipientNames.bounced]: 9, [recipientNames.complained]: 9 })),
  ...mailConditions(ofDestination({ [recipientNames.failed]: 9, [recipientNames.deferred]: 90 })),
  ...mailConditions(ofProject({ [`${refusedLetter}no_route`]: 30 })),
]

const live = [destination] as unknown as Parameters<typeof destinationConditions>[1]
const routing = [
  ...routeConditions({ project }, { captured: 4, refused: 0 }, ['bellevue.example'], live, checkedAt),
  ...destinationConditions(ofDestination({ [attemptNames.attempts]: 9, [attemptNames.errors]: 8 }), live),
  ...loginConditions(
    policy,
    () => ({ refusals: 2, code: 'auth_failed', refusedAt: checkedAt }),
    () => false,
  ),
]

const waiting = (held: number) => ({ destinationId: destination.id, due: [checkedAt - 3 * hour], held, heldSince: checkedAt - 2 * day })
const queue = [
  ...queueConditions(project, [waiting(2)], () => false, checkedAt),
  ...approvalConditions(project, 2),
  ...scanConditions({ count: 3, since: checkedAt - hour }, checkedAt),
]

const receivers = (
  [
    ['webhook.failing', 'whk_1'],
    ['inbound.failing', 'inr_1'],
    ['form.notification_failing', 'frm_1'],
  ] as const
).flatMap(([kind, id]) => {
  const { steps } = figures(id, { [projectNames.webhookFailed]: 5 })
  return receiverConditions([{ kind, id, name: 'Orders', projectId: project.id }], steps, checkedAt)
})

const limits = quotaConditions(
  [
    { limit: 'sends_today', used: 100, allowed: 100, projectId: '', project: '' },
    { limit: 'project_sends_today', used: 90, allowed: 100, projectId: project.id, project: project.name },
  ],
  checkedAt,
)

const expiring = (['key', 'login'] as const).map((what) => ({
  ...{ id: what === 'key' ? 'key_1' : 'smtp_1', name: 'Webshop', what, projectId: project.id },
  expiresAt: checkedAt + day,
}))
const people = [
  ...organizationConditions({ paymentState: 'past_due' } as Parameters<typeof organizationConditions>[0], '2029-12'),
  ...attackConditions(figures('smtp_1', { [projectNames.loginRefused]: 400 }), new Map([['smtp_1', { label: 'WordPress' }]])),
  ...credentialFindings(expiring, new Map(expiring.map(({ id }) => [id, checkedAt])), checkedAt),
  ...senderConditions(project, new Map([['rigi.example', 12]]), () => false),
]

const watched: readonly Condition[] = [...mail, ...routing, ...queue, ...receivers, ...limits, ...people]

const facts = { destination, fallbacks: [] }
const parked = { projectId: project.id, name: 'Orders', count: 2, isMore: false, isRecent: true, lastStatusCode: 500 }
const source = { id: 'src_1', label: 'Postfix', provider: 'postfix', imap: null, createdAt: 0 } as Parameters<
  typeof sourceFindings
>[0]['source']
const imap = { pollIntervalSeconds: 60 } as NonNullable<typeof source.imap>
const poll = { lastError: 'The login is wrong.', lastPolledAt: 0 } as NonNullable<Parameters<typeof sourceFindings>[0]['poll']>
const domain = { domain: 'rigi.example', status: 'verified', keys: [{ state: 'active', selector: 's1' }] } as unknown as Parameters<
  typeof domainFindings
>[0]['domain']
const purposes = ['dkim', 'spf', 'dmarc', 'bounce_mx', 'bounce_spf'] as const
const record = { type: 'TXT' as const, expected: 'x', required: true, hint: '' }
const expected = purposes.map((purpose) => ({ purpose, name: `${purpose}.rigi.example`, ...record }))
const checks = (verdict: 'error' | 'missing') =>
  expected.map(({ purpose, name }) => ({ purpose, name, verdict, found: [] })) as unknown as Parameters<typeof domainFindings>[0]['checks']

const examined: readonly Observed[] = [
  probeFinding(facts, { step: 'connect', code: 'connect_refused' }),
  ...breakerFinding(facts, { phase: 'open', since: checkedAt, cause: null }),
  ...['whk_1', 'inr_1', 'frm_1'].map((endpointId) => parkedFinding({ endpointId, ...parked })),
  ...sourceFindings({ source, seen: undefined, poll: undefined }, checkedAt),
  ...sourceFindings({ source, seen: { at: 0 } as Parameters<typeof sourceFindings>[0]['seen'], poll: undefined }, checkedAt),
  ...sourceFindings({ source: { ...source, imap }, seen: undefined, poll }, checkedAt),
  ...domainFindings({ domain, expected, checks: checks('missing') }),
  ...domainFindings({ domain, expected, checks: checks('error') }),
  ...domainFindings({ domain: { ...domain, keys: [] }, expected, checks: [] }),
  ...siteDomainFindings({
    ...{ slug: 'rigi', projectId: project.id },
    domains: [{ name: 'www.rigi.example', verifiedAt: 1, problem: 'x', problemCode: 'txt' }],
  } as unknown as Parameters<typeof siteDomainFindings>[0]),
]

/** Findings of writes that are not pure: a channel whose alerts fail, and mails of a form that cannot be created. */
const written: readonly Observed[] = [
  observed('alerts.undeliverable', 'alc_1', { channel: 'Team', reason: 'receiver' }),
  observed('form.notification_failing', 'frm_1', { name: 'Contact', by: 'mail' }, project.id),
]

export const checkedFindings: readonly Observed[] = [...sorted(watched).observed, ...examined, ...written]
