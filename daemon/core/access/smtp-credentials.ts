/** SMTP relay credentials: creating, reading, rotating, changing and revoking them. Spec "SMTP relay credential". */
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
  /** Where return paths of VERP are, unless a credential names another domain; null when nothing is received. */
  readonly bounceDomain: string | null
  readonly uses: Pick<KeyUses, 'last'>
}

type Mutable = Omit<SmtpCredential, 'id' | 'projectId' | 'username' | 'passwordFingerprint' | 'createdAt' | 'updatedAt'>

/** What is not given keeps its value, or gets the default. An empty text or null clears what can be cleared. */
export type SmtpCredentialChanges = { readonly [Field in keyof Mutable]?: Mutable[Field] | undefined }

/** A credential as it is shown. */
export type ShownCredential = SmtpCredential & {
  /** See `KeyUses`. */
  readonly lastLoginAt: number | null
  /** Notices to authors about its mail, today. */
  readonly noticesToday: NoticesOfDay
}

/** A credential as it is kept after a change. */
export interface ChangedCredential {
  readonly record: ShownCredential
  /** What was asked for and has no effect now; each names its field. */
  readonly warnings: readonly FieldProblem[]
}

/** The only time that the password is shown. */
export interface CredentialWithSecret extends ChangedCredential {
  readonly password: string
}

/** Five bits a character. */
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

  /** Throws `quota_exhausted` when the plan allows no more credentials at the same time. */
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

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<ShownCredential> {
    return this.#shown(principal, (await this.#get(principal, id)).record)
  }

  /** A new user name and password; the old ones stop working at once, also in sessions that are open. */
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

  /** Only what is given changes. With another project it moves there; a default destination that stays behind is a warning. */
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

  /** Ends a credential; one that is not there is no error. */
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

  /** What is alive after this write, for the bill. */
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

/** A credential with a login of its own, and its password, of which the record holds a keyed hash. `now` in milliseconds. */
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
 * Letters and digits of RFC 4648 §6 in lower case, five random bits each: easy to read out, and never taken for an option on
 * a command line, as text that begins with a dash would be.
 */
function randomText(length: number): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
}

/** The toggles, with the feature that gates the effect of each. */
const toggles = [
  { field: 'verpEnabled', path: 'verp_enabled', feature: 'verp', what: 'VERP' },
  { field: 'clickTrackingEnabled', path: 'click_tracking_enabled', feature: 'click_tracking', what: 'click tracking' },
  { field: 'openTrackingEnabled', path: 'open_tracking_enabled', feature: 'open_tracking', what: 'open tracking' },
] as const

type Checked = { -readonly [Field in keyof Mutable]?: Mutable[Field] }

/** The changes that were given, in the form in which they are kept. Throws `validation_failed` naming every field that is wrong. */
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

/** Turns off what the plan does not include; what only a flag bars is kept and decided with each message. Returns what changed. */
function gateToggles(checked: Checked, { organization }: GrantSettings): FieldProblem[] {
  const warnings: FieldProblem[] = []
  for (const { field, path, feature, what } of toggles) {
    const bar = checked[field] ? featureBar(organization, feature) : undefined
    if (bar === 'plan') {
      checked[field] = false
      warnings.push({
        path,
        message: `the plan ${organization.plan} does not include ${what}; the setting has no effect until you raise the plan`,
      })
    } else if (bar === 'flag') {
      warnings.push({
        path,
        message: `${what} is turned off for this organization; the setting is kept and takes effect when that changes`,
      })
    }
  }
  return warnings
}

/** A default destination that the credential cannot use where it is now. */
function leftBehind(settings: GrantSettings, { defaultDestinationId, environment, projectId }: SmtpCredential): FieldProblem[] {
  const inProject = [...settings.destinations.values()].filter((one) => isOpenTo(one, projectId))
  if (environment != null && !inProject.some((one) => one.environment === environment))
    return [{ path: 'environment', message: 'belongs to another project, so nothing can be sent with it; use one of this project' }]
  if (defaultDestinationId === null || isReachable(settings, defaultDestinationId, projectId)) return []
  return [
    { path: 'default_destination_id', message: 'belongs to another project, so nothing can be sent with it; use one of this project' },
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
