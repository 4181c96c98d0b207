/** What the listeners and sessions of one submission server share: the door, who may log in, and who is logged in. */
import { BlockList, isIPv6 } from 'node:net'
import type { SmtpDoor, SmtpLogin } from '#core/submission/smtp-door.ts'
import type { SMTPServerSession } from 'smtp-server'
import { ReceptionContext } from '../reception/context.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import type { SubmissionEvents, SubmissionOptions } from './settings.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const isLoopback = (address: string): boolean => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

export class SubmissionContext extends ReceptionContext<SubmissionEvents> {
  readonly door: SmtpDoor
  readonly authFailuresPerSession: number
  readonly #cleartextAuth: SubmissionOptions['cleartextAuth']

  constructor(options: SubmissionOptions) {
    super(options)
    this.door = options.door
    this.authFailuresPerSession = options.limits.authFailuresPerSession
    this.#cleartextAuth = options.cleartextAuth
  }

  /** Whether a password may travel on this connection (RFC 4954 §4). */
  mayLogIn({ secure, remoteAddress }: Pick<SMTPServerSession, 'secure' | 'remoteAddress'>): boolean {
    return secure || (this.#cleartextAuth === 'loopback' && isLoopback(remoteAddress))
  }

  /** The login of a session; a refusal when there is none. Every step of a message asks again. */
  loginOf(session: SMTPServerSession): SmtpLogin {
    const login = session.user as SmtpLogin | false | undefined
    if (!login) throw new NegativeReply(530, '5.7.0', 'Authentication required.')
    return login
  }
}
