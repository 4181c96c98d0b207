/** Mails to users about changes of their accounts. Sent after the change, if mail of the service is configured. */
import type { Database } from '#store/database.ts'
import type { Background } from './users/background-work.ts'
import { passkeyMail, removedMail, reuseMail, roleMail, sessionsMail, type MailText } from './mail/mail-texts.ts'
import type { MemberNotices } from './members/members.ts'
import type { PasskeyNotices } from './sign-in/passkeys.ts'
import type { SystemMail } from './mail/system-mail.ts'
import { userById, type User } from './users/user.ts'

export interface Notices extends MemberNotices, PasskeyNotices {
  sessionsEnded(user: User, count: number): void
  /** A refresh token of an application was used twice. The application lost its access, and the API keys with these names were revoked. */
  accessEnded(userId: string, clientName: string, endedKeys: readonly string[]): void
}

export function mailedNotices(database: Database, mail: SystemMail, background: Background): Notices {
  const send = async (user: User | undefined, text: MailText): Promise<void> => {
    if (user && (await mail.isReady())) await mail.send(user.email, text)
  }
  const notify = (user: User, text: MailText): void => background.run(() => send(user, text))
  const account = mail.urlOf('/settings/you')
  return {
    roleChanged: (user, { name }, role) => notify(user, roleMail(name, role, mail.urlOf('/organizations'))),
    removed: (user, { name }) => notify(user, removedMail(name)),
    passkeyAdded: (user, { name }) => notify(user, passkeyMail(name, 'added', account)),
    passkeyRemoved: (user, { name }) => notify(user, passkeyMail(name, 'removed', account)),
    sessionsEnded: (user, count) => notify(user, sessionsMail(count, account)),
    accessEnded: (userId, clientName, endedKeys) =>
      background.run(async () =>
        send(await userById(database, userId), reuseMail(clientName, endedKeys, mail.urlOf('/account/applications'))),
      ),
  }
}
