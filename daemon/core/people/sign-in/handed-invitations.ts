/**
 * Invitations of a service that sends no mail of its own: an administrator hands the link over, and whoever has it joins as the
 * invited address. Nothing proves the address then but the administrator's word, so the link makes new accounts only: an
 * account that exists is entered by what its owner has. The address of such a user is not proved: invitations of
 * others and claims of agents for that address are not theirs until a sign-in link proves it.
 */
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import type { Invitation } from '../members/invitation.ts'
import type { Invitations } from '../members/invitations.ts'
import type { SignUp } from './login-links.ts'
import type { BegunSession, Browser, Sessions } from './sessions.ts'
import type { SystemMail } from '../mail/system-mail.ts'
import { addUser, userByEmail } from '../users/user.ts'

export interface HandedInvitationOptions extends Core {
  readonly sessions: Sessions
  readonly invitations: Invitations
  readonly mail: SystemMail
  readonly signUp: SignUp
}

export class HandedInvitations {
  readonly #options: HandedInvitationOptions

  constructor(options: HandedInvitationOptions) {
    this.#options = options
  }

  /** Whether the link alone lets its reader join: the service sends no mail, takes new users, and the address has no account. */
  async mayJoin({ email }: Invitation): Promise<boolean> {
    const { database, mail, signUp } = this.#options
    return signUp !== 'closed' && !(await mail.isReady()) && (await userByEmail(database, email)) === undefined
  }

  /** Makes the user and member, signs in, and uses the link up. Throws `not_found` for dead links, `conflict` where a login is needed. */
  async join(secret: string, browser: Browser): Promise<BegunSession> {
    const { database, writes, invitations, sessions, clock } = this.#options
    const { invitation } = await invitations.look(secret)
    const { organizationId, email, id } = invitation
    return writes.run(organizationId, async (change) => {
      const { invitation: current } = await invitations.look(secret)
      if (current.id !== id || !(await this.mayJoin(current)))
        throw new Refusal(
          'conflict',
          'This address has an account, or the service now sends mail: sign in with it to accept the invitation.',
        )
      const user = addUser(database, change, email, clock.now(), { isUnproved: true })
      await invitations.acceptIn(change, user, organizationId, id, secret)
      return sessions.begin(change, user.id, 'link', browser)
    })
  }
}
