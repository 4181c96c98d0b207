/** Session of a submission server (RFC 6409): adds the login to a session that receives mail. */
import type { Socket } from 'node:net'
import type { Acceptance } from '#core/submission/submission.ts'
import type { SMTPServer } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionConnection, type Resume, type Taken } from '../reception/reception-connection.ts'
import { factsOf } from '../reception/reception-context.ts'
import { MessageIntake } from '../reception/message-intake.ts'
import { saysSmtpUtf8 } from '../reception/paths.ts'
import type { SubmissionContext } from './submission-context.ts'
import type { TlsRule } from './tls-rule.ts'

export class SubmissionConnection extends ReceptionConnection {
  protected override readonly help = 'Log in, then MAIL, RCPT and DATA as in RFC 6409.'
  readonly #context: SubmissionContext
  readonly #tlsRule: TlsRule

  constructor(context: SubmissionContext, tlsRule: TlsRule, server: SMTPServer, socket: Socket, options?: SMTPConnectionOptions | null) {
    super(context, server, socket, options)
    this.#context = context
    this.#tlsRule = tlsRule
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    super.send(code, code === 530 ? this.#authenticationRequired() : data, context)
  }

  protected override serves(command: string): boolean {
    return command === 'AUTH' || super.serves(command)
  }

  override handler_AUTH(command: Buffer, resume: Resume): void {
    if (this.#tlsRule.mayLogIn(this)) return super.handler_AUTH(command, resume)
    this.send(530)
    resume()
  }

  protected override announcesStartTls(): boolean {
    return this.#tlsRule.announcesStartTls(this)
  }

  protected override ownFeatures(): readonly string[] {
    return !this.session.user && this.#tlsRule.mayLogIn(this) ? ['AUTH PLAIN LOGIN'] : []
  }

  protected override maxMessageBytes(): number {
    return this.session.user ? this.#context.loginOf(this.session).maxMessageBytes() : this.#context.limits.maxMessageBytes
  }

  protected override checkMessage(): void {
    this.#context.loginOf(this.session)
  }

  protected override openMessage(report: (error: unknown) => void): MessageIntake {
    const login = this.#context.loginOf(this.session)
    return new MessageIntake({
      draft: login.openDraft(),
      reading: login.openReading(),
      maxOctets: login.maxMessageBytes(),
      onDefect: report,
    })
  }

  protected override async take(intake: MessageIntake): Promise<Taken> {
    const { envelope, hostNameAppearsAs, remoteAddress, secure } = this.session
    const given = envelope.rcptTo.map(({ address }) => address)
    const rcptTo = given.length > 1 ? [...new Set(given)] : given
    const acceptance = await this.#context.loginOf(this.session).submit({
      mailFrom: envelope.mailFrom ? envelope.mailFrom.address : '',
      rcptTo,
      draft: intake.draft,
      head: intake.head(),
      eightBit: intake.eightBit,
      smtpUtf8: saysSmtpUtf8(this.session),
      helo: hostNameAppearsAs,
      remoteAddress,
      protocol: secure ? 'ESMTPSA' : 'ESMTPA',
    })
    const onWritten = (ms: number): void => this.#context.events.accepted(acceptance.traceId, ms, factsOf(this.session))
    return { answer: acceptedAs(acceptance), onWritten }
  }

  #authenticationRequired(): string {
    return this.#tlsRule.mayLogIn(this) ? '5.7.0 Authentication required.' : '5.7.0 Must issue a STARTTLS command first.'
  }
}

/** Returns the text of the reply, which RFC 5321 leaves to the server: the trace id, and whether and why the message was captured. */
function acceptedAs({ traceId, outcome, status }: Acceptance): string {
  if (status === 'suppressed') return `suppressed as ${traceId} (every recipient is on the suppression list; nothing is sent)`
  return outcome === 'relayed' ? `queued as ${traceId}` : `captured as ${traceId} (${outcome.replace(/^captured\./, '')})`
}
