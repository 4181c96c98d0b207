/** Every REST operation, in the order in which the OpenAPI document shows them. */
import type { Action } from '../actions/action.ts'
import type { Credentials } from '../credentials.ts'
import { operationsOf } from '../actions/http.ts'
import type { Operation } from '../operation.ts'
import { apiKeyActions } from './api-keys.ts'
import { accountActions } from './account.ts'
import type { RestCore } from './core.ts'
import { auditActions } from './audit.ts'
import { billingEntries } from './billing.ts'
import { destinationHealthActions } from './destination-health.ts'
import { destinationActions } from './destinations.ts'
import { diagnoseActions } from './diagnose.ts'
import { domainActions } from './domains.ts'
import { failoverPolicyActions } from './failover-policies.ts'
import { flagActions } from './flags.ts'
import { inboundRouteOperations } from './inbound-routes.ts'
import { inboxOperations } from './inboxes.ts'
import { ingestOperations } from './ingest.ts'
import { mailEnableIngestOperations } from './ingest-mailenable.ts'
import { ingestSourceActions } from './ingest-sources.ts'
import { inspectOperations } from './inspect.ts'
import { invitationActions } from './invitations.ts'
import { memberActions } from './members.ts'
import { messageActions } from './messages.ts'
import { organizationActions } from './organizations.ts'
import { postofficeMappingActions } from './postoffice-mappings.ts'
import { projectActions } from './projects.ts'
import { publishableKeyActions } from './publishable-keys.ts'
import { replayActions } from './replays.ts'
import { routingRuleActions } from './routing-rules.ts'
import { routingSimulationActions } from './routing-simulation.ts'
import { scheduledSendActions } from './scheduled-sends.ts'
import { smtpCredentialActions } from './smtp-credentials.ts'
import { templateActions } from './templates.ts'
import { suppressionActions } from './suppressions.ts'
import { traceActions } from './traces.ts'
import { trackingOperations } from './tracking.ts'
import { unsubscribeActions } from './unsubscribe.ts'
import { webhookActions } from './webhooks.ts'

export { flagCheck, type RestCore } from './core.ts'

/** The table that the HTTP side serves under `/v1` and `/share`, and behind links in mail; `credentials` as `operationsOf` takes them. */
export const restOperations = (core: RestCore, credentials?: Credentials): readonly Operation[] =>
  operationsOf(restTable(core), credentials)

/** Actions, and operations that need HTTP as it is: streams, downloads and pages. */
const restTable = (core: RestCore): readonly (Action | Operation)[] => [
  ...messageActions(core),
  ...scheduledSendActions(core),
  ...traceActions(core),
  ...diagnoseActions(core),
  ...replayActions(core),
  ...suppressionActions(core),
  ...unsubscribeActions(core),
  ...trackingOperations(core),
  ...inspectOperations(core),
  ...ingestSourceActions(core),
  ...postofficeMappingActions(core),
  ...ingestOperations(core),
  ...mailEnableIngestOperations(core),
  ...destinationActions(core),
  ...destinationHealthActions(core),
  ...routingRuleActions(core),
  ...routingSimulationActions(core),
  ...domainActions(core),
  ...templateActions(core),
  ...failoverPolicyActions(core),
  ...projectActions(core),
  ...accountActions(core),
  ...organizationActions(core),
  ...smtpCredentialActions(core),
  ...apiKeyActions(core),
  ...publishableKeyActions(core),
  ...memberActions(core),
  ...invitationActions(core),
  ...inboxOperations(core),
  ...webhookActions(core),
  ...inboundRouteOperations(core),
  ...billingEntries(core),
  ...flagActions(core),
  ...auditActions(core),
]
