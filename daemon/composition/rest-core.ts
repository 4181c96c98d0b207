/** Composes the core for the REST operations. */
import { pagesUrl, publicUrl } from '#config/settings/load.ts'
import { TraceReader } from '#core/trace/timeline/trace-reader.ts'
import type { Core } from '#core/core.ts'
import type { RestCore } from '../../admin-api/rest/rest-operations.ts'
import { OrganizationApplications } from '#core/consent/organization-applications.ts'
import { AuditLog } from '#core/administration/audit-log.ts'
import { Operator } from '#core/billing/operator.ts'
import { Usage } from '#core/billing/usage-report.ts'
import { Diagnoses } from '#core/diagnose/diagnoses.ts'
import { Promotions } from '#core/promotion/promotions.ts'
import { SuppressionImport } from '#core/feedback/suppression/suppression-import.ts'
import { ListImport } from '#core/moving/list-import.ts'
import { TemplateImport } from '#core/moving/template-import.ts'
import { Unsubscribes } from '#core/feedback/suppression/unsubscribes.ts'
import { Suppressions } from '#core/feedback/suppression/suppressions.ts'
import { FormWebhookTests } from '#core/forms/notifications/webhook-test.ts'
import { followDecision } from '#core/forms/replies/reply-sent.ts'
import { Replies } from '#core/forms/replies/replies.ts'
import { FailoverPolicies } from '#core/routing/rules/failover-policies.ts'
import { PresetChoices } from '#core/routing/destinations/preset-choices.ts'
import { RoutingRules } from '#core/routing/rules/rules.ts'
import { SendApprovals } from '#core/submission/approval/send-approvals.ts'
import { ConnectionTest } from '#core/submission/doors/connection-test.ts'
import { PublishableSends } from '#core/submission/doors/publishable-send.ts'
import { RefusedSends } from '#core/submission/accept/refused-sends.ts'
import { Releases } from '#core/submission/replay/releases.ts'
import { QueueActs } from '#core/delivery/acts/queue-acts.ts'
import { QueueHolds } from '#core/delivery/acts/queue-holds.ts'
import { Replays } from '#core/submission/replay/replays.ts'
import { Retries } from '#core/submission/replay/retries.ts'
import { ScheduledSends } from '#core/submission/schedule/scheduled-sends.ts'
import { BulkReports } from '#core/submission/doors/bulk-reports.ts'
import { SendBatches } from '#core/submission/doors/send-batches.ts'
import { SendMessages } from '#core/submission/doors/send-messages.ts'
import { ResourceHealth } from '#core/health/resource-health.ts'
import { Findings } from '#core/findings/findings.ts'
import { Simulate } from '#core/submission/simulate/simulate.ts'
import { WhatIf } from '#core/submission/simulate/what-if.ts'
import { Templates } from '#core/templates/templates.ts'
import { moveResource, type MoveOptions } from '#core/administration/move.ts'
import { wholeOrganization } from '#core/insights/levels.ts'
import { restoreOrganization } from '#core/administration/restore.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { applicationsOf } from './oauth-core.ts'
import { alertsSwitched } from './layers/alerts.ts'
import { authorSettings, broke, type Composition } from './parts.ts'
import { workNames } from './works/work-names.ts'

export function restCore(composition: Composition): RestCore {
  const { get, config } = composition
  const core = get('core')
  const { policies, clock } = core
  const health = get('healthRegistry')
  const probes = get('probes')
  const accept = get('accept')
  const resolver = get('resolver')
  const { members, invitations } = get('people')
  const { keys, snippets, captchas } = get('publishable')
  const { maxRecipients, maxMessageBytes } = config.submission
  const baseUrl = publicUrl(config, config.http.listen)
  const moved = movables(composition)
  const unsubscribes = new Unsubscribes({ ...core, baseUrl })
  const usage = new Usage(core)
  const traces = new TraceReader({ ...core, readSubject: decodeEncodedWords })
  const simulate = new Simulate({ ...core, health, maxRecipients, maxMessageBytes })
  const { inspectTests } = get('mailDoors').inspect
  const sendingDomains = get('sendingDomains')
  const sending = { ...core, accept, lateCounts: get('lateCounts') }
  const sendMessages = new SendMessages({ ...sending, templates: moved.templates, unsubscribes, health, ...authorSettings(config) })
  const sendApprovals = sendApprovalsOf(composition)
  const refusedSends = new RefusedSends({ ...core, accept, keys })
  return {
    ...moved,
    ...{ members, invitations, probes, policies, clock, baseUrl, unsubscribes, usage, traces, sendMessages },
    forms: formsOf(composition, new Replies({ ...core, templates: moved.templates, sendMessages, sendApprovals })),
    ...get('administration'),
    ...{ ...get('webhooks'), ...get('alerts') },
    ...get('inboxes'),
    ...{ ...get('inbound'), sites: get('sites').core },
    apiKeys: get('apiKeys'),
    changeStreams: get('changeStreams'),
    applications: new OrganizationApplications({ ...core, applications: applicationsOf(get), uses: get('oauth').uses }),
    ...{ claims: get('claims'), findings: new Findings(core), health: new ResourceHealth(core) },
    ...{ people: get('people'), mailChoices: get('people').mailChoices },
    engagements: get('engagements'),
    insights: get('insights'),
    ingest: get('ingest'),
    inspectTests,
    connectionTest: new ConnectionTest({ ...core, credentials: moved.smtpCredentials, transport: get('transport'), health }),
    ...{ presetChoices: new PresetChoices({ clock, resolver, guard: get('guard') }), routingRules: new RoutingRules(core) },
    simulate,
    whatIf: new WhatIf({ ...core, health, simulate }),
    sendingDomains,
    promotions: new Promotions({ ...core, destinations: moved.destinations, probes, sendingDomains, simulate, inspectTests, sendMessages }),
    failoverPolicies: new FailoverPolicies(core),
    ...{ refusedSends, bulkReports: new BulkReports(core) },
    sendBatches: new SendBatches({ accept, sendMessages, refusedSends, onError: broke(composition, 'a message of a batch') }),
    publishable: { keys, snippets, sends: new PublishableSends({ ...sending, captchas, keys, sendMessages }) },
    move: (principal, request) => moveResource(moved, principal, request),
    ...jobsOf(composition),
    retries: new Retries({ ...core, queued: (entry) => get('queue').offer(entry, undefined, false) }),
    releases: new Releases({ ...core, accept, unsubscribes, inboxes: get('inboxes').inboxes }),
    scheduledSends: new ScheduledSends({ ...core, queued: (entry) => get('queue').offer(entry, undefined, false) }),
    sendApprovals,
    diagnoses: new Diagnoses({
      ...{ ...core, traces, resolver, records: resolver },
      waiting: (organizationId, trace) => probes.waiting(organizationId, trace),
    }),
    suppressions: new Suppressions(core),
    ...importsOf(core, moved.templates),
    ...{ billing: get('billing'), auditLog: new AuditLog(core) },
    invoices: get('billing').invoices,
    operator: operatorOf(composition),
    restoreOrganization: (id) => restoreOrganization({ ...core, ...alertsSwitched(composition), onRestored: looksAgain(composition) }, id),
    maxSendBodyBytes: config.http.maxBodyBytes,
    maxReportBytes: config.mx.maxMessageBytes,
  }
}

/** Looks at the organization and all its projects. */
const looksAgain =
  ({ get }: Composition) =>
  async (organizationId: string): Promise<void> => {
    const { projects } = await get('core').policies.of(organizationId)
    for (const id of [wholeOrganization, ...projects.keys()]) get('watch').note(organizationId, id)
  }

const operatorOf = ({ get }: Composition): Operator =>
  new Operator({
    ...{ ...get('core'), ...alertsSwitched({ get }) },
    onChanged: (organizationId) => get('watch').note(organizationId, wholeOrganization),
  })

/** Returns the jobs that people start and that run in the background. */
const jobsOf = ({ get }: Composition): Pick<RestCore, 'replays' | 'queueActs' | 'queueHolds'> => {
  const { daemons } = get('database')
  const queueActs = new QueueActs({
    ...get('core'),
    onAct: (organizationId, id) => daemons.wake(workNames.queueActs, () => get('actRunner').wake(organizationId, id)),
  })
  return {
    replays: new Replays({
      ...get('core'),
      onJob: (organizationId, id) => daemons.wake(workNames.replays, () => get('replayRunner').wake(organizationId, id)),
    }),
    ...{ queueActs, queueHolds: new QueueHolds({ ...get('core'), acts: queueActs }) },
  }
}

const importsOf = (core: Core, templates: Templates): Pick<RestCore, 'suppressionImport' | 'listImport' | 'templateImport'> => ({
  ...{ suppressionImport: new SuppressionImport(core), listImport: new ListImport(core) },
  templateImport: new TemplateImport(core, templates),
})

const formsOf = ({ get }: Composition, replies: Replies): RestCore['forms'] => ({
  ...get('forms'),
  replies,
  webhookTests: new FormWebhookTests({ ...get('core'), tests: get('webhooks').webhookTests }),
})

const sendApprovalsOf = ({ get, config }: Composition): SendApprovals =>
  new SendApprovals({
    ...get('core'),
    readings: get('inboxes').readings,
    origin: pagesUrl(config, config.http.listen),
    queued: (entry) => get('queue').offer(entry, undefined, false),
    followDecision,
  })

/** Returns the resources that can move to another project. */
const movables = ({ get }: Composition): MoveOptions => ({
  destinations: get('destinations'),
  smtpCredentials: get('credentials'),
  templates: new Templates(get('core')),
  formMoves: get('forms').forms,
  siteMoves: get('sites').core.sites,
  policies: get('core').policies,
  webhooks: get('webhooks').webhooks,
  inboxSettings: get('inboxes').inboxSettings,
  inboundRoutes: get('inbound').inboundRoutes,
})
