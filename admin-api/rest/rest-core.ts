/** The core that REST operations receive: services, and facts of the configuration. */
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { Feature } from '#config/plans/features.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import type { AuditLog } from '#core/administration/audit-log.ts'
import type { BillingProfiles } from '#core/billing/billing-profiles.ts'
import type { Closing } from '#core/billing/closing/closing.ts'
import type { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import type { Credits } from '#core/billing/credits/credits.ts'
import type { Invoices } from '#core/billing/invoice.ts'
import type { Operator } from '#core/billing/operator.ts'
import type { Usage } from '#core/billing/usage-report.ts'
import type { InboxSettings } from '#core/capture/inboxes/inbox-settings.ts'
import type { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { MessageViews } from '#core/capture/reading/message-views.ts'
import type { TraceMessages } from '#core/capture/reading/trace-messages.ts'
import type { Notifier } from '#core/capture/notify/notifier.ts'
import type { OrganizationApplications } from '#core/consent/organization-applications.ts'
import type { ChangeStreams } from '#core/live/change-stream.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { Clock } from '#core/clock.ts'
import { requireFlag } from '#core/plan/features.ts'
import type { Diagnoses } from '#core/diagnose/diagnoses.ts'
import type { QueueActs } from '#core/delivery/acts/queue-acts.ts'
import type { QueueHolds } from '#core/delivery/acts/queue-holds.ts'
import type { Probes } from '#core/delivery/probe/probes.ts'
import type { Promotions } from '#core/promotion/promotions.ts'
import type { SendingDomains } from '#core/domains/sending-domains.ts'
import type { SuppressionImport } from '#core/feedback/suppression/suppression-import.ts'
import type { ListImport } from '#core/moving/list-import.ts'
import type { TemplateImport } from '#core/moving/template-import.ts'
import type { Suppressions } from '#core/feedback/suppression/suppressions.ts'
import type { Unsubscribes } from '#core/feedback/suppression/unsubscribes.ts'
import type { InboundMail } from '#core/inbound-routes/inbound-mail.ts'
import type { InboundRoutes } from '#core/inbound-routes/inbound-routes.ts'
import type { InboundRouteTests } from '#core/inbound-routes/route-test.ts'
import type { Insights } from '#core/insights/insights.ts'
import type { InspectTests } from '#core/inspect/inspect-tests.ts'
import type { Invitations } from '#core/people/members/invitations.ts'
import type { MailChoices } from '#core/people/mail-choices.ts'
import type { People } from '#core/people/people.ts'
import type { Members } from '#core/people/members/members.ts'
import type { PublishableKeys } from '#core/publishable/publishable-keys.ts'
import type { Snippets } from '#core/publishable/snippets.ts'
import type { Destinations } from '#core/routing/destinations/destinations.ts'
import type { PresetChoices } from '#core/routing/destinations/preset-choices.ts'
import type { FailoverPolicies } from '#core/routing/rules/failover-policies.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { RoutingRules } from '#core/routing/rules/rules.ts'
import type { ConnectionTest } from '#core/submission/doors/connection-test.ts'
import type { PublishableSends } from '#core/submission/doors/publishable-send.ts'
import type { SendApprovals } from '#core/submission/approval/send-approvals.ts'
import type { RefusedSends } from '#core/submission/accept/refused-sends.ts'
import type { Releases } from '#core/submission/replay/releases.ts'
import type { Replays } from '#core/submission/replay/replays.ts'
import type { Retries } from '#core/submission/replay/retries.ts'
import type { ScheduledSends } from '#core/submission/schedule/scheduled-sends.ts'
import type { BulkReports } from '#core/submission/doors/bulk-reports.ts'
import type { SendBatches } from '#core/submission/doors/send-batches.ts'
import type { SendMessages } from '#core/submission/doors/send-messages.ts'
import type { ResourceHealth } from '#core/health/resource-health.ts'
import type { Findings } from '#core/findings/findings.ts'
import type { Simulate } from '#core/submission/simulate/simulate.ts'
import type { WhatIf } from '#core/submission/simulate/what-if.ts'
import type { Templates } from '#core/templates/templates.ts'
import type { MoveRequest, MoveWarnings } from '#core/administration/move.ts'
import type { Organizations } from '#core/administration/organizations.ts'
import type { Projects } from '#core/administration/projects.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import type { TraceReader } from '#core/trace/timeline/trace-reader.ts'
import type { Engagements } from '#core/tracking/engagements.ts'
import type { FormCore } from './forms/form-core.ts'
import type { SiteCore } from './sites/site-core.ts'
import type { IngestCore } from './ingest-core.ts'
import type { AlertChannels } from '#core/alerts/channels/channels.ts'
import type { Confirmations } from '#core/alerts/channels/confirmations.ts'
import type { ChannelTests } from '#core/alerts/channels/channel-tests.ts'
import type { Deliveries } from '#core/webhooks/sending/deliveries.ts'
import type { TestDeliveries } from '#core/webhooks/endpoints/test-delivery.ts'
import type { Webhooks } from '#core/webhooks/endpoints/webhooks.ts'

/** Publishable keys, and the services that use them. */
export interface PublishableCore {
  readonly keys: PublishableKeys
  readonly sends: PublishableSends
  readonly snippets: Snippets
}

/** Credits, and final invoices. */
export interface BillingCore {
  readonly credits: Credits
  readonly closing: Closing
  readonly register: InvoiceRegister
  readonly profiles: BillingProfiles
}

export interface RestCore {
  readonly apiKeys: ApiKeys
  readonly applications: OrganizationApplications
  readonly mailChoices: MailChoices
  /** The account of a signed-in person. */
  readonly people: Pick<People, 'accounts' | 'passkeys' | 'sessions'>
  readonly members: Members
  readonly invitations: Invitations
  readonly changeStreams: ChangeStreams
  readonly claims: Claims
  readonly findings: Findings
  readonly health: ResourceHealth
  readonly smtpCredentials: SmtpCredentials
  readonly connectionTest: ConnectionTest
  readonly destinations: Destinations
  readonly presetChoices: PresetChoices
  readonly probes: Probes
  readonly promotions: Promotions
  readonly routingRules: RoutingRules
  readonly refusedSends: RefusedSends
  readonly simulate: Simulate
  readonly whatIf: WhatIf
  readonly sendingDomains: SendingDomains
  readonly failoverPolicies: FailoverPolicies
  readonly projects: Projects
  readonly organizations: Organizations
  readonly publishable: PublishableCore
  /** Moves a resource to another project. */
  readonly move: (principal: Principal, request: MoveRequest) => Promise<MoveWarnings>
  readonly templates: Templates
  readonly forms: FormCore
  readonly sites: SiteCore
  readonly sendMessages: SendMessages
  readonly sendBatches: SendBatches
  readonly bulkReports: BulkReports
  readonly replays: Replays
  readonly queueActs: QueueActs
  readonly queueHolds: QueueHolds
  readonly retries: Retries
  readonly releases: Releases
  readonly scheduledSends: ScheduledSends
  readonly sendApprovals: SendApprovals
  readonly traces: TraceReader
  readonly diagnoses: Diagnoses
  readonly suppressions: Suppressions
  readonly suppressionImport: SuppressionImport
  readonly listImport: ListImport
  readonly templateImport: TemplateImport
  readonly unsubscribes: Unsubscribes
  readonly engagements: Engagements
  readonly ingest: IngestCore
  readonly insights: Insights
  readonly inspectTests: InspectTests
  readonly inboxes: Inboxes
  readonly inboxSettings: InboxSettings
  readonly inboxNotifier: Notifier
  readonly traceMessages: TraceMessages
  readonly messageViews: MessageViews
  readonly inboundRoutes: InboundRoutes
  readonly inboundTests: InboundRouteTests
  readonly inboundMail: InboundMail
  readonly alertChannels: AlertChannels
  readonly channelTests: ChannelTests
  readonly alertConfirmations: Confirmations
  readonly webhooks: Webhooks
  readonly webhookDeliveries: Deliveries
  readonly webhookTests: TestDeliveries
  readonly usage: Usage
  readonly billing: BillingCore
  readonly invoices: Invoices
  readonly auditLog: AuditLog
  readonly operator: Operator
  readonly restoreOrganization: (id: string) => Promise<Organization>
  readonly policies: Policies
  readonly clock: Clock
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string
  /** Largest body of a send, in bytes. */
  readonly maxSendBodyBytes: number
  /** Maximum size of a report mail in bytes, equal to the limit of the MX listener. */
  readonly maxReportBytes: number
}

/** Returns the check of flags before an operation, for `AdminApi`. */
export const flagCheck =
  (policies: Policies) =>
  async ({ organizationId }: Principal, feature: Feature): Promise<void> =>
    requireFlag((await policies.of(organizationId)).organization, feature)
