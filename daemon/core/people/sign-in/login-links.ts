/**
 * Sign-in by a link, which the user requests by mail or the operator creates. The link opens a page, and only the button of that page signs
 * in, because scanners follow links. The response does not reveal whether an address has an account: it is sent before the look-up.
 */
import { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { clientNetwork } from '../../access/client-network.ts'
import { Refusal } from '../../refusals.ts'
import type { Background } from '../users/background-work.ts'
import type { Invitations } from '../members/invitations.ts'
import { addLoginLink, loginLinkMs, loginLinks, safePath, type LoginLink } from './login-link.ts'
import { loginMail } from '../mail/mail-texts.ts'
import { members } from '../members/member.ts'
import { hasOwner } from '../members/members.ts'
import { loginLinkPath } from './operator-link.ts'
import type { Passkeys } from './passkeys.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import { hashSecret, secretPattern } from '../users/secret-token.ts'
import type { BegunSession, Browser, Sessions } from './sessions.ts'
import type { SystemMail } from '../mail/system-mail.ts'
import { organizations, placeholderName } from '../../tenancy/organization.ts'
import { addUser, identityOf, noteVerifiedSignIn, peoplePartition, readOrganizationName, userByEmail } from '../users/user.ts'

/** Who can become a user. `closed`: only people with a link from the operator; `invited`: also invited people; `open`: everyone. */
export type SignUp = 'closed' | 'invited' | 'open'

export interface LoginLinkOptions extends Core {
  readonly sessions: Sessions
  readonly passkeys: Pick<Passkeys, 'removeAllIn'>
  readonly invitations: Invitations
  readonly mail: SystemMail
  readonly background: Background
  readonly signUp: SignUp
}

/** Content of the page that a link opens. */
export interface LinkView {
  /** Null if the user enters the address. */
  readonly email: string | null
  /** Whether the user becomes the owner of an organization without a name of its own. */
  readonly asksName: boolean
}

/** What the user entered on the page of a link. */
export interface LinkAnswers {
  /** For links without an address. */
  readonly email?: string | undefined
  /** Name of the organization whose owner the user becomes. Undefined keeps its name. */
  readonly organization?: string | undefined
}

const hourMs = 3_600_000

export class LoginLinks {
  readonly #options: LoginLinkOptions
  readonly #byAddress: RateWindow
  readonly #byNetwork: RateWindow

  constructor(options: LoginLinkOptions) {
    this.#options = options
    const message = 'Too many requests for sign-in links; wait an hour, or use a link that you already have.'
    this.#byAddress = new RateWindow(options, { name: 'sign-in links by address', windowMs: hourMs, most: 5, message })
    this.#byNetwork = new RateWindow(options, { name: 'sign-in links by network', windowMs: hourMs, most: 20, message })
  }

  /**
   * Sends a link in the background if the address may sign in. Throws `validation_failed` and `rate_limit_exceeded`, with equal results for
   * known and unknown addresses.
   */
  async request(email: string, next: string | null | undefined, remoteAddress: string): Promise<void> {
    const identity = identityOf(email)
    await this.#byNetwork.take(clientNetwork(remoteAddress))
    await this.#byAddress.take(identity)
    this.#options.background.run(() => this.#mail(identity, safePath(next)))
  }

  /** Returns the address of a link without using it. Throws the same `not_found` for used, expired and unknown links. */
  async look(secret: string): Promise<LinkView> {
    const { email, ownerOf } = (await this.#get(secret)).record
    return { email, asksName: ownerOf !== null && (await this.#isUnnamed(ownerOf)) }
  }

  /**
   * Uses up the link and signs the user in; creates the user if the address has no account. Throws `validation_failed` for an answer that
   * is required or invalid.
   */
  async consume(secret: string, browser: Browser, answers: LinkAnswers = {}): Promise<BegunSession & { readonly next: string }> {
    const { writes, sessions } = this.#options
    const { record } = await this.#get(secret)
    const email = record.email ?? identityOf(answers.email ?? '')
    const name = answers.organization === undefined ? undefined : readOrganizationName(answers.organization)
    return writes.run(record.ownerOf ?? peoplePartition, async (change) => {
      const stored = await this.#get(secret)
      change.remove(loginLinks, peoplePartition, stored)
      const userId = await this.#user(change, stored.record, email)
      const { ownerOf } = stored.record
      if (ownerOf !== null && (await this.#makeOwner(change, ownerOf, userId)) && name !== undefined)
        await this.#rename(change, ownerOf, userId, name)
      return { ...(await sessions.begin(change, userId, 'link', browser)), next: stored.record.next }
    })
  }

  /** Returns whether the address may sign in by link. No links are mailed to other addresses. */
  async maySignIn(email: string): Promise<boolean> {
    const { database, signUp, invitations } = this.#options
    if (signUp === 'open' || (await userByEmail(database, email))) return true
    return signUp === 'invited' && (await invitations.forAddress(email)).length > 0
  }

  async #user(change: Change, link: LoginLink, email: string): Promise<string> {
    const { database, clock } = this.#options
    const known = await userByEmail(database, email)
    if (!known) return addUser(database, change, email, clock.now()).id
    // an address that the user typed is not proved
    if (link.email === null) throw new Refusal('conflict', `This address already has an account; run postern login-link ${email}.`)
    if (known.record.isUnproved) await this.#endEarlierAccess(change, known.record.id)
    return noteVerifiedSignIn(change, known, clock.now()).id
  }

  /** Ends all sessions and passkeys of a user whose address was unproved until now, because another person may have created them. */
  async #endEarlierAccess(change: Change, userId: string): Promise<void> {
    const { sessions, passkeys } = this.#options
    await sessions.endAllIn(change, userId)
    await passkeys.removeAllIn(change, userId)
  }

  /** Returns false if the organization has an owner already. */
  async #makeOwner(change: Change, organizationId: string, userId: string): Promise<boolean> {
    const { database, clock, audit } = this.#options
    if (await hasOwner(database, organizationId)) return false
    const role = 'owner' as const
    const stored = await database.get(members, { organizationId }, userId)
    if (stored) change.replace(members, organizationId, stored, { ...stored.record, role })
    else change.insert(members, organizationId, { id: userId, organizationId, role, joinedAt: clock.now() })
    audit.record(change, { organizationId, actor: { kind: 'operator', id: '' }, act: 'member.added', target: userId, details: { role } })
    return true
  }

  async #isUnnamed(organizationId: string): Promise<boolean> {
    const { database } = this.#options
    const stored = await database.get(organizations, { organizationId }, organizationId)
    return stored?.record.name === placeholderName && !(await hasOwner(database, organizationId))
  }

  async #rename(change: Change, organizationId: string, userId: string, name: string): Promise<void> {
    const { database, audit } = this.#options
    const stored = await database.get(organizations, { organizationId }, organizationId)
    if (!stored || stored.record.name === name) return
    change.replace(organizations, organizationId, stored, { ...stored.record, name })
    audit.record(change, {
      ...{ organizationId, actor: { kind: 'user', id: userId }, act: 'organization.updated' },
      ...{ target: organizationId, details: { name } },
    })
  }

  async #mail(email: string, next: string): Promise<void> {
    const { database, clock, mail } = this.#options
    if (!(await mail.isReady()) || !(await this.maySignIn(email))) return
    const change = new Change()
    const secret = addLoginLink(change, { email, ownerOf: null, next, expiresAt: clock.now() + loginLinkMs })
    await database.commit(change)
    await mail.send(email, loginMail(mail.urlOf(loginLinkPath(secret))))
  }

  async #get(secret: string): Promise<Stored<LoginLink>> {
    const { database, clock } = this.#options
    const id = secretPattern.test(secret) ? hashSecret(secret) : ''
    const stored = await database.get(loginLinks, { organizationId: peoplePartition }, id)
    const isGood = stored && stored.record.expiresAt > clock.now() && !(await this.#isPast(stored.record))
    if (isGood) return stored
    throw new Refusal('not_found', 'This sign-in link has expired or was already used. Request a new one.')
  }

  /** Returns whether a link that grants ownership has become invalid because the organization has an owner. */
  async #isPast({ email, ownerOf }: LoginLink): Promise<boolean> {
    return email === null && ownerOf !== null && hasOwner(this.#options.database, ownerOf)
  }
}
