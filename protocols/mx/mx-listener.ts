/** Listening address for mail from other servers, without a login. Decides at RCPT which recipients exist. */
import type { Socket } from 'node:net'
import { isLocalPart, parseDomain } from '#core/addresses.ts'
import type { LiveRoute } from '#core/inbound-routes/route-intake.ts'
import { Refusal } from '#core/refusals.ts'
import type { SMTPServerSession } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionListener } from '../reception/reception-listener.ts'
import { needsSmtpUtf8, noMailbox, refuseDeclaredSize, refuseUnknownParameters, saysSmtpUtf8 } from '../reception/paths.ts'
import type { PathArgument } from '../reception/paths.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import { MxConnection } from './mx-connection.ts'
import { routeOf, testOf, type MxContext } from './mx-context.ts'
import type { MxOptions } from './mx-settings.ts'

const known = new Set(['SIZE', 'BODY', 'SMTPUTF8'])
const none: ReadonlySet<string> = new Set()
/** A session ends at this number of unknown recipients, to stop clients that guess addresses. */
const maxUnknown = 20
/** Maximum octets of a local part that forwarders extended. */
const maxForwarded = 254
/** Maximum number of routes of one mail. */
const maxRoutes = 10

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

  protected override async checkConnect({ remoteAddress }: SMTPServerSession): Promise<void> {
    this.#context.door.checkOpen()
    await this.#context.door.checkClient(remoteAddress).catch(close)
  }

  /**
   * Accepts any sender except a quoted local part, because the server never replies by mail. The address grammar of the core would refuse
   * unusual senders of reports.
   */
  protected override checkMailFrom(path: PathArgument, { remoteAddress }: SMTPServerSession): string | Promise<string> {
    this.#context.door.checkOpen()
    refuseUnknownParameters(path.args || {}, known)
    if (path.eightBit && !(path.args && path.args['SMTPUTF8'] === true)) throw needsSmtpUtf8
    if (path.address.startsWith('"')) throw noMailbox(501, '5.1.7', 'sender', path.address)
    refuseDeclaredSize(path, this.#context.limits.maxMessageBytes)
    const turn = this.#context.door.begin(remoteAddress, true).turn()
    return turn ? turn.then(() => path.address) : path.address
  }

  protected override async checkRcptTo(path: PathArgument, session: SMTPServerSession): Promise<string> {
    const address = readRecipient(path, saysSmtpUtf8(session))
    const { door, recipients } = this.#context
    const recipient = await door.recipientAt(address, session.remoteAddress).catch(close)
    if (recipient.kind === 'inspect') this.#refuseAnotherTest(session)
    if (recipient.kind === 'route') this.#refuseTooManyRoutes(recipient.route, session)
    recipients.set(path, recipient)
    if (recipient.kind !== 'unknown' && recipient.kind !== 'forged') return address
    const unknown = (this.#unknown.get(session) ?? 0) + 1
    this.#unknown.set(session, unknown)
    if (unknown >= maxUnknown) throw new NegativeReply(421, '4.7.0', 'Too many recipients that do not exist; closing the connection.')
    throw new NegativeReply(550, '5.1.1', 'No mailbox or route has this address.')
  }

  #refuseAnotherTest({ envelope: { rcptTo } }: SMTPServerSession): void {
    if (rcptTo.some((path) => testOf(this.#context, path)))
      throw new NegativeReply(452, '4.5.3', 'A message can have one deliverability test as recipient; send it again for the next test.')
  }

  /** Refuses a recipient beyond `maxRoutes`, because the mail is stored once for each route. */
  #refuseTooManyRoutes({ id }: LiveRoute, { envelope: { rcptTo } }: SMTPServerSession): void {
    const routes = new Set(rcptTo.map((path) => routeOf(this.#context, path)?.id).filter((other) => other !== undefined))
    if (routes.add(id).size > maxRoutes)
      throw new NegativeReply(452, '4.5.3', 'Too many different recipients; send the others in a separate mail.')
  }
}

/**
 * Rethrows a refusal of the core as a reply. Too many guesses end the session. To other servers, an exhausted quota is a full mailbox (RFC
 * 3463 §3.3).
 */
function close(error: unknown): never {
  if (error instanceof Refusal && error.code === 'quota_exhausted') throw new NegativeReply(452, '4.2.2', error.message)
  if (error instanceof Refusal && error.code === 'rate_limit_exceeded') throw new NegativeReply(421, '4.7.0', error.message)
  throw error
}

/**
 * Returns the normalized forward-path; `postmaster` without a domain is valid. The local part may exceed the 64 octets of RFC 5321
 * §4.5.3.1.1, because forwarders can wrap a return path twice.
 */
function readRecipient(path: PathArgument, smtpUtf8: boolean): string {
  refuseUnknownParameters(path.args || {}, none)
  if (path.eightBit && !smtpUtf8) throw needsSmtpUtf8
  if (path.address.toLowerCase() === 'postmaster') return 'postmaster'
  const at = path.address.lastIndexOf('@')
  const domain = parseDomain(path.address.slice(at + 1))
  if (domain === undefined || !isLocalPart(path.address.slice(0, at), maxForwarded))
    throw noMailbox(501, '5.1.3', 'recipient', path.address)
  return `${path.address.slice(0, at)}@${domain}`
}
