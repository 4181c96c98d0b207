/** One listening address of a submission server: the decisions of the door behind the hooks of the package. */
import type { Socket } from 'node:net'
import type { SMTPServerAuthentication, SMTPServerAuthenticationResponse, SMTPServerSession } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionListener } from '../reception/listener.ts'
import { readForwardPath, saysSmtpUtf8, type PathArgument } from '../reception/paths.ts'
import type { LoginGate } from './auth.ts'
import { SubmissionConnection } from './connection.ts'
import type { SubmissionContext } from './context.ts'
import { checkMailFrom } from './mail-from.ts'
import type { SubmissionOptions } from './settings.ts'

type AuthAnswer = (error: Error | null | undefined, response?: SMTPServerAuthenticationResponse) => void

export class SubmissionListener extends ReceptionListener {
  readonly #context: SubmissionContext
  readonly #gate: LoginGate

  constructor(context: SubmissionContext, gate: LoginGate, options: SubmissionOptions, insideTls: boolean) {
    super(context, options, insideTls, {
      authMethods: ['PLAIN', 'LOGIN'],
      allowInsecureAuth: options.cleartextAuth === 'loopback',
      maxAllowedUnauthenticatedCommands: 25,
    })
    this.#context = context
    this.#gate = gate
  }

  override onAuth({ username, password }: SMTPServerAuthentication, session: SMTPServerSession, answer: AuthAnswer): void {
    this.#gate.logIn(session, username ?? '', password ?? '').then(
      (login) => answer(null, { user: login }),
      (error: unknown) => answer(this.#context.replyTo(error, session)),
    )
  }

  protected override newConnection(socket: Socket, options?: SMTPConnectionOptions | null): SubmissionConnection {
    return new SubmissionConnection(this.#context, this, socket, options)
  }

  protected override checkConnect(): void {
    this.#context.door.checkOpen()
  }

  protected override checkMailFrom(path: PathArgument, session: SMTPServerSession): string {
    const login = this.#context.loginOf(session)
    this.#context.door.checkOpen()
    return checkMailFrom(path, login)
  }

  protected override checkRcptTo(path: PathArgument, session: SMTPServerSession): string {
    this.#context.loginOf(session)
    return readForwardPath(path, saysSmtpUtf8(session))
  }
}
