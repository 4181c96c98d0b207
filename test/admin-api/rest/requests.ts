/**
 * For every operation of the HTTP side a request that its owner may make, with the owner's ids in it wherever it takes any.
 * An operation without one fails `isolation.test.ts`, so that nobody forgets it.
 */
import { createHmac } from 'node:crypto'
import { inboxes } from '#core/capture/capture.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { traceToken } from '#core/trace/trace-token.ts'
import { clickToken } from '#core/tracking/click-token.ts'
import { openPurpose } from '#core/tracking/tracking.ts'
import { linkToken } from '#core/inbound-routes/links.ts'
import { Change } from '#store/change.ts'
import { newId } from '#store/ids.ts'
import { addInboundMail } from './inbound-mail.ts'
import { makeForPages } from './publishable.ts'
import { addDestination, loopback, type Rig } from './rig.ts'
import { addOptOut, addReport, announceTo } from './stored-rows.ts'

interface MadeSource {
  readonly id: string
  readonly secret: string
}

/** Ids of one of everything that belongs to the first organization. */
export type Made = Awaited<ReturnType<typeof makeOneOfEach>>

/**
 * What somebody else gets who makes the request. `refused`: 404, or 400 where an id in the body is wrong. `own`: no id is in it,
 * so it is about the asker's own things. `silent`: a deletion that does not tell whether anything was there.
 */
type Outcome = 'refused' | 'own' | 'silent'

export interface Request {
  readonly params?: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query?: string
  readonly body?: unknown
  /** Beyond the key. */
  readonly headers?: Readonly<Record<string, string>>
  readonly stranger: Outcome
  /** Somebody of the same organization with a key of another project; like a stranger unless told. `shared`: it is everybody's there. */
  readonly neighbour?: Outcome | 'forbidden' | 'shared'
}

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
const hour = 3_600_000

export async function makeOneOfEach({ rest, database, organizationId, clock, addMember }: Rig) {
  const idOf = async (path: string, body: object): Promise<string> => String((await rest.must('POST', path, body))['id'])
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const target = await idOf('/v1/projects', { name: 'Target' })
  const partition = await idOf('/v1/projects', { name: 'Partition', parent_id: target })
  const team = await idOf('/v1/organizations', { name: 'Team' })
  const destination = await addDestination(rest, {}, true)
  const spare = await addDestination(rest)
  const loose = await addDestination(rest)
  const rule = await idOf('/v1/routing/rules', { match: 'b.ch', destination_id: destination })
  await rest.must('POST', '/v1/failover/policy', { primary_id: spare, fallback_ids: [destination], conditions: { on: ['transient'] } })
  const credential = await idOf('/v1/smtp-credentials', { default_destination_id: destination })
  const template = await idOf('/v1/templates', { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Welcome', text_tmpl: 'Hello' })
  const key = await idOf('/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  const sent = async (fields: object) => String((await rest.must('POST', '/v1/messages', { ...plain, ...fields }))['trace_id'])
  const trace = await sent({ attachments: [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain' }] })
  const scheduled = await sent({ destination_id: destination, send_at: new Date(clock.now() + hour).toISOString() })
  const relayed = await sent({ destination_id: destination })
  const replay = String((await rest.must('POST', '/v1/replays', { filter: {} }))['job_id'])
  const [inbox] = (await rest.must('GET', `/v1/inboxes?project=${project}`))['data'] as { id: string }[]
  const [message] = (await rest.must('GET', `/v1/inboxes/${inbox?.id ?? ''}/messages`))['data'] as { id: string }[]
  const domain = await idOf('/v1/domains', { domain: 'sender.example.ch' })
  const member = await addMember('member@example.ch', 'viewer')
  const invitation = await idOf('/v1/invitations', { email: 'invited@example.ch', role: 'viewer' })
  const webhook = await idOf('/v1/webhooks', { name: 'Shop', target_url: 'https://hooks.example.ch/' })
  const attempt = await announceTo(database, organizationId, webhook)
  const inboundRoute = await idOf('/v1/inbound-routes', { local_part_pattern: 'sales', webhook_url: 'https://hooks.example.ch/' })
  const inboundMessage = await addInboundMail(database, organizationId, inboundRoute, project)
  const report = await addReport(database, organizationId, trace, project)
  const suppression = await idOf('/v1/suppressions', { email: 'gone@example.ch' })
  const optOut = await addOptOut(database, organizationId, project)
  const sourceOf = async (provider: string): Promise<MadeSource> => {
    const { id, hmac_secret: secret } = await rest.must('POST', '/v1/ingest-sources', { provider })
    return { id: String(id), secret: String(secret) }
  }
  const stalwart = await sourceOf('stalwart')
  const mailEnable = await sourceOf('mailenable')
  const mapping = await idOf('/v1/mailenable/postoffice-mappings', { bounce_source_config_id: mailEnable.id, postoffice_name: 'A' })
  const pattern = newId('inb', clock.now())
  const record = { id: pattern, projectId: project, addressPattern: '@seen.ch', name: 'Seen', createdAt: clock.now() }
  await database.commit(new Change().insert(inboxes, organizationId, record))
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  const token = traceToken(secrets, 'unsubscribe.v1', trace)
  const pixel = traceToken(secrets, openPurpose, trace)
  const inboundLink = linkToken(secrets, { organizationId, messageId: inboundMessage, part: 'raw', expiresAt: clock.now() + hour })
  const click = clickToken(secrets, { traceId: trace, link: 0, target: 'https://shop.example.ch/' })
  return {
    ...{ organizationId, project, target, partition, team, destination, spare, loose, rule, credential, template, key },
    ...{ trace, scheduled, relayed },
    ...(await makeForPages(rest)),
    ...{
      replay,
      inbox: inbox?.id ?? '',
      message: message?.id ?? '',
      domain,
      ...(await makeInspectTest(rest)),
      webhook,
      attempt,
      ...{ inboundRoute, inboundMessage, inboundLink },
      ...{ suppression, optOut, report },
      stalwart: stalwart.id,
      stalwartSecret: stalwart.secret,
      ...{ mailEnable: mailEnable.id, mailEnableSecret: mailEnable.secret },
      mapping,
      pattern,
      token,
      click,
      pixel,
      member,
      invitation,
    },
  }
}

/** Its id, and the last part of its public link. */
async function makeInspectTest(rest: Rig['rest']): Promise<{ readonly inspect: string; readonly inspectLink: string }> {
  const { id, report_url: link } = await rest.must('POST', '/v1/inspect/tests', {})
  return { inspect: String(id), inspectLink: String(link).slice(-26) }
}

/** By operation id. Those that end things come last, in an order in which the owner can make all of them. */
export const requestsOf = (made: Made): Readonly<Record<string, Request>> => ({
  ...reading(made),
  ...readingOne(made),
  ...public_(made),
  ...making(made),
  ...makingForPages(made),
  ...changing(made),
  ...operators(made),
  ...ending(made),
})

const refused = { stranger: 'refused' } as const
const own = { stranger: 'own' } as const

const reading = ({ project, target, mailEnable }: Made): Record<string, Request> => ({
  listDestinations: { ...refused, query: `project=${project}` },
  listDestinationPresets: own,
  listDestinationProviders: own,
  listRoutingRules: { ...refused, query: `project=${project}` },
  listFailoverPolicies: { ...refused, query: `project=${project}` },
  listSmtpCredentials: { ...refused, query: `project=${project}` },
  listTemplates: { ...refused, query: `project=${project}` },
  listTraces: { ...refused, query: `project=${project}` },
  diagnoseMissing: { ...own, query: 'recipient=ada@example.ch' },
  listScheduledSends: { ...refused, query: `project=${project}` },
  listInspectTests: { ...refused, query: `project=${project}` },
  listInboxes: { ...refused, query: `project=${project}` },
  listPublishableKeys: { ...refused, query: `project=${project}` },
  lookUpInbox: { ...refused, query: `address=*&project=${project}` },
  listApiKeys: { ...refused, query: `project=${project}` },
  listReplays: { ...refused, query: `project=${project}` },
  listAuditEntries: { ...refused, query: `project=${project}` },
  listProjects: { ...refused, query: `parent_id=${target}` },
  listSuppressions: { ...refused, query: `project_id=${project}` },
  listUnsubscribes: { ...refused, query: `project=${project}` },
  exportSuppressions: { ...refused, query: `project_id=${project}` },
  listIngestSources: { ...own, neighbour: 'shared' },
  listPostofficeMappings: { ...refused, query: `bounce_source_config_id=${mailEnable}`, neighbour: 'shared' },
  listWebhooks: { ...refused, query: `project=${project}` },
  listAllWebhookAttempts: { ...refused, query: `project=${project}` },
  listInboundRoutes: { ...refused, query: `project=${project}` },
  listDomains: { ...own, neighbour: 'shared' },
  listOrganizations: { ...own, neighbour: 'shared' },
  listMembers: { ...own, neighbour: 'shared' },
  listInvitations: { ...own, neighbour: 'forbidden' },
  listFlags: own,
  getUsage: { ...own, neighbour: 'shared' },
  previewInvoice: { ...own, neighbour: 'shared' },
  getMyProject: own,
})

const readingOne = (made: Made): Record<string, Request> => {
  const message = { id: made.inbox, message_id: made.message }
  const inbound = { id: made.inboundRoute, message_id: made.inboundMessage }
  return {
    getDestination: { ...refused, params: { id: made.destination } },
    getDestinationHealth: { ...refused, params: { id: made.destination } },
    getRoutingRule: { ...refused, params: { id: made.rule } },
    getDomain: { ...refused, params: { id: made.domain }, neighbour: 'shared' },
    getDomainRecords: { ...refused, params: { id: made.domain }, query: `destination_id=${made.destination}` },
    getPublishableKey: { ...refused, params: { id: made.publishable } },
    getSmtpCredential: { ...refused, params: { id: made.credential } },
    getTemplate: { ...refused, params: { id: made.template } },
    listTemplateVersions: { ...refused, params: { id: made.template } },
    getTemplateVersion: { ...refused, params: { id: made.template, version: '1' } },
    getReportMail: { ...refused, params: { trace_id: made.trace, report_id: made.report } },
    getTrace: { ...refused, params: { trace_id: made.trace } },
    diagnoseBounce: { ...own, query: `message_id=${made.trace}` },
    getApiKey: { ...refused, params: { id: made.key } },
    getReplay: { ...refused, params: { job_id: made.replay } },
    getInspectTest: { ...refused, params: { id: made.inspect } },
    getSuppression: { ...refused, params: { id: made.suppression }, neighbour: 'shared' },
    getIngestSource: { ...refused, params: { id: made.stalwart }, neighbour: 'shared' },
    getPostofficeMapping: { ...refused, params: { id: made.mapping }, neighbour: 'shared' },
    getWebhook: { ...refused, params: { id: made.webhook } },
    listWebhookAttempts: { ...refused, params: { id: made.webhook } },
    getWebhookAttempt: { ...refused, params: { id: made.attempt } },
    getInboundRoute: { ...refused, params: { id: made.inboundRoute } },
    listInboundMessages: { ...refused, params: { id: made.inboundRoute } },
    getInboundMessage: { ...refused, params: inbound },
    getRawInboundMessage: { ...refused, params: inbound },
    getInboundAttachment: { ...refused, params: { ...inbound, index: '0' } },
    getInbox: { ...refused, params: { id: made.inbox } },
    listInboxMessages: { ...refused, params: { id: made.inbox } },
    getInboxMessage: { ...refused, params: message },
    getRawInboxMessage: { ...refused, params: message },
    getInboxAttachment: { ...refused, params: { ...message, index: '0' } },
    waitForInboxMessage: { ...refused, params: { id: made.inbox }, query: 'timeout=0&since=2000-01-01T00:00:00Z' },
    getProject: { ...refused, params: { id: made.partition } },
    getOrganization: { ...refused, params: { id: made.organizationId }, neighbour: 'shared' },
  }
}

/** Whoever has the link may follow it. */
const public_ = (made: Made): Record<string, Request> => ({ ...links(made), ...signedRequests(made) })

const links = ({ trace, token, click, pixel, inspectLink, inboundLink }: Made): Record<string, Request> => ({
  showInspectReport: { ...own, params: { token: inspectLink, inboundLink } },
  getSharedTrace: { ...own, params: { trace_id: trace } },
  showUnsubscribe: { ...own, params: { token } },
  unsubscribe: { ...own, params: { token } },
  followLink: { ...own, params: { token: click } },
  showPixel: { ...own, params: { token: pixel } },
  followInboundLink: { ...own, params: { token: inboundLink } },
})

/** A signature stands in place of a key. */
function signedRequests(made: Made): Record<string, Request> {
  const stalwart = { id: made.stalwart, secret: made.stalwartSecret }
  const mailEnable = { id: made.mailEnable, secret: made.mailEnableSecret }
  const signed = ({ id, secret }: MadeSource, body: unknown, query = ''): Request => {
    const signature = createHmac('sha256', secret).update(JSON.stringify(body)).digest('hex')
    return { ...own, body, query: `${query}source_id=${id}`, headers: { 'x-service-signature': `sha256=${signature}` } }
  }
  return {
    ingestStalwart: signed(stalwart, { events: [] }),
    ingestReportMail: signed(stalwart, 'Subject: hello'),
    ingestLogs: signed(stalwart, { message: 'nothing' }, 'source=stalwart&'),
    ingestMailEnable: signed(mailEnable, { version: 1, events: [] }),
    checkMailEnable: signed(mailEnable, { version: 1, nonce: 'x' }),
    ingestActivityLog: signed(mailEnable, { version: 1, time_zone: 'UTC', lines: [] }, 'source=mailenable&'),
  }
}

const makingForPages = ({ project, reveal }: Made): Record<string, Request> => ({
  createPublishableKey: {
    ...refused,
    body: { allowed_origins: ['https://a.ch'], allowed_to: ['@a.ch'], locked_from: 'a@a.ch', project_id: project },
  },
  createHtmlSnippet: { ...refused, body: { reveal_url: reveal, to_address: 'ada@example.ch', from_address: 'form@example.ch' } },
})

const making = (made: Made): Record<string, Request> => {
  const project_id = made.project
  return {
    createDestination: { ...refused, body: { name: 'x', ...loopback, project_id } },
    createRoutingRule: { ...refused, body: { match: 'c.ch', destination_id: made.destination } },
    setFailoverPolicy: {
      ...refused,
      body: { primary_id: made.loose, fallback_ids: [made.destination], conditions: { on: ['transient'] } },
    },
    simulateRouting: { ...refused, body: { from: 'shop@b.ch', to: 'ada@example.ch', project_id } },
    createSmtpCredential: { ...refused, body: { project_id } },
    createTemplate: { ...refused, body: { slug: 'other', name: 'Other', subject_tmpl: 'x', project_id } },
    createInbox: { ...refused, body: { address_pattern: '@other.ch', project_id } },
    createWebhook: { ...refused, body: { name: 'x', target_url: 'https://hooks.example.ch/', project_id } },
    createInboundRoute: { ...refused, body: { local_part_pattern: 'x', webhook_url: 'https://hooks.example.ch/', project_id } },
    createApiKey: { ...refused, body: { name: 'x', scopes: ['api:read'], project_id } },
    createInspectTest: { ...refused, body: { project_id } },
    sendMessage: { ...refused, body: { ...plain, project_id } },
    startReplay: { ...refused, body: { filter: { project_id } } },
    createSuppression: { ...refused, body: { email: 'bea@example.ch', project_id } },
    importSuppressions: { ...own, body: { rows: [{ email: 'cem@example.ch' }] } },
    createProject: { ...refused, body: { name: 'x', parent_id: made.target } },
    createOrganization: { ...own, body: { name: 'x' }, neighbour: 'forbidden' },
    createInvitation: { ...own, body: { email: 'other@example.ch', role: 'viewer' }, neighbour: 'forbidden' },
    claimAccount: { ...own, body: { email: 'other@example.ch' } },
    createIngestSource: { ...own, body: { provider: 'arf' }, neighbour: 'forbidden' },
    createPostofficeMapping: {
      ...{ ...refused, neighbour: 'forbidden' },
      body: { bounce_source_config_id: made.mailEnable, postoffice_name: 'Customer-B' },
    },
    createDomain: { ...own, body: { domain: 'other.example.ch' }, neighbour: 'forbidden' },
  }
}

const changing = (made: Made): Record<string, Request> => {
  const destination = { ...refused, params: { id: made.loose } }
  const domain = { ...refused, params: { id: made.domain } }
  const credential = { ...refused, params: { id: made.credential } }
  const template = { ...refused, params: { id: made.template } }
  return {
    testDestination: destination,
    updateDestination: { ...destination, body: { name: 'Mine' } },
    updateDestinationMode: { ...destination, body: { mode: 'live' } },
    promoteDestinationToLive: { ...refused, params: { id: made.spare } },
    updateRoutingRule: { ...refused, params: { id: made.rule }, body: { priority: 1 } },
    verifyDomain: { ...domain, neighbour: 'shared' },
    rotateDomainDkim: { ...domain, neighbour: 'forbidden' },
    updateSmtpCredential: { ...credential, body: { label: 'Mine' } },
    rotateSmtpCredential: credential,
    testSmtpCredentialConnection: credential,
    previewTemplate: { ...template, body: {} },
    saveTemplate: { ...template, body: { subject_tmpl: 'Mine' } },
    moveTemplate: { ...template, body: { project_id: made.target } },
    updateInbox: { ...refused, params: { id: made.pattern }, body: { project_id: made.target } },
    clearInbox: { ...refused, params: { id: made.inbox } },
    updateWebhook: { ...refused, params: { id: made.webhook }, body: { name: 'Mine' } },
    rotateWebhookSecret: { ...refused, params: { id: made.webhook } },
    redeliverWebhookAttempt: { ...refused, params: { id: made.attempt } },
    updateInboundRoute: { ...refused, params: { id: made.inboundRoute }, body: { webhook_url: 'https://mine.example.ch/' } },
    rotateInboundRouteSecret: { ...refused, params: { id: made.inboundRoute } },
    testWebhook: { ...refused, params: { id: made.webhook } },
    rotatePublishableKey: { ...refused, params: { id: made.publishable } },
    rotateApiKey: { ...refused, params: { id: made.key } },
    updateApiKey: { ...refused, params: { id: made.key }, body: { name: 'Mine' } },
    retryTrace: { ...refused, params: { trace_id: made.relayed } },
    stopReplay: { ...refused, params: { job_id: made.replay } },
    updateSuppression: { ...refused, params: { id: made.suppression }, body: { reason: 'Mine' }, neighbour: 'shared' },
    updateMember: { ...refused, params: { id: made.member }, body: { role: 'developer' }, neighbour: 'forbidden' },
    updatePostofficeMapping: { ...refused, params: { id: made.mapping }, body: { project_id: made.target }, neighbour: 'forbidden' },
    setNoRoutePolicy: { ...own, body: { value: 'reject' } },
    updateProject: { ...refused, params: { id: made.partition }, body: { name: 'Mine' } },
    updateOrganization: { ...refused, params: { id: made.team }, body: { name: 'Mine' }, neighbour: 'forbidden' },
  }
}

/** No key of a tenant opens these. */
const operators = ({ team }: Made): Record<string, Request> => {
  const one = { ...refused, params: { id: team } }
  return {
    operatorListFailedLogins: refused,
    operatorListOrganizations: refused,
    operatorGetOrganization: one,
    operatorGetUsage: one,
    operatorPreviewInvoice: one,
    operatorExportInvoices: refused,
    operatorSetPlan: { ...one, body: { plan: 'pro' } },
    operatorSetOverrides: { ...one, body: { templates: 5 } },
    operatorSetFlags: { ...one, body: { templates: false } },
    operatorSetPrices: { ...one, body: { prices: [{ axis: 'captures', unit_price_urp: 1 }] } },
    operatorSetPaymentState: { ...one, body: { payment_state: 'manual_ok' } },
    operatorRestoreOrganization: one,
  }
}

const ending = (made: Made): Record<string, Request> => ({
  cancelScheduledSend: { ...refused, params: { trace_id: made.scheduled } },
  deleteRoutingRule: { ...refused, params: { id: made.rule } },
  deleteFailoverPolicy: { ...refused, params: { primary_id: made.spare } },
  revokeSmtpCredential: { stranger: 'silent', params: { id: made.credential } },
  deleteInbox: { stranger: 'silent', params: { id: made.pattern } },
  deleteWebhook: { stranger: 'silent', params: { id: made.webhook } },
  deleteInboundRoute: { stranger: 'silent', params: { id: made.inboundRoute } },
  deleteTemplate: { ...refused, params: { id: made.template } },
  revokePublishableKey: { ...refused, params: { id: made.publishable } },
  revokeApiKey: { ...refused, params: { id: made.key } },
  deleteDestination: { ...refused, params: { id: made.spare } },
  deleteDomain: { ...refused, params: { id: made.domain }, neighbour: 'forbidden' },
  deleteSuppression: { stranger: 'silent', params: { id: made.suppression }, neighbour: 'shared' },
  deleteUnsubscribe: { stranger: 'silent', params: { id: made.optOut } },
  deletePostofficeMapping: { stranger: 'silent', params: { id: made.mapping }, neighbour: 'forbidden' },
  revokeIngestSource: { stranger: 'silent', params: { id: made.stalwart }, neighbour: 'forbidden' },
  deleteMember: { ...refused, params: { id: made.member }, neighbour: 'forbidden' },
  revokeInvitation: { ...refused, params: { id: made.invitation }, neighbour: 'forbidden' },
  deleteProject: { ...refused, params: { id: made.partition } },
  deleteOrganization: { ...refused, params: { id: made.team }, neighbour: 'forbidden' },
})
