/** State shared by the listeners and sessions of a submission server: the entry point into the core, and the logins. */
import type { SmtpDoor, SmtpLogin } from '#core/submission/doors/smtp-door.ts'
import type { SMTPServerSession } from 'smtp-server'
import { ReceptionContext } from '../reception/reception-context.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import type { SubmissionEvents, SubmissionOptions } from './submission-settings.ts'

export class SubmissionContext extends ReceptionContext<SubmissionEvents> {
  readonly door: SmtpDoor
  readonly authFailuresPerSession: number

  constructor(options: SubmissionOptions) {
    super(options)
    this.door = options.door
    this.authFailuresPerSession = options.limits.authFailuresPerSession
  }

  /** Counts the session for its user. Returns false if the user has too many sessions. */
  countsAs(username: string, session: SMTPServerSession): boolean {
    const socket = this.sockets.get(session)
    return socket === undefined || this.caps.logIn(socket, username)
  }

  /** Returns the login of a session. Throws a refusal without one. Every step of a message calls this again. */
  loginOf(session: SMTPServerSession): SmtpLogin {
    const login = session.user as SmtpLogin | false | undefined
    if (!login && this.door.guest) return this.door.guest
    if (!login) throw new NegativeReply(530, '5.7.0', 'Authentication required.')
    return login
  }
}
