/**
 * Sign-in by a link: asked for by mail or made by the operator. Following it shows a page, and only the button there signs in,
 * because scanners follow links. The answer never shows whether an address is known: it is given before the look-up.
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
import { addUser, identityOf, noteVerifiedSignIn, peoplePartition, userByEmail } from '../users/user.ts'

/** Who may become a user: only those the operator signs in, whoever is invited, or anybody. */
export type SignUp = 'closed' | 'invited' | 'open'

export interface LoginLinkOptions extends Core {
  readonly sessions: Sessions
  readonly passkeys: Pick<Passkeys, 'removeAllIn'>
  readonly invitations: Invitations
  readonly mail: SystemMail
  readonly background: Background
  readonly signUp: SignUp
}

/** What a page shows of a link before it is used. */
export interface LinkView {
  /** null: whoever uses it says the address. */
  readonly email: string | null
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
   * Mails a link to whoever may sign in by this address, after the answer. Throws `validation_failed` and
   * `rate_limit_exceeded`, alike for known and unknown addresses.
   */
  async request(email: string, next: string | null | undefined, remoteAddress: string): Promise<void> {
    const identity = identityOf(email)
    await this.#byNetwork.take(clientNetwork(remoteAddress))
    await this.#byAddress.take(identity)
    this.#options.background.run(() => this.#mail(identity, safePath(next)))
  }

  /** What the link is about; changes nothing. Throws `not_found` alike for links that were used, are too old or never were. */
  async look(secret: string): Promise<LinkView> {
    const { record } = await this.#get(secret)
    return { email: record.email }
  }

  /** Uses the link up: signs in its user, who is made where there is none. `email` is for a link that has none. */
  async consume(secret: string, browser: Browser, email = ''): Promise<BegunSession & { readonly next: string }> {
    const { writes, sessions } = this.#options
    const { record } = await this.#get(secret)
    return writes.run(record.ownerOf ?? peoplePartition, async (change) => {
      const stored = await this.#get(secret)
      change.remove(loginLinks, peoplePartition, stored)
      const userId = await this.#user(change, stored.record, email)
      if (stored.record.ownerOf !== null) await this.#makeOwner(change, stored.record.ownerOf, userId)
      return { ...(await sessions.begin(change, userId, 'link', browser)), next: stored.record.next }
    })
  }

  /** Whether a link of this address signs in: no other address is mailed one. */
  async maySignIn(email: string): Promise<boolean> {
    const { database, signUp, invitations } = this.#options
    if (signUp === 'open' || (await userByEmail(database, email))) return true
    return signUp === 'invited' && (await invitations.forAddress(email)).length > 0
  }

  async #user(change: Change, link: LoginLink, typed: string): Promise<string> {
    const { database, clock } = this.#options
    const email = link.email ?? identityOf(typed)
    const known = await userByEmail(database, email)
    if (!known) return addUser(database, change, email, clock.now()).id
    // whoever says the address has not proved it
    if (link.email === null) throw new Refusal('conflict', `This address already has an account; run postern login-link ${email}.`)
    if (known.record.isUnproved) await this.#endEarlierAccess(change, known.record.id)
    return noteVerifiedSignIn(change, known, clock.now()).id
  }

  /** Whoever used the address without a proof of it may have been another person: their sessions and passkeys end. */
  async #endEarlierAccess(change: Change, userId: string): Promise<void> {
    const { sessions, passkeys } = this.#options
    await sessions.endAllIn(change, userId)
    await passkeys.removeAllIn(change, userId)
  }

  async #makeOwner(change: Change, organizationId: string, userId: string): Promise<void> {
    const { database, clock, audit } = this.#options
    if (await hasOwner(database, organizationId)) return
    const role = 'owner' as const
    const stored = await database.get(members, { organizationId }, userId)
    if (stored) change.replace(members, organizationId, stored, { ...stored.record, role })
    else change.insert(members, organizationId, { id: userId, organizationId, role, joinedAt: clock.now() })
    audit.record(change, { organizationId, actor: { kind: 'operator', id: '' }, act: 'member.added', target: userId, details: { role } })
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

  /** A link that makes an owner of whoever uses it ends when there is one. */
  async #isPast({ email, ownerOf }: LoginLink): Promise<boolean> {
    return email === null && ownerOf !== null && hasOwner(this.#options.database, ownerOf)
  }
}
