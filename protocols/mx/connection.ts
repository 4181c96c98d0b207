/** One session with another mail server (RFC 5321): reports and mail for routes go to the core, the postmaster's mail into a box, and nothing goes out. */
import type { Socket } from 'node:net'
import type { ArrivalFacts, LiveRoute, Routed } from '#core/inbound-routes/intake.ts'
import { rfc5322Date } from '#core/submission/compose.ts'
import type { SMTPServer } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionConnection, type Taken } from '../reception/connection.ts'
import { factsOf } from '../reception/context.ts'
import { MessageIntake } from '../reception/message-intake.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import { routeOf, type MxContext } from './context.ts'
import { MailDraft } from './mail-draft.ts'
import type { Reception } from './settings.ts'

export class MxConnection extends ReceptionConnection {
  protected override readonly help =
    'MAIL, RCPT and DATA as in RFC 5321; mail is taken for return paths, inbound routes and the postmaster.'
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
    const { forPostmaster, routed } = this.#recipients()
    const box = forPostmaster ? postmaster.openMail(this.#prefix()) : undefined
    const draft = new MailDraft(box, routed.length > 0 ? door.openRouted(routed) : undefined)
    return new MessageIntake(draft, this.maxMessageBytes(), report)
  }

  protected override async take(intake: MessageIntake): Promise<Taken> {
    const { door, events } = this.#context
    const draft = intake.draft as MailDraft
    if (door.isOurLoop(intake.head())) throw new NegativeReply(554, '5.4.6', 'This service has passed the message on before.')
    const { kind, outcomes, isKept } = await this.#takeReport(draft)
    // last, as a mail that is tried again would be a second one there, and what comes before knows it again
    const routed = await draft.route(this.#arrival())
    await draft.discard()
    const session = factsOf(this.session)
    const tell = (ms: number): void => events.received({ kind, outcomes, routed, isKept, ms }, session)
    return { answer: 'taken', tell }
  }

  async #takeReport(draft: MailDraft): Promise<Pick<Reception, 'kind' | 'outcomes' | 'isKept'>> {
    const { door, readReport } = this.#context
    const { returnPaths, forPostmaster } = this.#recipients()
    if (returnPaths.length === 0 && !forPostmaster) return { kind: 'none', outcomes: [], isKept: false }
    const sender = this.#sender()
    // as the last server writes it, for whoever reads the mail (RFC 5321 §4.4)
    const raw = Buffer.concat([Buffer.from(`Return-Path: <${sender}>\r\n`), draft.kept])
    const reading = readReport(raw)
    const outcomes = await door.take({ returnPaths, forPostmaster, hasNullSender: sender === '', reading, raw })
    // what was understood needs no person
    const isKept = forPostmaster && !outcomes.some(({ result }) => result === 'recorded' || result === 'duplicate')
    if (isKept) await draft.deliver()
    return { kind: reading.kind, outcomes, isKept }
  }

  #recipients(): { readonly returnPaths: readonly string[]; readonly forPostmaster: boolean; readonly routed: readonly Routed[] } {
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
    return { returnPaths, forPostmaster, routed: [...routed.values()] }
  }

  #arrival(): ArrivalFacts {
    const { remoteAddress, secure } = this.session
    return { mailFrom: this.#sender(), remoteAddress, helo: this.#clientName(), isEncrypted: secure, prefix: this.#prefix() }
  }

  /** The reverse-path, empty when it is null. */
  #sender(): string {
    const { mailFrom } = this.session.envelope
    return mailFrom ? mailFrom.address : ''
  }

  /** RFC 5321 §4.4. */
  #prefix(): string {
    const { remoteAddress, secure } = this.session
    const { hostname, clock, door } = this.#context
    const received = `Received: from ${this.#clientName()} ([${remoteAddress}])\r\n\tby ${hostname} (Postern) with ${secure ? 'ESMTPS' : 'ESMTP'};\r\n\t${rfc5322Date(clock.now())}\r\n`
    return `Return-Path: <${this.#sender()}>\r\n${door.loopMark}${received}`
  }

  #clientName(): string {
    return this.session.hostNameAppearsAs.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'
  }
}
