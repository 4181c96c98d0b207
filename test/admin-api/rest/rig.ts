/** The REST side of a daemon in this process; only time, DNS and providers are played. */
import type { ExecutionContext } from 'ava'
import { apiKeys, hashApiKey, previewApiKey } from '#core/access/keys/api-key.ts'
import { newApiKey } from '#core/access/keys/api-keys.ts'
import type { Role } from '#core/access/scope/role.ts'
import type { Right } from '#core/access/scope/scope.ts'
import type { Removals } from '#core/administration/removals.ts'
import type { CaptureBell } from '#core/capture/notify/bell.ts'
import { inboxes } from '#core/capture/capture.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { HealthBoard } from '#core/delivery/health/health-board.ts'
import type { AccessTokens } from '#core/oauth/tokens/access-tokens.ts'
import { members } from '#core/people/members/member.ts'
import type { People } from '#core/people/people.ts'
import { addUser } from '#core/people/users/user.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import type { Engagements } from '#core/tracking/engagements.ts'
import type { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import type { PlanName } from '#config/plans.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { Operation } from '../../../admin-api/operation.ts'
import { T, type Daemon, type Replacements } from '../../../daemon/composition/parts.ts'
import { authority } from '../../protocols/relay/certificates.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import type { CuttableKv } from '../../support/cuttable-kv.ts'
import { RestClient, type RestAnswer } from '../../support/rest.ts'
import { adminKey, startDaemon, type StartedDaemon } from '../../support/start-daemon.ts'
import { PlayedNames, PlayedTransport } from './played.ts'
import type { VerifyUrls } from './publishable.ts'

export { adminKey }

export const baseUrl = 'https://post.example.ch'
export const operatorKey = `svcop_${'o'.repeat(43)}`

export interface Rig {
  readonly folder: string
  /** What is not listed here. */
  readonly daemon: StartedDaemon
  readonly database: Database
  readonly kv: CuttableKv
  readonly clock: FakeClock
  readonly transport: PlayedTransport
  /** How destinations are; nothing that is sent arrives, so a test tells it. */
  readonly board: HealthBoard
  readonly records: PlayedNames
  readonly organizationId: string
  readonly bell: CaptureBell
  readonly inboxCore: Daemon['inboxes']
  readonly engagements: Engagements
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
  /** Time and limits of the HTTP side. */
  readonly server?: Pick<NonNullable<Replacements['http']>, 'monotonic' | 'limits'>
  /** Where tokens of captchas are verified; nowhere unless told. */
  readonly captcha?: VerifyUrls
  /** More that is replaced. */
  readonly replacements?: Pick<Replacements, 'fetch' | 'servesMcp' | 'operations'>
}

const settings = {
  POSTERN_BASE_URL: baseUrl,
  POSTERN_SMTP_HOST: 'post.example.ch',
  POSTERN_TRUST_PROXY: '127.0.0.1',
  POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
  POSTERN_SPF_MECHANISMS: 'ip4:192.0.2.7',
  POSTERN_SUBMISSION_MAX_RECIPIENTS: '120',
  POSTERN_SUBMISSION_MAX_MESSAGE_BYTES: '1048576',
  POSTERN_HTTP_MAX_BODY_BYTES: '3145728',
  POSTERN_MX_MAX_MESSAGE_BYTES: '8388608',
  POSTERN_VAT_BASIS_POINTS: '810',
}

const env = ({ plan, bounceDomain, hasOperator, captcha }: RigOptions): Record<string, string> => ({
  ...settings,
  ...(plan && { POSTERN_PLAN: plan }),
  ...(bounceDomain !== null && { POSTERN_INBOUND_DOMAIN: 'in.example.ch' }),
  ...(hasOperator !== false && { POSTERN_OPERATOR_KEY: operatorKey }),
  // nobody listens there
  POSTERN_TURNSTILE_VERIFY_URL: captcha?.turnstileVerifyUrl ?? 'http://127.0.0.1:9/',
  POSTERN_HCAPTCHA_VERIFY_URL: captcha?.hcaptchaVerifyUrl ?? 'http://127.0.0.1:9/',
})

export async function startRig(t: Pick<ExecutionContext, 'teardown'>, options: RigOptions = {}): Promise<Rig> {
  const [clock, transport, records] = [new FakeClock(Date.UTC(2030, 0, 1)), new PlayedTransport(), new PlayedNames()]
  const daemon = await startDaemon(t, {
    env: env(options),
    replacements: {
      ...{ clock, transport, resolver: records, trusted: [authority], random: () => 0.5 },
      http: { ...options.server, checkAnswers: true },
      ...options.replacements,
    },
  })
  t.teardown(() => transport.release())
  const { database, organizationId, part, rest, client } = daemon
  return {
    ...{ daemon, database, clock, transport, records, organizationId, rest, client, address: daemon.addresses.http, kv: daemon.kv },
    ...{ folder: daemon.dataDir, failures: daemon.errors, closeStore: () => daemon.stop() },
    ...{ removals: daemon.removals, operations: daemon.http.operations, board: part(T.Board), bell: part(T.Bell) },
    ...{ inboxCore: daemon.inboxes, engagements: daemon.engagements, webhookDispatcher: daemon.webhooks.webhookDispatcher },
    ...{ people: daemon.people, claims: part(T.Claims), accessTokens: part(T.OAuth).accessTokens },
    operator: client(operatorKey),
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
  }
}

async function addOrganization(database: Database, clock: FakeClock, plan: PlanName) {
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
  clock: FakeClock,
  organizationId: string,
  changes: { readonly monthlyCaptureCap?: number } = {},
): Promise<string> {
  const projectId = newId('prj', clock.now())
  await database.commit(insertProject(new Change(), organizationId, projectId, clock.now(), changes))
  return projectId
}

async function addMember(database: Database, clock: FakeClock, organizationId: string, email: string, role: Role): Promise<string> {
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
