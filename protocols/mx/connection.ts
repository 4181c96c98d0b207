/** One session with another mail server (RFC 5321): reports go to the core, the postmaster's mail into a box, and nothing goes out. */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { ReportReading } from '#core/feedback/event.ts'
import type { RecipientKind } from '#core/inbound/recipient-kind.ts'
import type { InspectRecipient } from '#core/inspect/inspect-tests.ts'
import type { InspectSession } from '#core/inspect/report.ts'
import { rfc5322Date } from '#core/submission/compose.ts'
import type { SMTPServer, SMTPServerAddress } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionConnection, type Taken } from '../reception/connection.ts'
import { factsOf } from '../reception/context.ts'
import { MessageIntake } from '../reception/message-intake.ts'
import { saysSmtpUtf8 } from '../reception/paths.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import type { MxContext } from './context.ts'
import { MailDraft } from './mail-draft.ts'

export class MxConnection extends ReceptionConnection {
  protected override readonly help =
    'MAIL, RCPT and DATA as in RFC 5321; mail is taken for return paths, deliverability tests and the postmaster.'
  readonly #context: MxContext

  constructor(context: MxContext, server: SMTPServer, socket: Socket, options?: SMTPConnectionOptions | null) {
    super(context, server, socket, options)
    this.#context = context
  }

  protected override ownFeatures(): readonly string[] {
    return []
  }

  protected override maxMessageBytes(): number {
    return this.#context.limits.maxMessageBytes
  }

  protected override checkMessage(): void {
    this.#context.door.checkOpen()
  }

  protected override openMessage(report: (error: unknown) => void): MessageIntake {
    const { postmaster } = this.#context
    const box = this.#recipients().forPostmaster ? postmaster.openMail(this.#prefix()) : undefined
    const { inspect } = this.#recipients()
    return new MessageIntake(new MailDraft(box, inspect && this.#context.door.openInspected(inspect)), this.maxMessageBytes(), report)
  }

  protected override async take(intake: MessageIntake): Promise<Taken> {
    const { door, readReport, events } = this.#context
    const draft = intake.draft as MailDraft
    if (door.isOurLoop(intake.head())) throw new NegativeReply(554, '5.4.6', 'This service has passed the message on before.')
    const sender = this.#sender()
    // as the last server writes it, for whoever reads the mail (RFC 5321 §4.4)
    const raw = Buffer.concat([Buffer.from(`Return-Path: <${sender}>\r\n`), draft.kept])
    const hasNullSender = sender === ''
    const { inspect, ...recipients } = this.#recipients()
    // what is for a test alone is no report to anybody
    const isReport = recipients.forPostmaster || recipients.returnPaths.length > 0
    const reading: ReportReading = isReport ? readReport(raw) : { kind: 'none', events: [] }
    const whole = draft.takeWhole()
    const inspected = inspect && whole && { recipient: inspect, session: this.#inspectSession(), draft: whole }
    const outcomes = await door.take({ ...recipients, hasNullSender, reading, raw, inspected })
    // what was understood needs no person
    const isKept = recipients.forPostmaster && !outcomes.some(({ result }) => result === 'recorded' || result === 'duplicate')
    if (isKept) await draft.deliver()
    await draft.discard()
    const session = factsOf(this.session)
    const tell = (ms: number): void => events.received({ kind: reading.kind, outcomes, isKept, testId: inspect?.id ?? null, ms }, session)
    return { answer: 'taken', tell }
  }

  #recipients(): {
    readonly returnPaths: readonly string[]
    readonly forPostmaster: boolean
    readonly inspect: InspectRecipient | undefined
  } {
    const { rcptTo } = this.session.envelope
    const { recipients } = this.#context
    const isOf = (kind: RecipientKind) => (path: SMTPServerAddress) => recipients.get(path)?.kind === kind
    return {
      returnPaths: rcptTo.filter(isOf('bounce')).map(({ address }) => address),
      forPostmaster: rcptTo.some(isOf('postmaster')),
      inspect: rcptTo.map((path) => recipients.get(path)?.inspect).find((found) => found !== undefined),
    }
  }

  /** How the mail came, for the test that looks into it. */
  #inspectSession(): InspectSession {
    const { hostname, clock, recipients } = this.#context
    const { hostNameAppearsAs, remoteAddress, envelope } = this.session
    const socket = this._socket
    const cipher = socket instanceof TLSSocket ? socket.getCipher() : undefined
    return {
      ...{ clientIp: remoteAddress, helo: hostNameAppearsAs, mailFrom: this.#sender(), serverName: hostname, tlsOffered: true },
      rcptTo: envelope.rcptTo.find((path) => recipients.get(path)?.inspect)?.address ?? '',
      tls: socket instanceof TLSSocket && cipher ? { protocol: socket.getProtocol() ?? '', cipher: cipher.standardName } : null,
      smtpUtf8: saysSmtpUtf8(this.session),
      receivedAt: clock.now(),
    }
  }

  /** The reverse-path, empty when it is null. */
  #sender(): string {
    const { mailFrom } = this.session.envelope
    return mailFrom ? mailFrom.address : ''
  }

  /** RFC 5321 §4.4. */
  #prefix(): string {
    const { hostNameAppearsAs, remoteAddress, secure } = this.session
    const { hostname, clock, door } = this.#context
    const helo = hostNameAppearsAs.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'
    const received = `Received: from ${helo} ([${remoteAddress}])\r\n\tby ${hostname} (Postern) with ${secure ? 'ESMTPS' : 'ESMTP'};\r\n\t${rfc5322Date(clock.now())}\r\n`
    return `Return-Path: <${this.#sender()}>\r\n${door.loopMark}${received}`
  }
}
