/** What users are told by mail about their account; sent after the act, where mail is configured. */
import type { Background } from './background.ts'
import { passkeyMail, removedMail, roleMail, sessionsMail, type MailText } from './mail-texts.ts'
import type { MemberNotices } from './members.ts'
import type { PasskeyNotices } from './passkeys.ts'
import type { SystemMail } from './system-mail.ts'
import type { User } from './user.ts'

export interface Notices extends MemberNotices, PasskeyNotices {
  sessionsEnded(user: User, count: number): void
}

export function mailedNotices(mail: SystemMail, background: Background): Notices {
  const tell = ({ email }: User, text: MailText): void =>
    background.run(async () => {
      if (await mail.isReady()) await mail.send(email, text)
    })
  const account = mail.urlOf('/account')
  return {
    roleChanged: (user, { name }, role) => tell(user, roleMail(name, role, mail.urlOf('/organizations'))),
    removed: (user, { name }) => tell(user, removedMail(name)),
    passkeyAdded: (user, { name }) => tell(user, passkeyMail(name, 'added', account)),
    passkeyRemoved: (user, { name }) => tell(user, passkeyMail(name, 'removed', account)),
    sessionsEnded: (user, count) => tell(user, sessionsMail(count, account)),
  }
}
