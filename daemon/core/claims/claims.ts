/**
 * Claims a sandbox: its agent names an address. A user signed in with that address, or a user who enters the agent's code, becomes the
 * owner of the organization. The agent cannot find out whether an address has an account.
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

/** Response to the agent. */
export interface StartedClaim {
  readonly progress: ClaimProgress
  /** Undefined if the project already has an owner. */
  readonly open: Pick<Claim, 'userCode' | 'expiresAt'> | undefined
  /** URL of the page where the user enters the code. */
  readonly integrationsUrl: string
}

/** A claim as the deciding user sees it. */
export interface ClaimView {
  readonly claim: Claim
  readonly project: Project
  /** Number of organizations that the user already belongs to. */
  readonly organizationCount: number
}

type StoredClaim = Stored<Claim> & { readonly organizationId: string }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const openMs = 30 * 60_000
const undoMs = 7 * dayMs
/** Maximum number of organizations on plan Free that a user can own, because each has separate quotas. */
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
   * Opens a claim for the sandbox of an anonymous token, which replaces an earlier claim, and sends mail after the response. Has no effect
   * if the project already has an owner. Throws `rate_limit_exceeded`, with equal results for known and unknown addresses.
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

  /** Returns open claims of the signed-in user; empty for keys and applications. */
  async openOf({ holder }: Principal): Promise<Claim[]> {
    if (holder?.kind !== 'user' || holder.application !== undefined) return []
    const user = await userById(this.#options.database, holder.userId)
    return user ? this.openFor(user) : []
  }

  /** Returns open claims for the user's address; empty until the address is proved. */
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
   * Returns the claim of a code without using it. Users with another address can also enter the code, but only a limited number of codes.
   * Throws the same `not_found` for used, expired and unknown codes.
   */
  async look(user: User, typed: string): Promise<ClaimView> {
    const { database, people } = this.#options
    const { record: claim, organizationId } = await this.#try(user, typed)
    const stored = await database.get(projects, { organizationId }, claim.projectId)
    if (!stored) throw gone()
    return { claim, project: stored.record, organizationCount: (await people.members.organizationsOf(user.id)).length }
  }

  /**
   * Makes the user the owner of the sandbox's organization, in one write. Of concurrent calls, one succeeds. Throws `not_found`, and
   * `conflict` if the user owns `maxFree` organizations on plan Free.
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

  /** Returns the claim whose agent the user can still disconnect by the link in the mail. Throws `not_found`. */
  async undoable(user: User, organizationId: string): Promise<Claim> {
    const claim = (await this.#stored(organizationId))?.record
    const isMine = claim?.userId === user.id && claim.claimedAt !== null
    if (isMine && this.#options.clock.now() < (claim.claimedAt ?? 0) + undoMs) return claim
    throw new Refusal('not_found', 'Nothing to undo: the link is valid for seven days, and only for the user who claimed the sandbox.')
  }

  /** Returns the keys that end with the agent's grant, newest first. */
  async keysOf({ id: organizationId, grantId }: Claim): Promise<ApiKey[]> {
    const { database, clock } = this.#options
    return (await keysFollowing(database, organizationId, isCreatedBy(grantId), clock.now())).map(({ record }) => record)
  }

  /**
   * Ends the agent's grant, and revokes the keys that it created, except `toKeep`. The user keeps the organization. Repeating the call has
   * no effect.
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

  /** Adds the change of ownership of the sandbox to the write. */
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

  /** Returns an open claim by its code. Counts as an attempt unless the claim was sent to the user's proved address. */
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
