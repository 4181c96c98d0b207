/** Creates all services for users, sign-in and members, for the pages, the REST API and the command line. */
import type { Core } from '../core.ts'
import type { Accept } from '../submission/accept/accept.ts'
import { Accounts } from './accounts.ts'
import { Background } from './users/background-work.ts'
import { Challenges } from './sign-in/challenges.ts'
import { HandedInvitations } from './sign-in/handed-invitations.ts'
import { Invitations } from './members/invitations.ts'
import { LoginLinks, type SignUp } from './sign-in/login-links.ts'
import { Members } from './members/members.ts'
import { mailedNotices, type Notices } from './account-notices.ts'
import { approvalNotices } from './mail/approval-notices.ts'
import { domainNotices } from './mail/domain-notices.ts'
import type { MemberNotices } from './mail/member-notices.ts'
import { MailChoices } from './mail-choices.ts'
import { Outbox } from './mail/outbox.ts'
import { Passkeys } from './sign-in/passkeys.ts'
import { relyingPartyOf, type RelyingParty } from './sign-in/relying-party.ts'
import { Sessions } from './sign-in/sessions.ts'
import { SystemMail } from './mail/system-mail.ts'

export interface PeopleOptions extends Core {
  readonly accept: Accept
  /** Base URL of the dashboard and pages, without a trailing slash. */
  readonly baseUrl: string
  readonly signUp: SignUp
  readonly systemMail: { readonly destination: readonly string[] | null; readonly from: string | null }
  readonly onError: (error: unknown) => void
}

export interface People {
  readonly members: Members
  readonly invitations: Invitations
  readonly handedInvitations: HandedInvitations
  readonly sessions: Sessions
  readonly loginLinks: LoginLinks
  readonly passkeys: Passkeys
  readonly accounts: Accounts
  readonly mailChoices: MailChoices
  readonly mail: SystemMail
  readonly notices: Notices
  /** Stored mail of writes; call `wake` at every start to send mail that remains after a crash. */
  readonly outbox: Outbox
  readonly approvalNotices: MemberNotices
  readonly domainNotices: MemberNotices
  readonly relyingParty: RelyingParty
  /** Mail that is being sent; await it before closing the store. */
  readonly background: Background
}

export function people(options: PeopleOptions): People {
  const { accept, baseUrl, signUp, systemMail, onError, ...core } = options
  const background = new Background(onError)
  const mail = new SystemMail({ ...core, accept, destinationIds: systemMail.destination ?? [], from: systemMail.from, baseUrl })
  const outbox = new Outbox({ ...core, mail, background })
  const notices = mailedNotices(core.database, mail, background)
  const sessions = new Sessions(core)
  const members = new Members({ ...core, notices })
  const invitations = new Invitations({ ...core, members, mail, outbox })
  const relyingParty = relyingPartyOf(baseUrl)
  const passkeys = new Passkeys({ ...core, sessions, challenges: new Challenges(core.secrets), relyingParty, notices })
  return {
    ...{ members, invitations, sessions, mail, notices, outbox, relyingParty, background },
    handedInvitations: new HandedInvitations({ ...core, sessions, invitations, mail, signUp }),
    loginLinks: new LoginLinks({ ...core, sessions, passkeys, invitations, mail, background, signUp }),
    passkeys,
    approvalNotices: approvalNotices({ ...core, mail, outbox, onError }),
    domainNotices: domainNotices({ ...core, mail, outbox, onError }),
    accounts: new Accounts({ ...core, sessions, notices, signUp }),
    mailChoices: new MailChoices(core),
  }
}
