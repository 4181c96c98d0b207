/** State shared by the listeners and sessions of a server. */
import type { Socket } from 'node:net'
import type { Activity } from '#core/activity.ts'
import type { Clock } from '#core/clock.ts'
import type { SMTPServerSession } from 'smtp-server'
import { ConnectionCaps } from './connection-caps.ts'
import type { ReceptionEvents, ReceptionLimits, SessionFacts } from './reception-settings.ts'
import { isExpected, toSmtpReply, type NegativeReply } from './smtp-reply.ts'

export interface ReceptionParts<Events extends ReceptionEvents> {
  readonly events: Events
  readonly clock: Clock
  readonly limits: ReceptionLimits
  readonly activity?: Activity | undefined
}

export class ReceptionContext<Events extends ReceptionEvents = ReceptionEvents> {
  readonly clock: Clock
  readonly limits: ReceptionLimits
  readonly caps: ConnectionCaps
  readonly events: Events
  readonly activity: Activity | undefined
  /** Accepted socket of each session. */
  readonly sockets = new WeakMap<SMTPServerSession, Socket>()

  constructor({ events, clock, limits, activity }: ReceptionParts<Events>) {
    this.clock = clock
    this.limits = limits
    this.caps = new ConnectionCaps(limits.maxConnections, limits.maxConnectionsPerAddress)
    this.events = events
    this.activity = activity
  }

  /** Returns the reply to a thrown value, and reports the value if it is unexpected. */
  replyTo(thrown: unknown, session: SMTPServerSession): NegativeReply {
    this.report(thrown, session)
    return toSmtpReply(thrown)
  }

  /** Reports a thrown value unless it is an expected refusal. */
  report(thrown: unknown, session: SMTPServerSession): void {
    if (!isExpected(thrown)) this.events.defect(thrown, factsOf(session))
  }
}

const triedUsers = new WeakMap<SMTPServerSession, string>()
const maxTriedCharacters = 64

/** Stores the user name of a login attempt, for the event of its refusal. */
export function noteTriedUser(session: SMTPServerSession, username: string): void {
  triedUsers.set(session, username.slice(0, maxTriedCharacters))
}

export function factsOf(session: SMTPServerSession): SessionFacts {
  const login = session.user as { readonly username: string } | false | undefined
  const { id, remoteAddress, secure } = session
  const facts = { sessionId: id, remoteAddress: remoteAddress ?? '', secure }
  return login ? { ...facts, username: login.username } : { ...facts, username: undefined, triedUsername: triedUsers.get(session) }
}
