/** The core as the REST operations see it, from the parts that the composition root has. */
import { publicUrl, type Config } from '#config/settings/load.ts'
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { Clock } from '#core/clock.ts'
import type { FailoverHealth } from '#core/delivery/attempt/failover.ts'
import type { Probes } from '#core/delivery/probe/probes.ts'
import type { Transport } from '#core/delivery/transport.ts'
import type { InspectTests } from '#core/inspect/inspect-tests.ts'
import type { People } from '#core/people/people.ts'
import type { Resolver, RecordResolver } from '#core/outbound/resolver.ts'
import type { Destinations } from '#core/routing/destinations/destinations.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import type { Accept } from '#core/submission/accept/accept.ts'
import type { DeliveryQueue } from '#core/delivery/queue/queue.ts'
import type { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import { TraceReader } from '#core/trace/story/trace-reader.ts'
import type { Engagements } from '#core/tracking/engagements.ts'
import type { Database } from '#store/database.ts'
import type { IngestCore } from '../../admin-api/rest/ingest-core.ts'
import type { RestCore } from '../../admin-api/rest/operations.ts'
import { AuditLog } from '#core/administration/audit-log.ts'
import { Audit } from '#core/writes/audit.ts'
import { Invoices } from '#core/billing/invoice.ts'
import { Operator } from '#core/billing/operator.ts'
import { Usage } from '#core/billing/usage-report.ts'
import { Diagnoses } from '#core/diagnose/diagnoses.ts'
import { SendingDomains } from '#core/domains/sending-domains.ts'
import { SuppressionImport } from '#core/feedback/suppression/suppression-import.ts'
import { Unsubscribes } from '#core/feedback/suppression/unsubscribes.ts'
import { Suppressions } from '#core/feedback/suppression/suppressions.ts'
import { FailoverPolicies } from '#core/routing/rules/failover-policies.ts'
import { RoutingRules } from '#core/routing/rules/rules.ts'
import { ConnectionTest } from '#core/submission/doors/connection-test.ts'
import { PublishableSends } from '#core/submission/doors/publishable-send.ts'
import { RefusedSends } from '#core/submission/accept/refused-sends.ts'
import { Replays } from '#core/submission/replay/replays.ts'
import { Retries } from '#core/submission/replay/retries.ts'
import { ScheduledSends } from '#core/submission/schedule/scheduled-sends.ts'
import { SendMessages } from '#core/submission/doors/send-messages.ts'
import { Simulate } from '#core/submission/simulate/simulate.ts'
import { Templates } from '#core/templates/templates.ts'
import { moveResource } from '#core/administration/move.ts'
import { restoreOrganization } from '#core/administration/restore.ts'
import type { Publishable } from './publishable-core.ts'
import type { InboxCore } from './inbox-core.ts'
import type { InboundCore } from './inbound-core.ts'
import type { WebhookCore } from './webhook-core.ts'
import type { Organizations } from '#core/administration/organizations.ts'
import type { Projects } from '#core/administration/projects.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'

export interface RestParts
  extends Omit<WebhookCore, 'webhookDispatcher'>, Omit<InboxCore, 'backgroundRead'>, Pick<InboundCore, 'inboundRoutes' | 'inboundMail'> {
  readonly config: Config
  readonly secrets: SecretBox
  readonly database: Database
  readonly clock: Clock
  readonly policies: Policies
  readonly writes: SettingWrites
  readonly apiKeys: ApiKeys
  readonly people: Pick<People, 'members' | 'invitations'>
  readonly claims: Claims
  readonly smtpCredentials: SmtpCredentials
  readonly transport: Transport
  readonly resolver: Resolver & RecordResolver
  readonly destinations: Destinations
  readonly probes: Probes
  readonly health: FailoverHealth
  readonly accept: Accept
  readonly replayRunner: ReplayRunner
  readonly queue: Pick<DeliveryQueue, 'offer'>
  readonly engagements: Engagements
  readonly ingest: IngestCore
  readonly inspectTests: InspectTests
  readonly publishable: Publishable
  readonly projects: Projects
  readonly organizations: Organizations
}

export function restCore(parts: RestParts): RestCore {
  const { config, secrets, database, clock, policies, writes, smtpCredentials, transport, replayRunner } = parts
  const { apiKeys, claims, destinations, probes, projects, organizations, engagements, ingest, inspectTests } = parts
  const { webhooks, webhookDeliveries, webhookTests, inboxes, inboxSettings, inboxNotifier, messageViews } = parts
  const audit = new Audit({ database, clock })
  const settings = { database, clock, policies, secrets, writes, audit }
  const templates = new Templates(settings)
  const usage = new Usage(settings)
  const baseUrl = publicUrl(config, config.http.listen)
  const unsubscribes = new Unsubscribes({ ...settings, baseUrl })
  const traces = new TraceReader({ ...settings, readSubject: decodeEncodedWords })
  return {
    ...{ apiKeys, claims, destinations, probes, projects, organizations, engagements, ingest, inspectTests },
    ...{ webhooks, webhookDeliveries, webhookTests, inboxes, inboxSettings, inboxNotifier, messageViews },
    members: parts.people.members,
    invitations: parts.people.invitations,
    smtpCredentials,
    connectionTest: new ConnectionTest({ policies, credentials: smtpCredentials, secrets, clock, transport, health: parts.health }),
    routingRules: new RoutingRules(settings),
    simulate: new Simulate({
      ...settings,
      health: parts.health,
      maxRecipients: config.submission.maxRecipients,
      maxMessageBytes: config.submission.maxMessageBytes,
    }),
    sendingDomains: new SendingDomains({
      ...settings,
      resolver: parts.resolver,
      publishing: { spfMechanisms: config.outbound.spf, bounceDomain: config.inboundDomain, mxHost: config.smtpHost },
    }),
    failoverPolicies: new FailoverPolicies(settings),
    refusedSends: new RefusedSends({ ...settings, accept: parts.accept, keys: parts.publishable.keys }),
    move: (principal, request) => moveResource({ ...parts, templates }, principal, request),
    ...{ inboundRoutes: parts.inboundRoutes, inboundMail: parts.inboundMail },
    replays: new Replays({ ...settings, onJob: (organizationId, id) => replayRunner.wake(organizationId, id) }),
    retries: new Retries({ ...settings, queued: (entry) => parts.queue.offer(entry, undefined, false) }),
    scheduledSends: new ScheduledSends(settings),
    traces,
    diagnoses: new Diagnoses({
      ...settings,
      traces,
      resolver: parts.resolver,
      records: parts.resolver,
      waiting: (organizationId, trace) => parts.probes.waiting(organizationId, trace),
    }),
    templates,
    ...sending(parts, new SendMessages({ ...settings, templates, unsubscribes, accept: parts.accept, health: parts.health })),
    suppressions: new Suppressions(settings),
    suppressionImport: new SuppressionImport(settings),
    unsubscribes,
    usage,
    invoices: new Invoices({ database, usage, vatBasisPoints: config.billing.vatBasisPoints }),
    auditLog: new AuditLog(settings),
    operator: new Operator(settings),
    restoreOrganization: (id) => restoreOrganization(settings, id),
    policies,
    clock,
    baseUrl,
    maxSendBodyBytes: config.http.maxBodyBytes,
    maxReportBytes: config.mx.maxMessageBytes,
  }
}

/** Sends as they come from programs, and from web pages. */
function sending(parts: RestParts, sendMessages: SendMessages): Pick<RestCore, 'sendMessages' | 'publishable'> {
  const { keys, snippets, captcha } = parts.publishable
  return { sendMessages, publishable: { keys, snippets, sends: new PublishableSends({ ...parts, ...captcha, keys, sendMessages }) } }
}
