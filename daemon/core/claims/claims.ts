/**
 * Taking over a sandbox: its agent asks with somebody's address, and whoever has signed in with that address, or types in the code
 * that the agent shows, makes the sandbox an organization of their own. The agent never learns whether an address is known.
 */
import { Change, decode } from '#store/change.ts'
import { lookupPrefix, type Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import type { ApiKey } from '../access/keys/api-key.ts'
import { keysFollowing, type KeysToKeep } from '../access/keys/dependent-keys.ts'
import { requireScope, type Principal } from '../access/principal/principal.ts'
import { endGrant, isCreatedBy } from '../oauth/grants/end-grant.ts'
import { oauthGrants } from '../oauth/grants/grant.ts'
import type { Sandboxes } from '../oauth/endpoints/sandboxes.ts'
import { addLoginLink } from '../people/sign-in/login-link.ts'
import { claimedMail, claimMail } from '../people/mail/mail-texts.ts'
import { members } from '../people/members/member.ts'
import { loginLinkPath } from '../people/sign-in/operator-link.ts'
import type { People } from '../people/people.ts'
import { RateWindow } from '../visitors/rate-window.ts'
import { identityOf, userById, type User } from '../people/users/user.ts'
import { Refusal } from '../refusals.ts'
import { organizations, projects, type Organization, type Project } from '../tenancy/organization.ts'
import { claimProgress, claims, type Claim, type ClaimProgress } from './claim.ts'
import { scopesOfPermissions, type Permission } from './permissions.ts'
import { newUserCode, readUserCode } from './user-code.ts'

export interface ClaimOptions extends Core {
  readonly sandboxes: Sandboxes
  readonly people: Pick<People, 'mail' | 'loginLinks' | 'background' | 'outbox' | 'members'>
}

/** What the agent gets. */
export interface StartedClaim {
  readonly progress: ClaimProgress
  /** Undefined when there was nothing to take over. */
  readonly open: Pick<Claim, 'userCode' | 'expiresAt'> | undefined
  /** The page where the code works. */
  readonly integrationsUrl: string
}

/** A claim as the person sees it who is to decide. */
export interface ClaimView {
  readonly claim: Claim
  readonly project: Project
  /** In how many organizations the person is already. */
  readonly organizationCount: number
}

type StoredClaim = Stored<Claim> & { readonly organizationId: string }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const openMs = 30 * 60_000
const undoMs = 7 * dayMs
/** A person may own so many organizations on the plan free; each brings quotas of its own. */
const maxFree = 10

const gone = (): Refusal => new Refusal('not_found', 'This code is wrong, expired or already used. Ask your agent for a new code.')

export class Claims {
  readonly #options: ClaimOptions
  readonly #bySession: RateWindow
  readonly #byAddress: RateWindow
  readonly #codes: RateWindow

  constructor(options: ClaimOptions) {
    this.#options = options
    const message = 'Too many claim requests; use the latest code, or wait.'
    this.#bySession = new RateWindow(options, { name: 'claims by session', windowMs: hourMs, most: 3, message })
    this.#byAddress = new RateWindow(options, { name: 'claims by address', windowMs: dayMs, most: 5, message })
    const wrong = 'Too many wrong codes; wait an hour, then try again.'
    this.#codes = new RateWindow(options, { name: 'codes of claims', windowMs: hourMs, most: 15, message: wrong })
  }

  /**
   * Opens a claim for the sandbox of an anonymous token, in place of one before, and mails the address after the answer. Does
   * nothing for a project that has its people already. Throws `rate_limit_exceeded`, alike for known and unknown addresses.
   */
  async start(principal: Principal, email: string): Promise<StartedClaim> {
    requireScope(principal, 'api:read')
    const { clock, people, writes } = this.#options
    const address = identityOf(email)
    const integrationsUrl = people.mail.urlOf('/integrations')
    const { organizationId, holder } = principal
    const holderId = holder?.kind === 'user' ? holder.userId : null
    const before = await this.#stored(organizationId)
    if (holder?.kind !== 'anonymous' || (before?.record.userId ?? null) !== null)
      return { progress: claimProgress(true, before?.record, holderId, clock.now()), open: undefined, integrationsUrl }
    await this.#bySession.take(principal.credentialId)
    await this.#byAddress.take(address)
    const isMailed = await people.mail.isReady()
    const claim = await writes.run(organizationId, (change) => this.#open(change, principal, address, isMailed))
    if (isMailed) people.background.run(() => this.#mail(claim))
    return { progress: claimProgress(false, claim, null, clock.now()), open: claim, integrationsUrl }
  }

  /** Those that are open for the signed-in user; none for keys and applications. */
  async openOf({ holder }: Principal): Promise<Claim[]> {
    if (holder?.kind !== 'user' || holder.application !== undefined) return []
    const user = await userById(this.#options.database, holder.userId)
    return user ? this.openFor(user) : []
  }

  /** Those that are open for the address of the user; none before it is proved. */
  async openFor({ email, isUnproved }: User): Promise<Claim[]> {
    const { database } = this.#options
    const found: Claim[] = []
    if (isUnproved) return found
    for await (const { value } of database.kv.range(within([...lookupPrefix(claims.name, 'email'), email]))) {
      const [organizationId] = decode<[string, string]>(value)
      const stored = await this.#stored(organizationId)
      if (stored && this.#isOpen(stored.record)) found.push(stored.record)
    }
    return found
  }

  /**
   * What the code is about; changes nothing. Who is not the one that was mailed may type in the code too, though not try many.
   * Throws `not_found` alike for codes that were used, are too old or never were.
   */
  async look(user: User, typed: string): Promise<ClaimView> {
    const { database, people } = this.#options
    const { record: claim, organizationId } = await this.#try(user, typed)
    const stored = await database.get(projects, { organizationId }, claim.projectId)
    if (!stored) throw gone()
    return { claim, project: stored.record, organizationCount: (await people.members.organizationsOf(user.id)).length }
  }

  /**
   * Makes the sandbox an organization of the user, in one write. Of two at the same time one gets it. Throws `not_found`, and
   * `conflict` to who owns many unpaid organizations.
   */
  async confirm(user: User, typed: string, chosen: readonly Permission[]): Promise<Claim> {
    const { writes, people } = this.#options
    const { organizationId } = await this.#try(user, typed)
    await this.#requireRoom(user)
    const claim = await writes.run(organizationId, async (change) => {
      const found = await this.#find(typed)
      if (!found || !(await this.#options.sandboxes.release(change, organizationId))) throw gone()
      const { clientName, userCode } = found.record
      const url = people.mail.urlOf(`/claims/${organizationId}/undo`)
      await people.outbox.add(change, user.email, claimedMail(clientName, userCode, url))
      return this.#take(change, found, user, chosen)
    })
    people.outbox.wake()
    return claim
  }

  /** The claim whose agent the user can still send away by the link of the mail. Throws `not_found`. */
  async undoable(user: User, organizationId: string): Promise<Claim> {
    const claim = (await this.#stored(organizationId))?.record
    const isMine = claim?.userId === user.id && claim.claimedAt !== null
    if (isMine && this.#options.clock.now() < (claim.claimedAt ?? 0) + undoMs) return claim
    throw new Refusal('not_found', 'Nothing to undo: the link is valid for seven days, and only for the user who claimed the sandbox.')
  }

  /** The keys that end with the session of the agent; the newest first. */
  async keysOf({ id: organizationId, grantId }: Claim): Promise<ApiKey[]> {
    const { database, clock } = this.#options
    return (await keysFollowing(database, organizationId, isCreatedBy(grantId), clock.now())).map(({ record }) => record)
  }

  /**
   * Ends the session of the agent and the keys that it created, but for those to keep; the organization stays with the user. Again
   * does nothing.
   */
  async undo(user: User, organizationId: string, toKeep: KeysToKeep = []): Promise<void> {
    const { database, writes, clock, audit } = this.#options
    const { grantId } = await this.undoable(user, organizationId)
    await writes.run(organizationId, async (change) => {
      const stored = await database.get(oauthGrants, { organizationId }, grantId)
      if (stored?.record.revokedAt !== null) return
      const actor = { kind: 'user', id: user.id } as const
      await endGrant({ database, audit, change, actor, now: clock.now() }, { ...stored, organizationId }, { toKeep })
    })
  }

  async #requireRoom({ id }: User): Promise<void> {
    const mine = await this.#options.people.members.organizationsOf(id)
    const free = mine.filter(({ member, organization }) => member.role === 'owner' && organization.plan === 'free')
    if (free.length < maxFree) return
    throw new Refusal(
      'conflict',
      `You own ${maxFree} organizations on the plan free. Delete one, or raise its plan, and then claim this one.`,
    )
  }

  async #open(change: Change, principal: Principal, email: string, isMailed: boolean): Promise<Claim> {
    const { database, clock, sandboxes } = this.#options
    const { organizationId, projectId, credentialId: grantId } = principal
    const [before, grant] = await Promise.all([this.#stored(organizationId), database.get(oauthGrants, { organizationId }, grantId)])
    const isSandbox = await sandboxes.hold(change, organizationId)
    if (!isSandbox || !grant) throw new Refusal('conflict', 'This sandbox was claimed or removed in the meantime; read its status.')
    const now = clock.now()
    const claim: Claim = {
      ...{ id: organizationId, projectId, grantId, clientName: grant.record.clientName, email, userCode: newUserCode() },
      ...{ sandboxAt: grant.record.createdAt, startedAt: now, mailedAt: isMailed ? now : null, expiresAt: now + openMs },
      ...{ userId: null, claimedAt: null },
    }
    if (before) change.replace(claims, organizationId, before, claim)
    else change.insert(claims, organizationId, claim)
    return claim
  }

  /** Adds to the write that everything in the sandbox is the user's. */
  async #take(change: Change, found: StoredClaim, user: User, chosen: readonly Permission[]): Promise<Claim> {
    const { database, clock, audit } = this.#options
    const { organizationId, record } = found
    const { grantId, projectId, clientName } = record
    const now = clock.now()
    const reach = { organizationId }
    const organization = await database.get(organizations, reach, organizationId)
    const owned = await database.all(projects, reach)
    const project = owned.find((one) => one.record.id === projectId)
    if (!organization || organization.record.deletedAt !== undefined || !project) throw gone()
    const next: Organization = { ...organization.record, name: project.record.name, plan: 'free' }
    change.replace(organizations, organizationId, organization, next)
    for (const one of owned) change.replace(projects, organizationId, one, { ...one.record, status: 'claimed' as const })
    change.insert(members, organizationId, { id: user.id, organizationId, role: 'owner' as const, joinedAt: now })
    const scopes = scopesOfPermissions(chosen)
    const grant = await database.get(oauthGrants, reach, grantId)
    if (grant) change.replace(oauthGrants, organizationId, grant, { ...grant.record, userId: user.id, scopes })
    const claim: Claim = { ...record, userId: user.id, claimedAt: now }
    change.replace(claims, organizationId, found, claim)
    const actor = { kind: 'user', id: user.id } as const
    const details = { name: next.name, client: clientName, grant: grantId, scopes }
    audit.record(change, { organizationId, actor, act: 'organization.claimed', target: organizationId, details })
    return claim
  }

  async #mail(claim: Claim): Promise<void> {
    const { database, people } = this.#options
    const { email, userCode, expiresAt } = claim
    if (!(await people.loginLinks.maySignIn(email))) return
    const change = new Change()
    const secret = addLoginLink(change, { email, ownerOf: null, next: `/claims/${userCode}`, expiresAt })
    await database.commit(change)
    await people.mail.send(email, claimMail(claim, people.mail.urlOf(loginLinkPath(secret))))
  }

  /** An open claim by its code; one that was not sent to the user by mail counts as a try. */
  async #try(user: User, typed: string): Promise<StoredClaim> {
    const found = await this.#find(typed)
    if (found?.record.email !== user.email || user.isUnproved) await this.#codes.take(user.id)
    if (!found) throw gone()
    return found
  }

  async #find(typed: string): Promise<StoredClaim | undefined> {
    const found = await this.#options.database.lookup(claims, 'code', [readUserCode(typed)])
    return found && this.#isOpen(found.record) ? found : undefined
  }

  #stored(organizationId: string): Promise<Stored<Claim> | undefined> {
    return this.#options.database.get(claims, { organizationId }, organizationId)
  }

  #isOpen({ userId, expiresAt }: Claim): boolean {
    return userId === null && this.#options.clock.now() < expiresAt
  }
}
