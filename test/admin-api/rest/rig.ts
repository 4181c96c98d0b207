/** The REST side over a real socket with a real store in a folder of its own; only time, DNS and providers are played. */
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { apiKeys, hashApiKey, previewApiKey } from '#core/access/api-key.ts'
import { ApiKeys, newApiKey } from '#core/access/api-keys.ts'
import type { Right } from '#core/access/scope.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import { restoreOrganization } from '#core/administration/restore.ts'
import type { Removals } from '#core/administration/removals.ts'
import { bootstrap } from '#core/bootstrap.ts'
import { Audit } from '#core/audit.ts'
import { Invoices } from '#core/billing/invoice.ts'
import { Operator } from '#core/billing/operator.ts'
import { Usage } from '#core/billing/usage.ts'
import { Claims, type ClaimOptions } from '#core/claims/claims.ts'
import { CaptureBell } from '#core/capture/bell.ts'
import { inboxes } from '#core/capture/capture.ts'
import { HealthBoard } from '#core/delivery/health-board.ts'
import { Probes } from '#core/delivery/probes.ts'
import type { Transport } from '#core/delivery/transport.ts'
import { SendingDomains } from '#core/domains/sending-domains.ts'
import { SuppressionImport } from '#core/feedback/suppression-import.ts'
import { Suppressions } from '#core/feedback/suppressions.ts'
import { Unsubscribes } from '#core/feedback/unsubscribes.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { RecordResolver } from '#core/outbound/resolver.ts'
import { InspectTests } from '#core/inspect/inspect-tests.ts'
import { Destinations } from '#core/routing/destinations.ts'
import { FailoverPolicies } from '#core/routing/failover-policies.ts'
import { members } from '#core/people/member.ts'
import { people, type People } from '#core/people/people.ts'
import type { Role } from '#core/access/role.ts'
import { addUser } from '#core/people/user.ts'
import type { AccessTokens } from '#core/oauth/access-tokens.ts'
import { grantStands } from '#core/oauth/grant.ts'
import { Sandboxes } from '#core/oauth/sandboxes.ts'
import { Policies } from '#core/routing/policy.ts'
import { RoutingRules } from '#core/routing/rules.ts'
import { SettingWrites } from '#core/setting-writes.ts'
import { Accept } from '#core/submission/accept.ts'
import { ConnectionTest } from '#core/submission/connection-test.ts'
import { Replays } from '#core/submission/replays.ts'
import { Retries } from '#core/submission/retries.ts'
import { ScheduledSends } from '#core/submission/scheduled-sends.ts'
import { Simulate } from '#core/submission/simulate.ts'
import { Templates } from '#core/templates/templates.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { TraceReader } from '#core/trace/read.ts'
import { Engagements } from '#core/tracking/engagements.ts'
import { Tracking } from '#core/tracking/tracking.ts'
import type { PlanName } from '#config/plans.ts'
import { WorkerMessageReader } from '#ingest/message-reader.ts'
import { WorkerMessageRewriter } from '#ingest/message-rewriter.ts'
import type { Dispatcher } from '#core/webhooks/dispatcher.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { Kv } from '#store/kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { bearerAuthentication, operatorAuthentication } from '../../../admin-api/authentication.ts'
import type { Operation } from '../../../admin-api/operation.ts'
import { claimOperations } from '../../../admin-api/pages/claims.ts'
import { pageOperations } from '../../../admin-api/pages/operations.ts'
import { revealOperations } from '../../../admin-api/pages/reveal.ts'
import { operatorOperations } from '../../../admin-api/operator/operations.ts'
import { flagCheck, restOperations } from '../../../admin-api/rest/operations.ts'
import { administration } from '../../../daemon/administration.ts'
import type { InboxCore } from '../../../daemon/inbox-core.ts'
import { ingestCore } from '../../../daemon/ingest-core.ts'
import { webhookCore, type WebhookParts } from '../../../daemon/webhook-core.ts'
import { AdminApi, type AdminApiOptions } from '../../../admin-api/server.ts'
import { authority } from '../../protocols/relay/certificates.ts'
import { ManualClock } from '../../protocols/relay/manual-clock.ts'
import { RestClient, type RestAnswer } from '../../support/rest.ts'
import { temporaryFolder } from '../../support/workspace.ts'
import { playedResolver, PlayedRecords, PlayedTransport } from './played.ts'
import { sendingOf, type VerifyUrls } from './publishable.ts'
import { inboundOf, inboxesOf, moving, readers } from './readers.ts'
const secrets = new SecretBox(Buffer.alloc(32, 7))

export const baseUrl = 'https://post.example.ch'
export const operatorKey = `svcop_${'o'.repeat(43)}`
export const adminKey = `svckey_${'a'.repeat(43)}`

export interface Rig {
  readonly folder: string
  readonly database: Database
  readonly clock: ManualClock
  readonly transport: PlayedTransport
  /** How destinations are; the rig delivers nothing, so a test tells it. */
  readonly board: HealthBoard
  readonly records: PlayedRecords
  readonly organizationId: string
  readonly bell: CaptureBell
  /** Not woken by captures: a test that wants bodies read and others told does that. */
  readonly inboxCore: Pick<InboxCore, 'backgroundRead' | 'inboxNotifier'>
  readonly engagements: Engagements
  /** Not started: a test that wants deliveries does that. */
  readonly webhookDispatcher: Dispatcher
  /** What removes the rows of what was deleted. */
  readonly removals: Removals
  readonly people: People
  readonly claims: Claims
  readonly accessTokens: AccessTokens
  /** Listening address of the HTTP side. */
  readonly address: string
  readonly failures: unknown[]
  /** Every operation that is served. */
  readonly operations: readonly Operation[]
  /** The operator of the service. */
  readonly operator: RestClient
  /** The administrator of the first organization. */
  readonly rest: RestClient
  /** A client with another key, closed with the test. */
  client(key: string): RestClient
  /** Another organization with a project and an administrator's key. */
  addOrganization(plan?: PlanName): Promise<{ readonly organizationId: string; readonly projectId: string; readonly rest: RestClient }>
  /** A client with a new key of the first organization. */
  withKey(scopes: readonly Right[], projectId?: string): Promise<RestClient>
  /** Another project of the first organization. */
  addProject(changes?: { readonly monthlyCaptureCap?: number }): Promise<string>
  /** A member of the first organization; answers the user's id. */
  addMember(email: string, role: Role): Promise<string>
  /** Closes the store, so that its files hold everything. */
  closeStore(): Promise<void>
}

export interface RigOptions {
  readonly plan?: PlanName
  readonly bounceDomain?: null
  readonly hasOperator?: boolean
  /** Stands between the core and the store. */
  readonly kv?: (kv: Kv) => Kv
  /** Time and limits of the HTTP side. */
  readonly server?: Pick<AdminApiOptions, 'monotonic' | 'limits'>
  /** Where tokens of captchas are verified; nowhere unless told. */
  readonly captcha?: VerifyUrls
  /** What the HTTP side serves besides, and who may call it. */
  readonly besides?: (parts: {
    readonly database: Database
    readonly clock: ManualClock
    readonly apiKeys: ApiKeys
    readonly removals: Removals
    readonly people: People
  }) => Pick<AdminApiOptions, 'operations' | 'authenticate' | 'protectedResource'>
}

export async function startRig(t: ExecutionContext, options: RigOptions = {}): Promise<Rig> {
  const folder = await temporaryFolder('rest')
  const kv = await LevelKv.open(join(folder.path, 'store'))
  const database = new Database(options.kv?.(kv) ?? kv)
  const clock = new ManualClock()
  const { organizationId } = await bootstrap({ database, clock, secrets, adminKey, plan: options.plan ?? 'enterprise' })
  const transport = new PlayedTransport()
  const bell = new CaptureBell()
  const reader = new WorkerMessageReader(clock)
  const records = new PlayedRecords()
  const { bounceDomain = 'in.example.ch' } = options
  const rewriter = new WorkerMessageRewriter(clock)
  const board = new HealthBoard({ clock, random: () => 0.5, listener: { breakerChanged() {} }, onUsed() {} })
  const core = assemble(database, clock, transport, board, bell, reader, rewriter, records, bounceDomain, options.captcha)
  const failures: unknown[] = []
  const besides = options.besides?.({ database, clock, apiKeys: core.apiKeys, removals: core.removals, people: core.people })
  const forOperator = options.hasOperator === false ? [] : operatorOperations(core)
  const operations = [
    ...restOperations(core),
    ...forOperator,
    ...pageOperations(core),
    ...claimOperations(core),
    ...revealOperations({ reveals: core.publishable.reveals, origin: baseUrl }),
    ...(besides?.operations ?? []),
  ]
  const api = new AdminApi({
    listen: { host: '127.0.0.1', port: 0 },
    baseUrl,
    version: '1.2.3',
    authenticateOperator: options.hasOperator === false ? undefined : operatorAuthentication(operatorKey),
    requireFlag: flagCheck(core.policies),
    authenticate: bearerAuthentication((key) => core.apiKeys.authenticate(key)),
    ...besides,
    ...options.server,
    operations,
    trustProxy: ['127.0.0.1'],
    admission: { check() {} },
    events: { answered() {}, failed: (error) => failures.push(error), connectionDropped() {} },
    health: { ready: () => [] },
    metrics: { contentType: 'text/plain', render: async () => '' },
    checkAnswers: true,
  })
  const { host, port } = await api.listen()
  const address = `${host}:${port}`
  const clients: RestClient[] = []
  const client = (key: string): RestClient => {
    const made = new RestClient(address, key)
    clients.push(made)
    return made
  }
  t.teardown(async () => {
    for (const one of clients) one[Symbol.dispose]()
    await api.close(0)
    await core.removals.stop()
    await core.webhookDispatcher.stop(0)
    await core.backgroundRead.stop()
    await core.inboxNotifier.stop()
    await reader[Symbol.asyncDispose]()
    await rewriter[Symbol.asyncDispose]()
    await core.engagements.settled()
    await kv[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
    if (failures.length > 0) throw new AggregateError(failures, 'the service failed inside')
  })
  const [rest, operator] = [client(adminKey), client(operatorKey)]
  return {
    ...{ removals: core.removals, operations },
    ...{ folder: folder.path, database, clock, transport, board, records, organizationId, bell, address, failures, rest, client, operator },
    ...{ inboxCore: core, engagements: core.engagements, webhookDispatcher: core.webhookDispatcher },
    people: core.people,
    claims: core.claims,
    accessTokens: core.publishable.accessTokens,
    async addOrganization(plan = 'enterprise') {
      const made = await addOrganization(database, clock, plan)
      return { ...made, rest: client(made.key) }
    },
    async withKey(scopes, projectId) {
      const minted = await rest.must('POST', '/v1/api-keys', { name: 'test', scopes, ...(projectId && { project_id: projectId }) })
      return client(String(minted['key']))
    },
    addProject: (changes) => addProject(database, clock, organizationId, changes),
    addMember: (email, role) => addMember(database, clock, organizationId, email, role),
    closeStore: () => kv[Symbol.asyncDispose](),
  }
}

const loopbackGuard = addressGuard([{ cidr: '127.0.0.1/32' }])
const noAttempts = { breakOff: async () => {} }

const rethrow = (error: unknown): never => {
  throw error
}

function assemble(
  database: Database,
  clock: ManualClock,
  transport: Transport,
  board: HealthBoard,
  bell: CaptureBell,
  reader: WorkerMessageReader,
  rewriter: WorkerMessageRewriter,
  records: RecordResolver,
  bounceDomain: string | null,
  captcha: VerifyUrls | undefined,
) {
  const policies = new Policies(database)
  const audit = new Audit({ database, clock })
  const writes = new SettingWrites(database, audit)
  const settings = { database, writes, policies, secrets, clock, audit }
  const base = { ...settings, ...webhooksOf(settings), ...inboxesOf(settings, reader, bell, baseUrl) }
  const smtpCredentials = new SmtpCredentials({ ...base, bounceDomain })
  const usage = new Usage(base)
  const limits = { recipientsMax: 120, messageBytesMax: 1024 * 1024 }
  const templates = new Templates(base)
  const unsubscribes = new Unsubscribes({ ...base, baseUrl })
  const accept = new Accept({
    ...base,
    tracking: new Tracking({ secrets, rewriter, publicUrl: baseUrl }),
    listener: { accepted() {}, queued() {}, captured: (capture) => bell.ring(capture) },
    ...{ ...limits, bounceDomain, health: board },
  })
  const destinations = new Destinations({ ...base, guard: loopbackGuard, resolver: playedResolver, connectionsUnlessTold: 10 })
  const probes = new Probes({
    ...base,
    ...{ destinations, board, transport },
    current: async (id, destinationId) => (await policies.of(id)).destinations.get(destinationId),
    random: () => 0.5,
    onError: rethrow,
  })
  const house = people({ ...base, accept, baseUrl, signUp: 'invited', systemMail: { destination: null, from: null }, onError: rethrow })
  const made = administration({ database, policies, clock, writes, accept, attempts: noAttempts, onError: rethrow })
  const inbound = inboundOf({ ...base, reader, onError: rethrow }, bounceDomain, baseUrl)
  return {
    ...{ ...base, ...made, ...inbound },
    ...{ people: house, members: house.members, invitations: house.invitations, claims: claimsOf(base, house) },
    ...{ destinations, probes, smtpCredentials, baseUrl, sendBodyBytesMax: 3 * 1024 * 1024, reportBytesMax: 8 * 1024 * 1024 },
    apiKeys: new ApiKeys({ ...base, rightsOfMember: house.members.rightsOf, grantStands: grantStands(database) }),
    connectionTest: new ConnectionTest({ ...base, credentials: smtpCredentials, transport, health: board }),
    simulate: new Simulate({ ...base, ...limits, health: board }),
    sendingDomains: new SendingDomains({
      ...base,
      resolver: records,
      publishing: { spfMechanisms: ['ip4:192.0.2.7'], bounceDomain, mxHost: 'post.example.ch' },
    }),
    ...{ routingRules: new RoutingRules(base), failoverPolicies: new FailoverPolicies(base) },
    ...moving({ ...base, ...inbound, destinations, smtpCredentials, templates }),
    replays: new Replays({ ...base, traces: new TraceReader(database), onJob: () => {} }),
    ...{ retries: new Retries({ ...base, queued() {} }), scheduledSends: new ScheduledSends({ database, policies, clock }) },
    ...readers(base, probes, records),
    ...{ templates, unsubscribes, usage, inspectTests: new InspectTests({ ...base, domain: bounceDomain, onReceived() {} }) },
    ...sendingOf({ ...base, templates, unsubscribes, accept, health: board }, captcha),
    suppressions: new Suppressions(base),
    suppressionImport: new SuppressionImport(base),
    engagements: new Engagements({ database, secrets, clock, admission: { check() {} }, onError: rethrow }),
    ingest: ingestCore({ ...base, guard: loopbackGuard, resolver: playedResolver, onError: rethrow }),
    invoices: new Invoices({ database, usage, vatBasisPoints: 810 }),
    operator: new Operator(base),
    restoreOrganization: (id: string) => restoreOrganization(base, id),
  }
}

const webhooksOf = (base: Pick<WebhookParts, 'database' | 'writes' | 'policies' | 'secrets' | 'clock'>) =>
  webhookCore({ ...base, resolver: playedResolver, allowed: [{ cidr: '127.0.0.1/32' }], trusted: [authority], onError: rethrow })

const claimsOf = (base: Omit<ClaimOptions, 'people' | 'sandboxes'>, house: People): Claims =>
  new Claims({ ...base, people: house, sandboxes: new Sandboxes({ ...base, onDeleted() {} }) })

async function addOrganization(database: Database, clock: ManualClock, plan: PlanName) {
  const now = clock.now()
  const organizationId = newId('org', now + 1)
  const projectId = newId('prj', now)
  const key = newApiKey()
  const change = new Change()
    .insert(organizations, organizationId, { id: organizationId, name: 'Other', plan, defaultProjectId: projectId, createdAt: now })
    .insert(apiKeys, organizationId, {
      id: newId('key', now),
      name: 'admin',
      sha256: hashApiKey(key),
      preview: previewApiKey(key),
      scopes: ['api:admin'],
      projectId: null,
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
    })
  insertProject(change, organizationId, projectId, now)
  await database.commit(change)
  return { organizationId, projectId, key }
}

async function addProject(
  database: Database,
  clock: ManualClock,
  organizationId: string,
  changes: { readonly monthlyCaptureCap?: number } = {},
): Promise<string> {
  const projectId = newId('prj', clock.now())
  await database.commit(insertProject(new Change(), organizationId, projectId, clock.now(), changes))
  return projectId
}

async function addMember(database: Database, clock: ManualClock, organizationId: string, email: string, role: Role): Promise<string> {
  const change = new Change()
  const { id } = addUser(change, email, clock.now())
  await database.commit(change.insert(members, organizationId, { id, organizationId, role, joinedAt: clock.now() }))
  return id
}

const insertProject = (change: Change, organizationId: string, projectId: string, now: number, changes = {}): Change =>
  change
    .insert(projects, organizationId, {
      id: projectId,
      name: 'Other',
      status: 'claimed',
      isDefault: false,
      noRoutePolicy: 'capture',
      sendBudget: null,
      monthlyCaptureCap: null,
      createdAt: now,
      ...changes,
    })
    .insert(inboxes, organizationId, { id: newId('inb', now), projectId, addressPattern: '*', name: 'Catch-all', createdAt: now })

export interface Envelope {
  readonly code: string
  readonly message: string
  readonly next_action: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** The envelope of a refusal. */
export const errorOf = ({ body }: RestAnswer): Envelope => (body as { error: Envelope }).error

/** Status, code and message of a refusal. */
export function refusal(answer: RestAnswer): readonly [number, string, string] {
  const { code, message } = errorOf(answer)
  return [answer.status, code, message]
}

/** The JSON object of an answer. */
export const objectOf = ({ body }: RestAnswer): Record<string, unknown> => body as Record<string, unknown>

/** What a destination on loopback is made with. */
export const loopback = { provider: 'smtp', credentials: { host: '127.0.0.1', port: 2600, security: 'none' } } as const

/** A live or sandbox destination; answers its id. */
export async function addDestination(rest: RestClient, changes: Readonly<Record<string, unknown>> = {}, live = false): Promise<string> {
  const { id } = await rest.must('POST', '/v1/destinations', { name: 'Host', ...loopback, ...changes })
  if (live) await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  return String(id)
}
