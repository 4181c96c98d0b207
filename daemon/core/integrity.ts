/** Description of the core's data for `verify`: record kinds, other rows, and references between records. */
import type { ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { isHeldPlace, type QueueEntry } from '#store/queue.ts'
import type { VerifyOptions } from '#store/verify/verify.ts'
import { pack, type Element } from '#store/tuple.ts'
import { apiKeys } from './access/keys/api-key.ts'
import { keyUses } from './access/keys/key-uses.ts'
import { smtpCredentials } from './access/smtp-credential.ts'
import { organizationRemovalKey, projectRemovalKey, removableFrom } from './tenancy/removal-key.ts'
import { alertChannels } from './alerts/channels/alert-channel.ts'
import { checkDueRow, checkState } from './alerts/channel-state.ts'
import { auditEntries } from './writes/audit.ts'
import { billingKinds, checkCredits, checkInvoice, closedInvoiceRows } from './billing/billing-integrity.ts'
import { creditAccounts } from './billing/credits/credit.ts'
import { invoiceDocuments, type InvoiceDocument } from './billing/closing/invoice-document.ts'
import { formDisagreements, formRows } from './forms/form-integrity.ts'
import { formDrafts, forms, formVersions } from './forms/form.ts'
import { formNotifications } from './forms/notifications/notification.ts'
import { formReplies } from './forms/replies/reply.ts'
import { formSubmissions, type FormSubmission } from './forms/submissions/submission.ts'
import { fileContents, fileContentOf } from './forms/uploads/file-integrity.ts'
import { weightOfFiles } from './forms/uploads/submission-file.ts'
import { inboxes } from './capture/capture.ts'
import { earlierCaptures, type EarlierCapture } from './capture/earlier-captures.ts'
import { claims } from './claims/claim.ts'
import { sendingDomains } from './domains/sending-domain.ts'
import { optOuts } from './feedback/suppression/opt-out.ts'
import { siteContentOf, siteDisagreements, siteKinds, siteRows } from './sites/site-integrity.ts'
import { contentsOfBlob } from './sites/deploys/blobs.ts'
import { siteBlobs, type SiteBlob } from './sites/site.ts'
import { suppressions } from './feedback/suppression/suppression.ts'
import { checkFinding, checkRowBeside, findings, type Finding } from './findings/finding.ts'
import { firstSecrets } from './first-secrets.ts'
import { ingestSources } from './ingest-sources/ingest-source.ts'
import { postofficeMappings } from './ingest-sources/postoffice-mapping.ts'
import { checkInboundMessage, checkUnprepared } from './inbound-routes/inbound-integrity.ts'
import { inboundMessages, weightOf, type InboundMessage } from './inbound-routes/inbound-message.ts'
import { inboundRoutes } from './inbound-routes/route.ts'
import { inspectTests, type InspectTest } from './inspect/inspect-test.ts'
import { checkInspected, contentOfTest, mailContent } from './inspect/inspect-integrity.ts'
import { allLevels, checkCounts } from './insights/levels.ts'
import { oauthGrants } from './oauth/grants/grant.ts'
import { invitations } from './people/members/invitation.ts'
import { loginLinks } from './people/sign-in/login-link.ts'
import { members } from './people/members/member.ts'
import { passkeys } from './people/sign-in/passkey.ts'
import { sessions } from './people/sign-in/session.ts'
import { users } from './people/users/user.ts'
import { publishableKeys } from './publishable/publishable-key.ts'
import { destinations } from './routing/destination.ts'
import { destinationEvidence } from './routing/destination-evidence.ts'
import { failoverPolicies } from './routing/failover-policy.ts'
import { routingRules } from './routing/rule.ts'
import { queueActRecords } from './delivery/acts/queue-act.ts'
import { queueHolds } from './routing/queue-hold.ts'
import { isParked } from './trace/acts/act-record.ts'
import { replayJobs } from './submission/replay/replay-job.ts'
import { templateDisagreements } from './templates/version-agreement.ts'
import { templates, templateVersions } from './templates/template.ts'
import { storedFormFilesCounter, storedInboundCounter, storedTracesCounter, weightOfTrace } from './tenancy/counters.ts'
import { engagements, type Engagement } from './trace/timeline/engagement.ts'
import { waitsForApproval } from './trace/approval/held-trace.ts'
import { keeperOf } from './trace/timeline/raw-report.ts'
import { checkDueNotice, checkTraceNotice, noticeRows } from './trace/notices/due-notices.ts'
import { toVerpRecipient } from './trace/return-paths.ts'
import { organizations, projects, type Organization, type Project } from './tenancy/organization.ts'
import { traceReports, type TraceReport } from './trace/trace-report.ts'
import { checkDelivery, checkDue, checkLoggedAttempt } from './webhooks/delivery-integrity.ts'
import { webhookDeliveries, type WebhookDelivery } from './webhooks/delivery.ts'
import { webhookEndpoints } from './webhooks/endpoint.ts'
import { receiverHealth } from './webhooks/receiver-health.ts'
import { earlierTraces, traceInAnyForm } from './trace/earlier-traces.ts'
import { traces, type Trace } from './trace/trace.ts'

export const recordKinds = [
  organizations,
  projects,
  apiKeys,
  firstSecrets,
  keyUses,
  publishableKeys,
  smtpCredentials,
  destinations,
  destinationEvidence,
  routingRules,
  sendingDomains,
  failoverPolicies,
  traces,
  engagements,
  traceReports,
  ingestSources,
  postofficeMappings,
  inboxes,
  inspectTests,
  replayJobs,
  queueActRecords,
  queueHolds,
  templates,
  templateVersions,
  forms,
  formDrafts,
  formVersions,
  formSubmissions,
  formReplies,
  formNotifications,
  suppressions,
  optOuts,
  findings,
  alertChannels,
  auditEntries,
  users,
  members,
  invitations,
  loginLinks,
  sessions,
  passkeys,
  ...billingKinds,
  oauthGrants,
  claims,
  webhookEndpoints,
  webhookDeliveries,
  receiverHealth,
  inboundRoutes,
  inboundMessages,
  ...siteKinds,
] as const

/** Kinds that the start converts. */
export const earlierKinds = [earlierTraces, earlierCaptures] as const

/** Options for `verify` of a store written by this core. */
export function integrityChecks(database: Database): VerifyOptions {
  return {
    kinds: [...recordKinds, ...earlierKinds],
    families: rowFamilies(database),
    counted: [
      {
        ...{ kind: traces, earlier: earlierTraces, counter: (organizationId) => storedTracesCounter(organizationId) },
        weigh: (record) => weightOfTrace(record as Trace),
      },
      {
        ...{ kind: traces, earlier: earlierTraces, counter: storedTracesCounter },
        weigh: (record) => weightOfTrace(record as Trace),
        part: {
          of: (record) => (record as Trace).projectId,
          all: async (organizationId) => (await database.all(projects, { organizationId })).map(({ record }) => record.id),
        },
      },
      { kind: formSubmissions, counter: storedFormFilesCounter, weigh: (record) => weightOfFiles(record as FormSubmission) },
      { kind: inboundMessages, counter: storedInboundCounter, weigh: (record) => weightOf(record as InboundMessage) },
    ],
    contents: {
      of: (kind, _organizationId, record) => contentsOf(kind, record),
      owner: (organizationId, contentId) => contentOf(database, organizationId, contentId),
    },
    async checkRecord(kind, organizationId, record) {
      if (kind === traces.name) return checkTraceNotice(database, organizationId, record as Trace)
      if (kind === traceReports.name) return missing(database, organizationId, 'trace', (record as TraceReport).traceId)
      if (kind === engagements.name) return missing(database, organizationId, 'trace', (record as Engagement).id)
      if (kind === webhookDeliveries.name) return checkDelivery(database, record as WebhookDelivery)
      if (kind === inboundMessages.name) return checkInboundMessage(database, organizationId, record as InboundMessage)
      if (kind === findings.name) return checkFinding(database, organizationId, record as Finding)
      if (kind === projects.name) return checkDeletedProject(database, organizationId, record as Project)
      if (kind === invoiceDocuments.name) return checkInvoice(database, record as InvoiceDocument)
      if (kind === creditAccounts.name) return checkCredits(database, organizationId)
      if (kind === organizations.name) return checkDeletedOrganization(database, record as Organization)
      const found =
        (await formDisagreements(database, kind, organizationId, record)) ??
        (await siteDisagreements(database, kind, organizationId, record))
      if (found) return found
      if (kind !== earlierCaptures.name) return templateDisagreements(database, kind, organizationId, record)
      return missing(database, organizationId, 'trace', (record as EarlierCapture).traceId)
    },
    checkQueueEntry: (entry) => checkQueueEntry(database, entry),
  }
}

/** Rows of the whole store that describe pending work and need no check. */
const uncheckedRows = [
  ...['capture.pending', 'capture.marked', 'carried', 'people.outbox', 'approval.asked', 'doctor.reported', 'domain.change'],
  'credit.alert',
  'backup.last',
  'insight.rolled',
  'unsubscribe.kept',
  'acme',
] as const

/** Rows other than records. */
function rowFamilies(database: Database): Required<VerifyOptions>['families'] {
  return [
    { name: 'event', check: async ([organizationId, , traceId]) => missing(database, String(organizationId), 'trace', String(traceId)) },
    { name: 'webhook.attempt', check: ([organizationId, , id]) => checkLoggedAttempt(database, String(organizationId), String(id)) },
    { name: 'webhook.due', global: true, check: (key, value) => checkDue(database, key, value) },
    { name: 'webhook.leftovers', global: true },
    ...['idempotency', 'bulk.report', 'captcha.used'].map((name) => ({ name })),
    { name: 'reveal', global: true },
    { name: 'settings' },
    { name: 'challenge' },
    { name: 'usage.held' },
    { name: 'usage.stored' },
    {
      name: 'feedback.raw',
      check: async ([organizationId, , id]) =>
        (await database.get(traceReports, { organizationId: String(organizationId) }, keeperOf(String(id))))
          ? []
          : ['its report is missing'],
    },
    { name: 'feedback.soft' },
    { name: 'feedback.key' },
    { name: 'feedback.domain' },
    { name: 'feedback.pending', global: true },
    { name: 'feedback.pending-raw', global: true },
    ...['seen', 'poll', 'session', 'refused', 'dropped', 'unmatched', 'ignored'].map((name) => ({ name: `ingest.${name}` })),
    ...uncheckedRows.map((name) => ({ name, global: true as const })),
    {
      name: 'capture.read',
      check: async ([organizationId, , id]) =>
        (await database.get(projects, { organizationId: String(organizationId) }, String(id))) ? [] : ['its project is missing'],
    },
    { name: 'inbound.unprepared', global: true, check: (key) => checkUnprepared(database, key) },
    { name: 'inspect.report', check: ([organizationId, , id]) => checkInspected(database, organizationId, id) },
    { name: 'inspect.pending', global: true, check: ([, , organizationId, id]) => checkInspected(database, organizationId, id) },
    {
      name: 'inbox.notified',
      check: async ([organizationId, , id]) =>
        (await database.get(inboxes, { organizationId: String(organizationId) }, String(id))) ? [] : ['its inbox is missing'],
    },
    { name: 'master-key', global: true },
    { name: 'replay.open', global: true },
    { name: 'queue.act', global: true },
    {
      name: 'verp',
      global: true,
      check: async (_key, value) => {
        const { organizationId, traceId } = toVerpRecipient(value)
        return missing(database, organizationId, 'trace', traceId)
      },
    },
    { name: noticeRows, global: true, check: (key) => checkDueNotice(database, key) },
    { name: 'finding.open', global: true, check: (key) => checkRowBeside(database, key) },
    { name: 'finding.ended', global: true, check: (key) => checkRowBeside(database, key) },
    { name: 'alert.due', global: true, check: (key) => checkDueRow(database, key) },
    { name: 'alert.state', check: (key, value) => checkState(database, key, value) },
    { name: 'unsubscribe.moved' },
    { name: 'removal', global: true, check: (key) => checkRemoval(database, key) },
    { name: 'oauth.signing-key', global: true },
    { name: 'oauth.client', global: true },
    { name: 'oauth.code', global: true },
    { name: 'oauth.refresh-token', global: true },
    { name: 'oauth.sandbox', global: true },
    { name: 'oauth.limit', global: true },
    { name: 'approval.mailed' },
    ...allLevels.map(({ name }) => ({ name, check: checkCounts })),
    ...formRows(database),
    ...[...siteRows(database), ...closedInvoiceRows(database)],
  ]
}

/** Returns the stored contents of a record. */
function contentsOf(kind: string, record: unknown): readonly ContentRef[] {
  if (kind === formSubmissions.name) return fileContents(record as FormSubmission)
  if (kind === siteBlobs.name) return contentsOfBlob(record as SiteBlob)
  if (kind === inspectTests.name) return mailContent(record as InspectTest)
  const isTrace = kind === traces.name || kind === earlierTraces.name
  if (isTrace && (record as Trace).outcome === 'refused') return [] // has no content
  return isTrace || kind === inboundMessages.name ? [(record as Trace | InboundMessage).content] : []
}

/** Returns the content with this id. Its id is the owner's id; files of submissions use both ids, and tests a separate id. */
async function contentOf(database: Database, organizationId: string, id: string): Promise<ContentRef | undefined> {
  const ofSite = await siteContentOf(database, organizationId, id)
  if (ofSite) return ofSite
  const stored = (await traceInAnyForm(database, { organizationId }, id)) ?? (await database.get(inboundMessages, { organizationId }, id))
  return stored?.record.content ?? (await fileContentOf(database, organizationId, id)) ?? contentOfTest(database, organizationId, id)
}

async function missing(database: Database, organizationId: string, noun: string, traceId: string): Promise<string[]> {
  const stored = await traceInAnyForm(database, { organizationId }, traceId)
  return stored ? [] : [`the ${noun} ${traceId} that it belongs to is missing`]
}

async function checkQueueEntry(database: Database, entry: QueueEntry): Promise<string[]> {
  const stored = await traceInAnyForm(database, entry, entry.traceId)
  if (!stored) return [`the trace ${entry.traceId} of a queue entry is missing`]
  if (stored.record.status !== 'queued' && !waitsForApproval(stored.record))
    return [`the trace ${entry.traceId} is queued for delivery although its status is ${stored.record.status}`]
  if (isParked(stored.record) !== isHeldPlace(entry.dueMs))
    return [
      `the trace ${entry.traceId} is ${isParked(stored.record) ? 'held, but is queued for an attempt' : 'not held, but is queued as held'}`,
    ]
  if (stored.record.projectId !== entry.projectId)
    return [`the trace ${entry.traceId} is of project ${stored.record.projectId}, but is queued for project ${entry.projectId}`]
  return []
}

const neverRemoved = 'it is deleted, but its removal is not scheduled'

async function checkDeletedProject(database: Database, organizationId: string, { id, deletedAt }: Project): Promise<string[]> {
  if (deletedAt === undefined) return []
  return (await database.kv.get(pack(projectRemovalKey(deletedAt, organizationId, id)))) ? [] : [neverRemoved]
}

async function checkDeletedOrganization(database: Database, organization: Organization): Promise<string[]> {
  const goesAt = removableFrom(organization)
  if (goesAt === undefined) return []
  return (await database.kv.get(pack(organizationRemovalKey(goesAt, organization.id)))) ? [] : [neverRemoved]
}

/** Checks that a removal concerns a deleted record, due at that time, or a record that is already removed. */
async function checkRemoval(database: Database, [, , at, organization, project]: readonly Element[]): Promise<string[]> {
  const organizationId = String(organization)
  const removed = project === undefined ? undefined : await database.get(projects, { organizationId }, String(project))
  const whole = project === undefined ? await database.get(organizations, { organizationId }, organizationId) : undefined
  if (!removed && !whole) return []
  const goesAt = whole ? removableFrom(whole.record) : removed?.record.deletedAt
  return goesAt === Number(at) ? [] : [`its target must not be removed at ${new Date(Number(at)).toISOString()}`]
}
