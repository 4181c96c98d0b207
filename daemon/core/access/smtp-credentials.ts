/** Creates, reads, rotates, changes and revokes SMTP relay credentials. Spec "SMTP relay credential". */
import { randomBytes } from 'node:crypto'
import type { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { parseDomain } from '../addresses.ts'
import { featureBar } from '../plan/features.ts'
import { requireRoom } from '../plan/limits.ts'
import { heldBy } from '../plan/by-project.ts'
import { recordPeakUsage } from '../plan/peak-usage.ts'
import { invalid, type FieldProblem } from '../refusals.ts'
import { refuseSenders } from './principal/agent-approval.ts'
import { byProject, listReachable, type List, type OfProject, type PageQuery } from './principal/lists.ts'
import { isOpenTo, owningProject, requireEnvironment } from './principal/project-choice.ts'
import type { Principal } from './principal/principal.ts'
import { keyUses, type KeyUses } from './keys/key-uses.ts'
import { checkNoticeSettings } from './notice-settings.ts'
import type { SecretBox } from './secret-box.ts'
import type { GrantSettings } from './principal/access-settings.ts'
import { smtpCredentials, type SmtpCredential } from './smtp-credential.ts'
import { noticesToday, type NoticesOfDay } from '../tenancy/notice-counters.ts'
import { must } from '../writes/transact.ts'

export interface SmtpCredentialOptions extends Core {
  /** Domain of VERP return paths unless a credential names another domain. Null if the service receives no mail. */
  readonly bounceDomain: string | null
  readonly uses: Pick<KeyUses, 'last'>
}

type Mutable = Omit<SmtpCredential, 'id' | 'projectId' | 'username' | 'passwordFingerprint' | 'createdAt' | 'updatedAt'>

/** Omitted fields keep their values, or get defaults on creation. An empty string or null clears an optional field. */
export type SmtpCredentialChanges = { readonly [Field in keyof Mutable]?: Mutable[Field] | undefined }

/** A credential with its last login and notices, as the API returns it. */
export type ShownCredential = SmtpCredential & {
  /** See `KeyUses`. */
  readonly lastLoginAt: number | null
  /** Failure notices about the mail of this credential today. */
  readonly noticesToday: NoticesOfDay
}

/** A credential after a change. */
export interface ChangedCredential {
  readonly record: ShownCredential
  /** Given settings that have no effect now; each warning names its field. */
  readonly warnings: readonly FieldProblem[]
}

/** Returned only by creation and rotation; the service cannot show the password later. */
export interface CredentialWithSecret extends ChangedCredential {
  readonly password: string
}

/** Lengths in characters of five random bits each. */
const usernameLength = 16
const passwordLength = 32

const defaults: Mutable = {
  label: '',
  allowedFromDomains: [],
  enforceHeaderFrom: true,
  defaultDestinationId: null,
  environment: null,
  maxRatePerMin: null,
  maxMessageBytes: null,
  expiresAt: null,
  verpEnabled: false,
  verpBounceDomain: null,
  clickTrackingEnabled: false,
  openTrackingEnabled: false,
}

export class SmtpCredentials implements List<OfProject, ShownCredential> {
  readonly #options: SmtpCredentialOptions

  constructor(options: SmtpCredentialOptions) {
    this.#options = options
  }

  /** Throws `quota_exhausted` if the organization has reached the number of credentials in its plan. */
  async create(
    principal: Principal,
    request: SmtpCredentialChanges & { readonly projectId?: string | undefined },
  ): Promise<CredentialWithSecret> {
    const { writes, policies, clock } = this.#options
    const { organizationId } = principal
    const { projectId: named, ...changes } = request
    return writes.runAudited(principal, 'smtp_credential.created', async (change) => {
      const settings = await policies.of(organizationId)
      const projectId = owningProject(principal, settings.projects, named)
      refuseSenders(settings, principal, [projectId])
      const now = clock.now()
      const { checked, warnings } = checkChanges(changes, projectId, settings, now)
      requireRoom(settings.organization, 'smtpCredentials', 'SMTP credential', settings.credentials.size)
      const { record, password } = newSmtpCredential(this.#options.database, this.#options.secrets, { ...checked, projectId, now })
      change.insert(smtpCredentials, organizationId, record)
      await this.#noteHeld(change, organizationId, settings, (all) => [...all, record])
      return {
        record: { ...record, lastLoginAt: null, noticesToday: { sent: 0, withheld: 0 } },
        password,
        warnings: [...warnings, ...this.#bounceWarnings(changes, record)],
      }
    })
  }

  /** Newest first. */
  async list(principal: Principal, query: PageQuery & OfProject): Promise<Page<ShownCredential>> {
    const { rows, nextCursor } = await listReachable(this.#options, smtpCredentials, principal, query, byProject)
    return { rows: await Promise.all(rows.map((record) => this.#shown(principal, record))), nextCursor }
  }

  /** Throws `not_found` for missing ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<ShownCredential> {
    return this.#shown(principal, (await this.#get(principal, id)).record)
  }

  /** Replaces user name and password. The old ones stop working immediately, also in open sessions. */
  async rotate(principal: Principal, id: string): Promise<CredentialWithSecret> {
    const { writes, policies } = this.#options
    return writes.runAudited(principal, 'smtp_credential.rotated', async (change) => {
      const stored = await this.#get(principal, id)
      refuseSenders(await policies.of(principal.organizationId), principal, [stored.record.projectId])
      const { password, ...login } = newLogin(this.#options.secrets)
      const record = { ...stored.record, ...login, updatedAt: this.#options.clock.now() }
      change.replace(smtpCredentials, principal.organizationId, stored, record)
      return { record: await this.#shown(principal, record), password, warnings: [] }
    })
  }

  /**
   * Changes the given fields only. Another project moves the credential. Warns if its default destination or environment is not available
   * in that project.
   */
  async update(
    principal: Principal,
    id: string,
    request: SmtpCredentialChanges & { readonly projectId?: string | undefined },
  ): Promise<ChangedCredential> {
    const { writes, policies, clock } = this.#options
    const { projectId: named, ...changes } = request
    return writes.runAudited(principal, 'smtp_credential.updated', async (change) => {
      const stored = await this.#get(principal, id)
      const settings = await policies.of(principal.organizationId)
      const projectId = named === undefined ? stored.record.projectId : owningProject(principal, settings.projects, named)
      refuseSenders(settings, principal, [stored.record.projectId, projectId])
      const now = clock.now()
      const { checked, warnings } = checkChanges(changes, projectId, settings, now)
      const record = { ...stored.record, ...checked, projectId, updatedAt: now }
      change.replace(smtpCredentials, principal.organizationId, stored, record)
      if (projectId !== stored.record.projectId)
        await this.#noteHeld(change, principal.organizationId, settings, (all) => all.map((one) => (one.id === id ? record : one)))
      const shown = await this.#shown(principal, record)
      return { record: shown, warnings: [...warnings, ...this.#bounceWarnings(changes, record), ...leftBehind(settings, record)] }
    })
  }

  /** Deletes a credential; a missing credential is not an error. */
  async revoke(principal: Principal, id: string): Promise<void> {
    const { database, writes, policies } = this.#options
    const { organizationId } = principal
    await writes.runAudited(principal, 'smtp_credential.revoked', async (change) => {
      const stored = await database.get(smtpCredentials, principal, id)
      if (!stored) return
      change.remove(smtpCredentials, organizationId, stored)
      const use = await database.get(keyUses, { organizationId }, id)
      if (use) change.remove(keyUses, organizationId, use)
      await this.#noteHeld(change, organizationId, await policies.of(organizationId), (all) => all.filter((one) => one.id !== id))
    })
  }

  /** Records the number of credentials before and after this write for billing. */
  async #noteHeld(
    change: Change,
    organizationId: string,
    { credentials }: { readonly credentials: ReadonlyMap<string, SmtpCredential> },
    next: (all: readonly SmtpCredential[]) => readonly SmtpCredential[],
  ): Promise<void> {
    const { database, clock } = this.#options
    const all = [...credentials.values()]
    const held = { before: heldBy(all), after: heldBy(next(all)) }
    await recordPeakUsage({ database, change, organizationId }, 'smtp_credentials', held, clock.now())
  }

  async #shown({ organizationId }: Principal, record: SmtpCredential): Promise<ShownCredential> {
    const { uses, database, clock } = this.#options
    const source = { organizationId, submittedBy: record.id }
    const [lastLoginAt, noticesOfDay] = await Promise.all([
      uses.last(organizationId, record.id),
      noticesToday(database, source, clock.now()),
    ])
    return { ...record, lastLoginAt, noticesToday: noticesOfDay }
  }

  #get(principal: Principal, id: string): Promise<Stored<SmtpCredential>> {
    return must(this.#options.database, smtpCredentials, principal, id)
  }

  #bounceWarnings(given: SmtpCredentialChanges, { verpEnabled, verpBounceDomain }: SmtpCredential): FieldProblem[] {
    const isAbout = given.verpEnabled !== undefined || given.verpBounceDomain !== undefined
    if (!isAbout || !verpEnabled || (verpBounceDomain ?? this.#options.bounceDomain) !== null) return []
    const message = 'this service has no bounce domain; VERP has no effect until this field is set'
    return [{ path: 'verp_bounce_domain', message }]
  }
}

/**
 * Returns a new credential with a generated login, and its password. The record contains only a keyed hash of the password. `now` is in
 * milliseconds.
 */
export function newSmtpCredential(
  database: Database,
  secrets: SecretBox,
  { now, ...given }: Partial<Mutable> & { readonly projectId: string; readonly now: number },
): { readonly record: SmtpCredential; readonly password: string } {
  const { password, ...login } = newLogin(secrets)
  return { record: { ...defaults, ...given, ...login, id: database.newId('smc', now), createdAt: now, updatedAt: now }, password }
}

function newLogin(secrets: SecretBox): { readonly username: string; readonly passwordFingerprint: string; readonly password: string } {
  const password = randomText(passwordLength)
  return { username: `smtp_${randomText(usernameLength)}`, passwordFingerprint: secrets.hash(password), password }
}

/**
 * Returns lower-case letters and digits of the base32 alphabet (RFC 4648 §6), five random bits each. They are easy to read aloud. Text that
 * began with a dash could be mistaken for a command-line option.
 */
function randomText(length: number): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
}

/** The toggles, and the feature that each requires. */
const toggles = [
  { field: 'verpEnabled', path: 'verp_enabled', feature: 'verp', what: 'VERP' },
  { field: 'clickTrackingEnabled', path: 'click_tracking_enabled', feature: 'click_tracking', what: 'click tracking' },
  { field: 'openTrackingEnabled', path: 'open_tracking_enabled', feature: 'open_tracking', what: 'open tracking' },
] as const

type Checked = { -readonly [Field in keyof Mutable]?: Mutable[Field] }

/** Returns the given changes in their stored form. Throws `validation_failed` with every invalid field. */
function checkChanges(
  changes: SmtpCredentialChanges,
  projectId: string,
  settings: GrantSettings,
  nowMs: number,
): { readonly checked: Partial<Mutable>; readonly warnings: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<Mutable>
  const checked: Checked = { ...given, ...checkNoticeSettings(given, problems) }
  if (given.allowedFromDomains) checked.allowedFromDomains = checkDomains(given.allowedFromDomains, problems)
  if (given.defaultDestinationId === '') checked.defaultDestinationId = null
  else if (given.defaultDestinationId && !isReachable(settings, given.defaultDestinationId, projectId))
    problems.push({ path: 'default_destination_id', message: 'no destination of this project has this id' })
  if (given.environment === '') checked.environment = null
  if (checked.environment != null && checked.defaultDestinationId != null)
    problems.push({ path: 'environment', message: 'replaces default_destination_id; give only one of them' })
  else if (checked.environment != null) checked.defaultDestinationId = null
  else if (checked.defaultDestinationId != null) checked.environment = null
  if (given.verpBounceDomain === '') checked.verpBounceDomain = null
  else if (given.verpBounceDomain) {
    const domain = parseDomain(given.verpBounceDomain)
    if (domain) checked.verpBounceDomain = domain
    else problems.push({ path: 'verp_bounce_domain', message: 'must be a domain such as bounces.example.ch' })
  }
  if (typeof given.expiresAt === 'number' && given.expiresAt <= nowMs)
    problems.push({ path: 'expires_at', message: 'must be in the future; use null for a credential that does not expire' })
  if (problems.length > 0) throw invalid(problems)
  if (checked.environment != null) requireEnvironment(settings.destinations, projectId, checked.environment)
  return { checked, warnings: gateToggles(checked, settings) }
}

/**
 * Turns off toggles that the plan does not include, and returns warnings. A toggle that only a feature flag blocks is stored and decided
 * for each message.
 */
function gateToggles(checked: Checked, { organization }: GrantSettings): FieldProblem[] {
  const warnings: FieldProblem[] = []
  for (const { field, path, feature, what } of toggles) {
    const bar = checked[field] ? featureBar(organization, feature) : undefined
    if (bar === 'plan') {
      checked[field] = false
      warnings.push({
        path,
        message: `the plan ${organization.plan} does not include ${what}; the setting was turned off; upgrade the plan, then turn it on`,
      })
    } else if (bar === 'flag') {
      warnings.push({
        path,
        message: `${what} is turned off for this organization; the setting is stored and takes effect when the operator turns the feature on`,
      })
    }
  }
  return warnings
}

/** Returns a warning if the credential cannot use its default destination or environment in its current project. */
function leftBehind(settings: GrantSettings, { defaultDestinationId, environment, projectId }: SmtpCredential): FieldProblem[] {
  const inProject = [...settings.destinations.values()].filter((one) => isOpenTo(one, projectId))
  if (environment != null && !inProject.some((one) => one.environment === environment))
    return [
      { path: 'environment', message: 'belongs to another project, so this credential cannot use it; choose a value of this project' },
    ]
  if (defaultDestinationId === null || isReachable(settings, defaultDestinationId, projectId)) return []
  return [
    {
      path: 'default_destination_id',
      message: 'belongs to another project, so this credential cannot use it; choose a value of this project',
    },
  ]
}

function isReachable({ destinations }: GrantSettings, destinationId: string, projectId: string): boolean {
  const destination = destinations.get(destinationId)
  return destination !== undefined && isOpenTo(destination, projectId)
}

function checkDomains(domains: readonly string[], problems: FieldProblem[]): string[] {
  const checked = domains.map((text, index) => {
    const domain = parseDomain(text.startsWith('@') ? text.slice(1) : text)
    if (domain === undefined) problems.push({ path: `allowed_from_domains[${index}]`, message: 'must be a domain such as example.ch' })
    return domain
  })
  return [...new Set(checked.filter((domain) => domain !== undefined))]
}
