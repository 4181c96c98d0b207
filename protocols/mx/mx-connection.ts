/** Session with another mail server (RFC 5321). Passes reports and routed mail to the core, and mail for the postmaster to a mailbox. */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { ReportReading } from '#core/feedback/event.ts'
import type { ArrivalFacts, LiveRoute, Routed } from '#core/inbound-routes/route-intake.ts'
import type { InspectRecipient } from '#core/inspect/inspect-tests.ts'
import type { InspectSession } from '#core/inspect/report.ts'
import { rfc5322Date } from '#core/submission/compose/compose.ts'
import type { SMTPServer } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionConnection, type Taken } from '../reception/reception-connection.ts'
import { factsOf } from '../reception/reception-context.ts'
import { MessageIntake } from '../reception/message-intake.ts'
import { saysSmtpUtf8 } from '../reception/paths.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import { routeOf, testOf, type MxContext } from './mx-context.ts'
import { MailDraft } from './mail-draft.ts'
import type { Reception } from './mx-settings.ts'

/** Recipients of a mail, by destination. */
interface Recipients {
  readonly returnPaths: readonly string[]
  readonly forPostmaster: boolean
  readonly test: InspectRecipient | undefined
  readonly routed: readonly Routed[]
}

export class MxConnection extends ReceptionConnection {
  protected override readonly help =
    'MAIL, RCPT and DATA as in RFC 5321; accepts mail for return paths, inbound routes, deliverability tests and the postmaster.'
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
    const { postmaster, door } = this.#context
    const { remoteAddress } = this.session
    const reading = door.begin(remoteAddress, true)
    const { returnPaths, forPostmaster, test, routed } = this.#recipients()
    const draft = new MailDraft({
      isRead: forPostmaster || returnPaths.length > 0,
      box: forPostmaster ? postmaster.openMail(this.#sender(), this.#prefix()) : undefined,
      whole: test && door.openInspected(test, remoteAddress),
      routed: routed.length > 0 ? door.openRouted(routed, remoteAddress) : undefined,
    })
    return new MessageIntake({ draft, reading, maxOctets: this.maxMessageBytes(), onDefect: report })
  }

  protected override async take(intake: MessageIntake): Promise<Taken> {
    const work = this.#context.door.begin(this.session.remoteAddress)
    try {
      return await work.run(() => this.#take(intake))
    } finally {
      work.end()
    }
  }

  async #take(intake: MessageIntake): Promise<Taken> {
    const { door, events } = this.#context
    const draft = intake.draft as MailDraft
    if (door.isOurLoop(intake.head())) throw new NegativeReply(554, '5.4.6', 'Mail loop: this service has already processed the message.')
    const { kind, outcomes, isKept, testId } = await this.#takeReport(intake)
    // routes are last: after a retry they would store a second message, and the earlier steps recognize a repeated mail
    const routed = await draft.route(this.#arrival())
    await draft.discard()
    const session = factsOf(this.session)
    const onWritten = (ms: number): void => events.received({ kind, outcomes, routed, isKept, testId, ms }, session)
    return { answer: 'taken', onWritten }
  }

  async #takeReport(intake: MessageIntake): Promise<Pick<Reception, 'kind' | 'outcomes' | 'isKept' | 'testId'>> {
    const { door, readReport } = this.#context
    const draft = intake.draft as MailDraft
    const { returnPaths, forPostmaster, test } = this.#recipients()
    const isReport = forPostmaster || returnPaths.length > 0
    if (!isReport && !test) return { kind: 'none', outcomes: [], isKept: false, testId: null }
    const sender = this.#sender()
    // Return-Path as the final server writes it (RFC 5321 §4.4)
    const raw = Buffer.concat([Buffer.from(`Return-Path: <${sender}>\r\n`), draft.kept])
    // mail that is only for a test is not a report
    const reading: ReportReading = isReport ? await readReport(raw, this.session.remoteAddress) : { kind: 'none', events: [] }
    const whole = draft.takeWhole()
    const inspected = test && whole && { recipient: test, session: this.#inspectSession(intake), draft: whole }
    const outcomes = await door.take({ returnPaths, forPostmaster, hasNullSender: sender === '', reading, raw, inspected })
    // a report that was applied needs no attention of a person
    const isKept = forPostmaster && !outcomes.some(({ result }) => result === 'recorded' || result === 'duplicate')
    if (isKept) await draft.deliver()
    return { kind: reading.kind, outcomes, isKept, testId: test?.id ?? null }
  }

  #recipients(): Recipients {
    const { rcptTo } = this.session.envelope
    const { recipients } = this.#context
    const returnPaths = rcptTo.filter((path) => recipients.get(path)?.kind === 'bounce').map(({ address }) => address)
    const forPostmaster = rcptTo.some((path) => recipients.get(path)?.kind === 'postmaster')
    const routed = new Map<string, { readonly route: LiveRoute; readonly recipients: string[] }>()
    for (const path of rcptTo) {
      const route = routeOf(this.#context, path)
      if (!route) continue
      const one = routed.get(route.id) ?? { route, recipients: [] }
      if (!one.recipients.includes(path.address)) one.recipients.push(path.address)
      routed.set(route.id, one)
    }
    const test = rcptTo.map((path) => testOf(this.#context, path)).find((found) => found !== undefined)
    return { returnPaths, forPostmaster, test, routed: [...routed.values()] }
  }

  /** Describes the session for a deliverability test. */
  #inspectSession({ bareLineEnd }: MessageIntake): InspectSession {
    const { hostname, clock } = this.#context
    const { hostNameAppearsAs, remoteAddress, envelope } = this.session
    const socket = this._socket
    const cipher = socket instanceof TLSSocket ? socket.getCipher() : undefined
    return {
      ...{ clientIp: remoteAddress, helo: hostNameAppearsAs, mailFrom: this.#sender(), serverName: hostname, tlsOffered: true },
      rcptTo: envelope.rcptTo.find((path) => testOf(this.#context, path))?.address ?? '',
      tls: socket instanceof TLSSocket && cipher ? { protocol: socket.getProtocol() ?? '', cipher: cipher.standardName } : null,
      smtpUtf8: saysSmtpUtf8(this.session),
      ...(bareLineEnd && { bareLineEnd }),
      receivedAt: clock.now(),
    }
  }

  #arrival(): ArrivalFacts {
    const { remoteAddress, secure } = this.session
    return { mailFrom: this.#sender(), remoteAddress, helo: this.#clientName(), isEncrypted: secure, prefix: this.#prefix() }
  }

  /** Returns the reverse-path, or an empty string for the null reverse-path. */
  #sender(): string {
    const { mailFrom } = this.session.envelope
    return mailFrom ? mailFrom.address : ''
  }

  /** Returns the Return-Path, the loop mark and the Received field (RFC 5321 §4.4). */
  #prefix(): string {
    const { remoteAddress, transmissionType } = this.session
    const { hostname, clock, door } = this.#context
    // protocol names of RFC 3848 and RFC 6531 §4.3
    const protocol = saysSmtpUtf8(this.session) ? transmissionType.replace('ESMTP', 'UTF8SMTP') : transmissionType
    const address = remoteAddress.includes(':') ? `IPv6:${remoteAddress}` : remoteAddress
    const received = `Received: from ${this.#clientName()} ([${address}])\r\n\tby ${hostname} (Postern) with ${protocol};\r\n\t${rfc5322Date(clock.now())}\r\n`
    return `Return-Path: <${this.#sender()}>\r\n${door.loopMark}${received}`
  }

  #clientName(): string {
    return this.session.hostNameAppearsAs.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'
  }
}
