/** What the listeners and sessions of one submission server share. */
import { BlockList, isIPv6 } from 'node:net'
import type { Clock } from '#core/clock.ts'
import type { SmtpDoor, SmtpLogin } from '#core/submission/smtp-door.ts'
import type { SMTPServerSession } from 'smtp-server'
import { ConnectionCaps } from './connection-caps.ts'
import type { SessionFacts, SubmissionEvents, SubmissionLimits, SubmissionOptions } from './settings.ts'
import { isExpected, NegativeReply, toSmtpReply } from './smtp-reply.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const isLoopback = (address: string): boolean => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

export class SubmissionContext {
  readonly door: SmtpDoor
  readonly events: SubmissionEvents
  readonly clock: Clock
  readonly limits: SubmissionLimits
  readonly caps: ConnectionCaps
  readonly #cleartextAuth: SubmissionOptions['cleartextAuth']

  constructor({ door, events, clock, limits, cleartextAuth }: SubmissionOptions) {
    this.door = door
    this.events = events
    this.clock = clock
    this.limits = limits
    this.caps = new ConnectionCaps(limits.maxConnections, limits.maxConnectionsPerAddress)
    this.#cleartextAuth = cleartextAuth
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

  /** The reply for something thrown; what was not expected is reported. */
  replyTo(thrown: unknown, session: SMTPServerSession): NegativeReply {
    this.report(thrown, session)
    return toSmtpReply(thrown)
  }

  /** Reports what is not an expected refusal. */
  report(thrown: unknown, session: SMTPServerSession): void {
    if (!isExpected(thrown)) this.events.defect(thrown, factsOf(session))
  }
}

export function factsOf(session: SMTPServerSession): SessionFacts {
  const login = session.user as SmtpLogin | false | undefined
  const { id, remoteAddress, secure } = session
  return { sessionId: id, remoteAddress: remoteAddress ?? '', secure, username: login ? login.username : undefined }
}
