/** Changes that users make to their own accounts. */
import type { Core } from '../core.ts'
import { addOrganization } from '../beginnings/new-organization.ts'
import { Refusal } from '../refusals.ts'
import type { SignUp } from './sign-in/login-links.ts'
import { members, membershipsOf } from './members/member.ts'
import type { Notices } from './account-notices.ts'
import type { Session } from './sign-in/session.ts'
import type { Sessions } from './sign-in/sessions.ts'
import { peoplePartition, readName, readOrganizationName, renameUser, type User } from './users/user.ts'

export interface AccountOptions extends Core {
  readonly sessions: Sessions
  readonly notices: Notices
  readonly signUp: SignUp
}

export class Accounts {
  readonly #options: AccountOptions

  constructor(options: AccountOptions) {
    this.#options = options
  }

  /** Returns the trimmed name. Throws `validation_failed` if it is too long or has more than one line. */
  async rename(user: User, name: string): Promise<string> {
    const { writes, database } = this.#options
    const text = readName(name, 'name')
    await writes.run(peoplePartition, (change) => renameUser(database, change, user.id, text))
    return text
  }

  /** Ends a session of the user and sends a notice, because the session can belong to another browser. */
  async endSession(user: User, sessionId: string): Promise<void> {
    const { sessions, notices } = this.#options
    const count = await sessions.revoke(user.id, sessionId)
    if (count > 0) notices.sessionsEnded(user, count)
  }

  /** Ends every other session of the user and sends a notice. Returns their number. */
  async endOtherSessions(user: User, session: Session): Promise<number> {
    const { sessions, notices } = this.#options
    const count = await sessions.revokeOthers(user.id, session.id)
    if (count > 0) notices.sessionsEnded(user, count)
    return count
  }

  /** Returns whether the user can create an organization: sign-up is open, and the user has no membership. */
  async mayFound(user: User): Promise<boolean> {
    const { signUp, database } = this.#options
    return signUp === 'open' && (await membershipsOf(database, user.id)).length === 0
  }

  /**
   * Creates an organization on plan Free with a project named Default, and makes the user the owner of the organization. Returns the id of
   * the organization.
   */
  async found(user: User, name: string): Promise<string> {
    const { database, clock, audit, writes } = this.#options
    const text = readOrganizationName(name)
    return writes.run(user.id, async (change) => {
      if (!(await this.mayFound(user)))
        throw new Refusal('insufficient_scope', 'You cannot create an organization here; ask for an invitation.')
      const now = clock.now()
      const project = { name: 'Default', status: 'claimed' as const }
      const { organizationId } = addOrganization(database, change, { name: text, plan: 'free', project, now })
      change.insert(members, organizationId, { id: user.id, organizationId, role: 'owner' as const, joinedAt: now })
      const actor = { kind: 'user', id: user.id } as const
      audit.record(change, { organizationId, actor, act: 'organization.created', target: organizationId, details: { name: text } })
      return organizationId
    })
  }
}
