/** Invitations. Administrators create, resend and revoke them; a user signed in with the invited address accepts them. */
import type { Change } from '#store/change.ts'
import { decode } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import { lookupPrefix, type Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { recordsOf, type List, type PageQuery } from '../../access/principal/lists.ts'
import { requireAdministration, requireReach } from '../../access/principal/organization-acts.ts'
import { requireScope, type Principal } from '../../access/principal/principal.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import { actorOf } from '../../writes/audit.ts'
import { Refusal } from '../../refusals.ts'
import { organizations, type Organization } from '../../tenancy/organization.ts'
import { invitations, type Invitation } from './invitation.ts'
import { invitationMail } from '../mail/mail-texts.ts'
import { members, type Member } from './member.ts'
import type { Members } from './members.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { Role } from '../../access/principal/role.ts'
import { hashSecret, newSecret, secretPattern } from '../users/secret-token.ts'
import type { SystemMail } from '../mail/system-mail.ts'
import { identityOf, userByEmail, userById, type User } from '../users/user.ts'
import { must } from '../../writes/transact.ts'

export interface InvitationOptions extends Core {
  readonly members: Members
  readonly mail: SystemMail
  readonly outbox: Outbox
}

/**
 * An invitation. If the service sends no mail, it includes the link, which the administrator must hand over; the link is returned only
 * once.
 */
export interface OpenedInvitation extends Invitation {
  readonly link?: string
}

/** An invitation as the invited person sees it. */
export interface InvitationView {
  readonly invitation: Invitation
  readonly organization: Organization
}

const invitationMs = 7 * 24 * 3_600_000
const maxPending = 100
const mailsAnHour = 60

export class Invitations implements List<unknown, Invitation> {
  readonly #options: InvitationOptions
  readonly #mails: RateWindow

  constructor(options: InvitationOptions) {
    this.#options = options
    const message = 'This organization sent too many invitations in the last hour; send the rest later.'
    this.#mails = new RateWindow(options, { name: 'invitations', windowMs: 3_600_000, most: mailsAnHour, message })
  }

  /** Throws `conflict` for members and for addresses with an open invitation. */
  async create(principal: Principal, request: { readonly email: string; readonly role: Role }): Promise<OpenedInvitation> {
    requireAdministration(principal, 'members.change')
    const { database, writes, clock } = this.#options
    const { organizationId } = principal
    const email = identityOf(request.email)
    await this.#requireOwnerFor(principal, request.role)
    const secret = newSecret()
    const invitation = await writes.run(organizationId, async (change) => {
      const now = clock.now()
      const user = await userByEmail(database, email)
      if (user && (await database.get(members, { organizationId }, user.record.id)))
        throw new Refusal('conflict', 'This person is already a member; change the role instead.')
      const pending = await database.all(invitations, { organizationId })
      if (pending.some(({ record }) => record.email === email))
        throw new Refusal('conflict', 'This address is already invited; send that invitation again, or revoke it first.')
      if (pending.length >= maxPending) throw new Refusal('conflict', `There are ${maxPending} open invitations; revoke some first.`)
      await this.#mails.take(organizationId)
      const id = database.newId('inv', now)
      const { kind, id: by } = actorOf(principal)
      const made: Invitation = {
        ...{ id, organizationId, email, role: request.role, sha256: hashSecret(secret), invitedBy: { kind, id: by } },
        createdAt: now,
        expiresAt: now + invitationMs,
      }
      change.insert(invitations, organizationId, made)
      await this.#addMail(change, made, secret)
      this.#record(change, principal, 'invitation.created', made)
      return made
    })
    this.#options.outbox.wake()
    return this.#withLink(invitation, secret)
  }

  /** Lists invitations, newest first. Expired invitations remain until an administrator resends or revokes them. */
  async list(principal: Principal, { limit, cursor }: PageQuery): Promise<Page<Invitation>> {
    requireScope(principal, 'api:read')
    requireReach(principal, 'members.read')
    return recordsOf(await this.#options.database.list(invitations, { organizationId: principal.organizationId }, { limit, cursor }))
  }

  /** Creates a new link that is valid for a week; the previous link stops working. */
  async resend(principal: Principal, id: string): Promise<OpenedInvitation> {
    requireAdministration(principal, 'members.change')
    const { writes, clock } = this.#options
    const secret = newSecret()
    const invitation = await writes.run(principal.organizationId, async (change) => {
      const stored = await this.#get(principal, id)
      await this.#requireOwnerFor(principal, stored.record.role)
      await this.#mails.take(principal.organizationId)
      const next = { ...stored.record, sha256: hashSecret(secret), expiresAt: clock.now() + invitationMs }
      change.replace(invitations, principal.organizationId, stored, next)
      await this.#addMail(change, next, secret)
      this.#record(change, principal, 'invitation.resent', next)
      return next
    })
    this.#options.outbox.wake()
    return this.#withLink(invitation, secret)
  }

  /** Deletes the invitation; its link stops working immediately. Throws `not_found`. */
  async revoke(principal: Principal, id: string): Promise<void> {
    requireAdministration(principal, 'members.change')
    await this.#options.writes.run(principal.organizationId, async (change) => {
      const stored = await this.#get(principal, id)
      change.remove(invitations, principal.organizationId, stored)
      this.#record(change, principal, 'invitation.revoked', stored.record)
    })
  }

  /** Returns whether the invitation has not expired. */
  isOpen({ expiresAt }: Invitation): boolean {
    return expiresAt > this.#options.clock.now()
  }

  /** Returns the invitation of a link without using it. Throws the same `not_found` for expired, used and unknown links. */
  async look(secret: string): Promise<InvitationView> {
    const { database } = this.#options
    const found = secretPattern.test(secret) ? await database.lookup(invitations, 'sha256', [hashSecret(secret)]) : undefined
    const view = found && this.isOpen(found.record) ? await this.#view(found.record) : undefined
    if (view) return view
    throw new Refusal('not_found', 'This invitation was accepted or revoked, or has expired. Ask for a new one.')
  }

  /** Returns invitations that the owner of the address can accept. */
  async forAddress(email: string): Promise<InvitationView[]> {
    const { database } = this.#options
    const found: InvitationView[] = []
    for await (const { value } of database.kv.range(within([...lookupPrefix(invitations.name, 'email'), email]))) {
      const [organizationId, id] = decode<[string, string]>(value)
      const stored = await database.get(invitations, { organizationId }, id)
      const view = stored && this.isOpen(stored.record) ? await this.#view(stored.record) : undefined
      if (view) found.push(view)
    }
    return found
  }

  /** Returns invitations that the user can accept without the link. */
  async forUser({ email, isUnproved }: User): Promise<InvitationView[]> {
    return isUnproved ? [] : this.forAddress(email)
  }

  /**
   * Makes the user a member. Only the user with the invited address can accept. A user whose address is unproved also needs the `secret` of
   * the link. Throws `not_found` for all others.
   */
  accept(user: User, organizationId: string, id: string, secret = ''): Promise<Member> {
    return this.#options.writes.run(organizationId, (change) => this.acceptIn(change, user, organizationId, id, secret))
  }

  /** Like `accept`, within a given write. */
  async acceptIn(change: Change, user: User, organizationId: string, id: string, secret: string): Promise<Member> {
    const { database, clock, audit } = this.#options
    const stored = await database.get(invitations, { organizationId }, id)
    const isMine = stored?.record.email === user.email && this.isOpen(stored.record)
    const isTheirs = isMine && (!user.isUnproved || stored.record.sha256 === hashSecret(secret))
    if (!isTheirs || !(await this.#view(stored.record))) throw new Refusal('not_found', `There is no open invitation for ${user.email}.`)
    change.remove(invitations, organizationId, stored)
    const already = await database.get(members, { organizationId }, user.id)
    if (already) return already.record
    const { role, id: invitation } = stored.record
    const member: Member = { id: user.id, organizationId, role, joinedAt: clock.now() }
    change.insert(members, organizationId, member)
    const details = { role, invitation }
    audit.record(change, { organizationId, actor: { kind: 'user', id: user.id }, act: 'member.added', target: user.id, details })
    return member
  }

  async #view(invitation: Invitation): Promise<InvitationView | undefined> {
    const { organizationId } = invitation
    const stored = await this.#options.database.get(organizations, { organizationId }, organizationId)
    return stored?.record.deletedAt === undefined && stored ? { invitation, organization: stored.record } : undefined
  }

  async #withLink(invitation: Invitation, secret: string): Promise<OpenedInvitation> {
    return (await this.#options.mail.isReady()) ? invitation : { ...invitation, link: this.#linkOf(secret) }
  }

  #linkOf(secret: string): string {
    return this.#options.mail.urlOf(`/invitations/${secret}`)
  }

  async #addMail(change: Change, invitation: Invitation, secret: string): Promise<void> {
    const { outbox, database } = this.#options
    const view = await this.#view(invitation)
    if (!view) return
    const { kind, id } = invitation.invitedBy
    const inviter = kind === 'user' ? await userById(database, id) : undefined
    await outbox.add(change, invitation.email, invitationMail(view.organization.name, inviter, invitation.role, this.#linkOf(secret)))
  }

  async #requireOwnerFor({ organizationId, holder }: Principal, role: Role): Promise<void> {
    const asking = holder?.kind === 'user' ? await this.#options.members.scopesOfMember(organizationId, holder.userId) : undefined
    if (role === 'owner' && !asking?.owns)
      throw new Refusal('insufficient_scope', 'Only a signed-in owner can give a member the role owner.')
  }

  #get({ organizationId }: Principal, id: string): Promise<Stored<Invitation>> {
    return must(this.#options.database, invitations, { organizationId }, id)
  }

  #record(change: Change, principal: Principal, act: string, { id, email, role }: Invitation): void {
    const { organizationId } = principal
    this.#options.audit.record(change, { organizationId, actor: actorOf(principal), act, target: id, details: { email, role } })
  }
}
