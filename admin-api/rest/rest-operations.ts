/** All REST operations, in the order of the OpenAPI document. */
import type { Action } from '../actions/action.ts'
import { operationsOf } from '../actions/http.ts'
import type { Operation } from '../operation/operation.ts'
import { apiKeyActions } from './access/api-keys.ts'
import { applicationActions } from './access/applications.ts'
import { accountActions } from './organization/account.ts'
import { ownAccountActions } from './organization/own-account.ts'
import type { RestCore } from './rest-core.ts'
import { auditActions } from './organization/audit-entries.ts'
import { billingEntries } from './organization/billing.ts'
import { destinationHealthActions } from './routing/destination-health.ts'
import { destinationActions } from './routing/destinations.ts'
import { diagnoseActions } from './feedback/diagnose.ts'
import { domainActions } from './routing/domains.ts'
import { failoverPolicyActions } from './routing/failover-policies.ts'
import { formActions } from './forms/forms.ts'
import { formTools } from './forms/form-tools.ts'
import { publicFormOperations } from './forms/public-forms.ts'
import { notificationActions } from './forms/notifications.ts'
import { replyActions } from './forms/replies.ts'
import { submissionActions } from './forms/submissions.ts'
import { flagActions } from './organization/flags.ts'
import { inboundRouteOperations } from './inboxes/inbound-routes.ts'
import { inboxOperations } from './inboxes/inboxes.ts'
import { inboxTools } from './inboxes/inbox-tools.ts'
import { ingestOperations } from './feedback/ingest.ts'
import { mailEnableIngestOperations } from './feedback/ingest-mailenable.ts'
import { ingestSourceActions } from './feedback/ingest-sources.ts'
import { findingActions } from './insights/findings.ts'
import { insightActions } from './insights/insights.ts'
import { inspectOperations } from './inboxes/inspect.ts'
import { invitationActions } from './organization/invitations.ts'
import { liveOperations } from './live/events.ts'
import { memberActions } from './organization/members.ts'
import { batchActions } from './sending/batches.ts'
import { messageActions } from './sending/messages.ts'
import { organizationActions } from './organization/organizations.ts'
import { partitionTools } from './organization/partition-tools.ts'
import { postofficeMappingActions } from './feedback/postoffice-mappings.ts'
import { moveActions } from './organization/moves.ts'
import { planActions } from './organization/plans.ts'
import { projectActions } from './organization/projects.ts'
import { publishableKeyActions } from './access/publishable-keys.ts'
import { providerTools } from './routing/provider-tools.ts'
import { queueActions } from './sending/queue.ts'
import { replayActions } from './sending/replays.ts'
import { routingRuleActions } from './routing/routing-rules.ts'
import { routingSimulationActions } from './routing/routing-simulation.ts'
import { scheduledSendActions } from './sending/scheduled-sends.ts'
import { sendTools } from './sending/send-tools.ts'
import { smtpCredentialActions } from './access/smtp-credentials.ts'
import { siteActions } from './sites/sites.ts'
import { deployOperations } from './sites/deploys.ts'
import { suppressionTools } from './feedback/suppression-tools.ts'
import { templateTools } from './sending/template-tools.ts'
import { templateActions } from './sending/templates.ts'
import { suppressionActions } from './feedback/suppressions.ts'
import { serviceListOperations } from './moving/moved-lists.ts'
import { serviceTemplateActions } from './moving/moved-templates.ts'
import { traceActions } from './sending/traces.ts'
import { traceMessageOperations } from './sending/trace-messages.ts'
import { trackingOperations } from './sending/tracking.ts'
import { unsubscribeActions } from './feedback/unsubscribe.ts'
import { alertChannelActions } from './feedback/alert-channels.ts'
import { webhookActions } from './feedback/webhooks.ts'
import { snsOperations } from './feedback/sns.ts'

export { flagCheck, type RestCore } from './rest-core.ts'

/** Actions, some only for agents or GraphQL, and operations that need HTTP itself: streams, downloads and pages. */
export const restTable: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  ...messageActions,
  ...batchActions,
  ...scheduledSendActions,
  ...traceActions,
  ...traceMessageOperations,
  ...sendTools,
  ...diagnoseActions,
  ...replayActions,
  ...queueActions,
  ...suppressionActions,
  ...serviceListOperations,
  ...suppressionTools,
  ...unsubscribeActions,
  ...snsOperations,
  ...trackingOperations,
  ...inspectOperations,
  ...ingestSourceActions,
  ...postofficeMappingActions,
  ...ingestOperations,
  ...mailEnableIngestOperations,
  ...destinationActions,
  ...destinationHealthActions,
  ...providerTools,
  ...routingRuleActions,
  ...routingSimulationActions,
  ...domainActions,
  ...templateActions,
  ...serviceTemplateActions,
  ...templateTools,
  ...formActions,
  ...submissionActions,
  ...replyActions,
  ...notificationActions,
  ...formTools,
  ...publicFormOperations,
  ...siteActions,
  ...deployOperations,
  ...failoverPolicyActions,
  ...projectActions,
  ...moveActions,
  ...partitionTools,
  ...accountActions,
  ...ownAccountActions,
  ...organizationActions,
  ...smtpCredentialActions,
  ...apiKeyActions,
  ...publishableKeyActions,
  ...applicationActions,
  ...memberActions,
  ...invitationActions,
  ...inboxOperations,
  ...inboxTools,
  ...webhookActions,
  ...findingActions,
  ...alertChannelActions,
  ...insightActions,
  ...liveOperations,
  ...inboundRouteOperations,
  ...billingEntries,
  ...planActions,
  ...flagActions,
  ...auditActions,
]

/** Operations under `/v1` and `/share`, and operations that links in mail open. */
export const restOperations: readonly Operation<RestCore>[] = operationsOf(restTable)
