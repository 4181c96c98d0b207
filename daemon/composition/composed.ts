/** Types of the composed parts of a daemon. */
import type { BillingProfiles } from '#core/billing/billing-profiles.ts'
import type { Closing } from '#core/billing/closing/closing.ts'
import type { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import type { Credits } from '#core/billing/credits/credits.ts'
import type { Invoices } from '#core/billing/invoice.ts'
import type { KeyUses } from '#core/access/keys/key-uses.ts'
import type { Organizations } from '#core/administration/organizations.ts'
import type { Projects } from '#core/administration/projects.ts'
import type { InboundMail } from '#core/inbound-routes/inbound-mail.ts'
import type { InboundRoutes } from '#core/inbound-routes/inbound-routes.ts'
import type { InboundRouteTests } from '#core/inbound-routes/route-test.ts'
import type { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import type { Preparation } from '#core/inbound-routes/preparation.ts'
import type { Capture } from '#core/capture/capture.ts'
import type { InboxSettings } from '#core/capture/inboxes/inbox-settings.ts'
import type { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { Notifier } from '#core/capture/notify/notifier.ts'
import type { Readings } from '#core/capture/reading/readings.ts'
import type { BackgroundRead } from '#core/capture/reading/background-read.ts'
import type { MessageViews } from '#core/capture/reading/message-views.ts'
import type { TraceMessages } from '#core/capture/reading/trace-messages.ts'
import type { Feedback } from '#core/feedback/intake/feedback.ts'
import type { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import type { ReportReader } from '#ingest/report/report-reader.ts'
import type { IngestCore } from '../../admin-api/rest/ingest-core.ts'
import type { InspectTests } from '#core/inspect/inspect-tests.ts'
import type { InspectScoring } from '#core/inspect/scoring.ts'
import type { AccessTokens } from '#core/oauth/tokens/access-tokens.ts'
import type { Authorizations } from '#core/oauth/endpoints/authorizations.ts'
import type { Clients } from '#core/oauth/clients/clients.ts'
import type { Grants } from '#core/oauth/grants/grants.ts'
import type { Sandboxes } from '#core/oauth/endpoints/sandboxes.ts'
import type { TokenCheck } from '#core/oauth/tokens/token-check.ts'
import type { ProtectedResource } from '../../admin-api/credentials/challenge.ts'
import type { OAuthCore } from '../../admin-api/oauth/oauth-operations.ts'
import type { OperatorCore } from '../../admin-api/operator/operator-operations.ts'
import type { DialectCore } from '../../admin-api/vendors/dialect-operations.ts'
import type { Captchas } from '#core/visitors/captcha.ts'
import type { PublishableKeys } from '#core/publishable/publishable-keys.ts'
import type { Reveals } from '#core/publishable/reveals.ts'
import type { Snippets } from '#core/publishable/snippets.ts'
import type { AlertChannels } from '#core/alerts/channels/channels.ts'
import type { ChannelTests } from '#core/alerts/channels/channel-tests.ts'
import type { Confirmations } from '#core/alerts/channels/confirmations.ts'
import type { Deliveries } from '#core/webhooks/sending/deliveries.ts'
import type { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import type { TestDeliveries } from '#core/webhooks/endpoints/test-delivery.ts'
import type { Webhooks } from '#core/webhooks/endpoints/webhooks.ts'
import type { SiteCore } from '../../admin-api/rest/sites/site-core.ts'
import type { SiteServer } from '../../admin-api/sites/site-server.ts'
import type { SiteTraffic } from '#core/sites/metering/site-traffic.ts'
import type { TimedRounds } from '#core/work-loop.ts'
import type { Poller } from '../../protocols/imap-dsn/poller.ts'
import type { MessageSpans } from '../observability/tracing/message-spans.ts'
import type { SpanExport } from '../observability/tracing/span-export.ts'
import type { MxServer } from '../../protocols/mx/mx-server.ts'

/** Parts that every HTTP operation receives. */
export type HttpCore = OperatorCore & DialectCore

export interface Administration {
  readonly projects: Projects
  readonly organizations: Organizations
  readonly removals: TimedRounds
}

export interface InboundCore {
  readonly inboundRoutes: InboundRoutes
  readonly inboundTests: InboundRouteTests
  readonly inboundMail: InboundMail
  readonly routeIntake: RouteIntake
  readonly preparation: Preparation
}

export interface InboxCore {
  readonly inboxes: Inboxes
  readonly inboxSettings: InboxSettings
  readonly inboxNotifier: Notifier
  readonly traceMessages: TraceMessages
  readonly messageViews: MessageViews
  readonly backgroundRead: BackgroundRead
  readonly readings: Readings
  /** Called when a capture is durable. Notifies waiting clients and starts reading the body. */
  readonly onCaptured: (capture: Capture) => void
}

export interface Ingest extends IngestCore {
  readonly feedback: Feedback
  /** Retries reports that arrived before their trace. The caller starts and stops it. */
  readonly pendingReports: PendingReports
  /** The caller closes it. */
  readonly reports: ReportReader
}

export interface Inspect {
  readonly inspectTests: InspectTests
  /** The caller starts and stops it. */
  readonly inspectScoring: InspectScoring
}

/** The authorization server, and its parts that other modules need. */
export interface OAuthServer extends OAuthCore {
  /** Resource metadata for REST callers without a valid token. */
  readonly restResource: ProtectedResource
  /** Resource metadata for agents without a valid token. */
  readonly agentResource: ProtectedResource
  readonly clients: Clients
  readonly tokenCheck: TokenCheck
  readonly accessTokens: AccessTokens
  readonly sandboxes: Sandboxes
  readonly grants: Grants
  /** Last use of grants. */
  readonly uses: KeyUses
  readonly authorizations: Authorizations
}

export interface Publishable {
  readonly keys: PublishableKeys
  readonly reveals: Reveals
  readonly snippets: Snippets
  readonly captchas: Captchas
}

export interface AlertParts {
  readonly alertChannels: AlertChannels
  readonly channelTests: ChannelTests
  readonly alertConfirmations: Confirmations
}

export interface WebhookCore {
  readonly webhooks: Webhooks
  readonly webhookDeliveries: Deliveries
  readonly webhookTests: TestDeliveries
  readonly webhookDispatcher: Dispatcher
}

export interface BillingParts {
  readonly credits: Credits
  readonly invoices: Invoices
  readonly closing: Closing
  readonly register: InvoiceRegister
  readonly profiles: BillingProfiles
  readonly upkeep: TimedRounds
}

export interface SiteParts {
  readonly core: SiteCore
  readonly traffic: SiteTraffic
  readonly upkeep: TimedRounds
  /** Undefined if this daemon serves no websites. */
  readonly recheck: TimedRounds | undefined
  /** Undefined if this daemon serves no websites. */
  readonly server: SiteServer | undefined
}

export interface SpanCore {
  readonly messages: MessageSpans
  /** The caller stops it. */
  readonly spanExport: SpanExport
}

export interface MailDoors {
  readonly mx: MxServer
  readonly poller: Poller
  readonly inspect: Inspect
}
