/** One listening address for mail from other servers: whom it is for is decided at RCPT, and nobody logs in. */
import type { Socket } from 'node:net'
import type { RecipientKind } from '#core/inbound/recipient-kind.ts'
import { Refusal } from '#core/refusals.ts'
import type { SMTPServerSession } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionListener } from '../reception/listener.ts'
import { needsSmtpUtf8, readForwardPath, refuseDeclaredSize, refuseUnknownParameters, saysSmtpUtf8 } from '../reception/paths.ts'
import type { PathArgument } from '../reception/paths.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import { MxConnection } from './connection.ts'
import type { MxContext } from './context.ts'
import type { MxOptions } from './settings.ts'

const known = new Set(['SIZE', 'BODY', 'SMTPUTF8'])
/** Recipients that do not exist, after which a session ends: lists of guesses are not worth our time. */
const unknownMax = 20

export class MxListener extends ReceptionListener {
  readonly #context: MxContext
  readonly #unknown = new WeakMap<SMTPServerSession, number>()

  constructor(context: MxContext, options: MxOptions) {
    super(context, options, false, { authOptional: true })
    this.#context = context
  }

  protected override newConnection(socket: Socket, options?: SMTPConnectionOptions | null): MxConnection {
    return new MxConnection(this.#context, this, socket, options)
  }

  protected override checkConnect({ remoteAddress }: SMTPServerSession): void {
    this.#context.door.checkOpen()
    this.#context.door.checkClient(remoteAddress)
  }

  /** Any sender will do, as nothing is ever answered by mail; our own grammar would keep odd reports away. */
  protected override checkMailFrom(path: PathArgument): string {
    this.#context.door.checkOpen()
    refuseUnknownParameters(path.args || {}, known)
    if (path.eightBit && !(path.args && path.args['SMTPUTF8'] === true)) throw needsSmtpUtf8
    refuseDeclaredSize(path, this.#context.limits.maxMessageBytes)
    return path.address
  }

  protected override checkRcptTo(path: PathArgument, session: SMTPServerSession): string {
    const address = path.address.toLowerCase() === 'postmaster' ? 'postmaster' : readForwardPath(path, saysSmtpUtf8(session))
    const kind = this.#lookUp(address, session)
    this.#context.kinds.set(path, kind)
    if (kind === 'bounce' || kind === 'postmaster') return address
    const unknown = (this.#unknown.get(session) ?? 0) + 1
    this.#unknown.set(session, unknown)
    if (unknown >= unknownMax) throw new NegativeReply(421, '4.7.0', 'Too many recipients that do not exist; closing the connection.')
    throw new NegativeReply(550, '5.1.1', 'There is nobody at this address.')
  }

  #lookUp(address: string, { remoteAddress }: SMTPServerSession): RecipientKind {
    try {
      return this.#context.door.kindOf(address, remoteAddress)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limit_exceeded') throw new NegativeReply(421, '4.7.0', error.message)
      throw error
    }
  }
}
