/** Listening address of a submission server: answers the package's hooks with the decisions of `SmtpDoor`. */
import type { Socket } from 'node:net'
import type { SMTPServerAuthentication, SMTPServerAuthenticationResponse, SMTPServerSession } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionListener } from '../reception/reception-listener.ts'
import { readForwardPath, saysSmtpUtf8, type PathArgument } from '../reception/paths.ts'
import type { ListenAddress } from '../reception/reception-settings.ts'
import { noteTriedUser } from '../reception/reception-context.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import type { LoginGate } from './auth.ts'
import { SubmissionConnection } from './submission-connection.ts'
import type { SubmissionContext } from './submission-context.ts'
import { checkMailFrom } from './mail-from.ts'
import type { SubmissionOptions } from './submission-settings.ts'
import { TlsRule } from './tls-rule.ts'

const tooMany = new NegativeReply(421, '4.7.0', 'Too many sessions of this user; please close some.')

type AuthAnswer = (error: Error | null | undefined, response?: SMTPServerAuthenticationResponse) => void

export class SubmissionListener extends ReceptionListener {
  readonly #context: SubmissionContext
  readonly #gate: LoginGate
  readonly #tlsRule: TlsRule
  readonly #hostname: string
  readonly #recipients: SubmissionOptions['recipients']

  constructor(context: SubmissionContext, gate: LoginGate, options: SubmissionOptions, address: ListenAddress, insideTls: boolean) {
    const tlsRule = new TlsRule(options, address)
    super(context, options, insideTls, {
      authMethods: ['PLAIN', 'LOGIN'],
      allowInsecureAuth: tlsRule.allowsClear,
      authOptional: context.door.guest !== undefined,
      maxAllowedUnauthenticatedCommands: 25,
    })
    this.#context = context
    this.#gate = gate
    this.#tlsRule = tlsRule
    this.#hostname = options.hostname
    this.#recipients = options.recipients
  }

  override onAuth(auth: SMTPServerAuthentication, session: SMTPServerSession, answer: AuthAnswer): void {
    if (!this.#tlsRule.mayLogIn(session)) return answer(new NegativeReply(530, '5.7.0', 'Must issue a STARTTLS command first'))
    noteTriedUser(session, auth.username ?? '')
    this.#gate.logIn(session, auth).then(
      (login) => answer(this.#context.countsAs(login.username, session) ? null : tooMany, { user: login }),
      (error: unknown) => answer(this.#context.replyTo(error, session)),
    )
  }

  protected override newConnection(socket: Socket, options?: SMTPConnectionOptions | null): SubmissionConnection {
    return new SubmissionConnection(this.#context, this.#tlsRule, this, socket, options)
  }

  protected override checkConnect(): void {
    this.#context.door.checkOpen()
  }

  protected override checkMailFrom(path: PathArgument, session: SMTPServerSession): string | Promise<string> {
    const login = this.#context.loginOf(session)
    this.#context.door.checkOpen()
    const address = checkMailFrom(path, login)
    const turn = login.turn()
    return turn ? turn.then(() => address) : address
  }

  protected override checkRcptTo(path: PathArgument, session: SMTPServerSession): string | Promise<string> {
    this.#context.loginOf(session)
    const address = readForwardPath(path, saysSmtpUtf8(session), this.#hostname)
    return this.#recipients ? this.#asked(this.#recipients, address) : address
  }

  /** Returns the address. Throws the refusal of a simulated recipient. */
  async #asked(recipients: NonNullable<SubmissionOptions['recipients']>, address: string): Promise<string> {
    const refused = await recipients.answer(address, 'submission')
    if (refused) throw new NegativeReply(refused.code, refused.enhanced, refused.text)
    return address
  }
}
