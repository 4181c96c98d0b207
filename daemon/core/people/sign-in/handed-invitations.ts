/**
 * Invitations of a service that sends no mail: an administrator hands the link over, and its reader joins as the invited address. Only the
 * administrator vouches for the address. The link therefore creates new accounts only; the owner of an existing account must sign in. The
 * address of the new user counts as unproved. Other invitations and agents' claims for that address require a sign-in link, which proves
 * it.
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

  /**
   * Returns whether the link alone lets its reader join. Requires that the service sends no mail, accepts new users, and has no account
   * with this address.
   */
  async mayJoin({ email }: Invitation): Promise<boolean> {
    const { database, mail, signUp } = this.#options
    return signUp !== 'closed' && !(await mail.isReady()) && (await userByEmail(database, email)) === undefined
  }

  /**
   * Creates the user and the membership, signs the user in, and uses up the link. Throws `not_found` for invalid links, and `conflict` if
   * the reader must sign in instead.
   */
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
