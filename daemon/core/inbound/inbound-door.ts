/** The core's interface for the MX listener: finds recipients and accepts mail. Spec "Bounce and complaint ingestion". */
import type { Core } from '../core.ts'
import { clientNetwork } from '../access/client-network.ts'
import type { Fairness } from '../fairness/fairness.ts'
import type { Work } from '../fairness/work.ts'
import { RateWindow } from '../visitors/rate-window.ts'
import type { ReportReading } from '../feedback/event.ts'
import type { FeedbackResult, FeedbackTaker } from '../feedback/feedback-origin.ts'
import type { LiveRoute, RoutedMail, RouteIntake, Routed } from '../inbound-routes/route-intake.ts'
import type { InspectRecipient, InspectTests } from '../inspect/inspect-tests.ts'
import type { InspectSession } from '../inspect/report.ts'
import { recipientOfVerp } from '../trace/return-paths.ts'
import type { Draft } from '#store/content.ts'
import { hasLoopMark, loopMarkField } from './loop-mark.ts'
import { mailboxAt, recipientKind, type RecipientKind } from './recipient-kind.ts'
import { unparsedBounce } from './unparsed-bounce.ts'

export interface InboundDoorOptions extends Core {
  readonly feedback: FeedbackTaker
  /** Throws if no mail may be accepted now. */
  readonly admission: { check(): void }
  readonly fairness: Fairness
  /** A-label domain of return paths and operator addresses; null if none is configured. */
  readonly inboundDomain: string | null
  readonly inspectTests: Pick<InspectTests, 'isOurs' | 'recipientOf' | 'openMail' | 'receive'>
  readonly routes: RouteIntake
}

/** The kind of a recipient address, with its test or route. */
export type Recipient =
  | { readonly kind: Exclude<RecipientKind, 'inspect'> }
  | { readonly kind: 'inspect'; readonly test: InspectRecipient }
  | { readonly kind: 'route'; readonly route: LiveRoute }

/** A completely received mail. */
export interface InboundMail {
  /** Return paths among its recipients, as given. */
  readonly returnPaths: readonly string[]
  /** The mail is also for the operators of the service. */
  readonly forPostmaster: boolean
  readonly hasNullSender: boolean
  readonly reading: ReportReading
  /** The mail; only the first part of a long mail. */
  readonly raw: Uint8Array
  /** Present if a recipient is a deliverability test. */
  readonly inspected: InspectedMail | undefined
}

/** A whole mail for a deliverability test, with its SMTP session. */
export interface InspectedMail {
  readonly recipient: InspectRecipient
  readonly session: InspectSession
  readonly draft: Draft
}

/** `expired`: the return path is genuine but no longer stored, or its trace is removed. */
export interface InboundOutcome {
  readonly traceId: string | null
  readonly result: FeedbackResult | 'expired'
}

/** Limits guesses of return paths per network. Each guess succeeds with a probability of 2^-50. */
const forgedLimit = {
  name: 'unknown return paths',
  windowMs: 3_600_000,
  most: 20,
  message: 'Too many unknown return paths from your network; please try again in an hour.',
}

export class InboundDoor {
  readonly #options: InboundDoorOptions
  readonly #forged: RateWindow

  constructor(options: InboundDoorOptions) {
    this.#options = options
    this.#forged = new RateWindow(options, forgedLimit)
  }

  /** Throws `overloaded` or `storage_full` if no mail may be accepted now. */
  checkOpen(): void {
    this.#options.admission.check()
  }

  /** Starts the accounting of a mail, or the wait for its turn. */
  begin(address: string, waits = false): Work {
    return this.#options.fairness.begin({ address, kind: 'mx', waits })
  }

  /** Throws `rate_limit_exceeded` after too many guesses from the client's network. */
  async checkClient(remoteAddress: string): Promise<void> {
    await this.#forged.check(clientNetwork(remoteAddress))
  }

  /**
   * Returns the recipient at the address, and counts guesses. A deliverability test address never belongs to a route. Throws
   * `rate_limit_exceeded`.
   */
  async recipientAt(address: string, remoteAddress: string): Promise<Recipient> {
    await this.checkClient(remoteAddress)
    const kind = recipientKind(address, this.#options)
    if (kind === 'forged') await this.#forged.take(clientNetwork(remoteAddress))
    const { inboundDomain, inspectTests, routes } = this.#options
    if (kind === 'inspect') {
      const test = await inspectTests.recipientOf(address)
      return test ? { kind, test } : { kind: 'unknown' }
    }
    const localPart = kind === 'unknown' ? mailboxAt(inboundDomain, address) : undefined
    const route = localPart === undefined ? undefined : await routes.routeFor(localPart)
    return route ? { kind: 'route', route } : { kind }
  }

  /** Opens the draft of a mail for a test; `take` consumes it. */
  openInspected(test: InspectRecipient, remoteAddress: string): Draft {
    return this.#options.inspectTests.openMail(test, clientNetwork(remoteAddress))
  }

  /** Opens a mail for routes. */
  openRouted(routed: readonly Routed[], remoteAddress: string): RoutedMail {
    return this.#options.routes.open(routed, clientNetwork(remoteAddress))
  }

  /** Whether this service has forwarded the mail before. */
  isOurLoop(head: Uint8Array): boolean {
    return hasLoopMark(this.#options.secrets, head)
  }

  /** The header field for stored and forwarded mail. */
  get loopMark(): string {
    return loopMarkField(this.#options.secrets)
  }

  /** Records the reports in the mail, separately for each return path and for the postmaster. Resolves when all are durable. */
  async take(mail: InboundMail): Promise<readonly InboundOutcome[]> {
    const outcomes: InboundOutcome[] = []
    for (const returnPath of new Set(mail.returnPaths)) outcomes.push(...(await this.#takeAt(returnPath, mail)))
    if (mail.forPostmaster) outcomes.push(...(await this.#report(undefined, mail)))
    if (mail.inspected) await this.#inspect(mail.inspected)
    return outcomes
  }

  async #inspect({ recipient, session, draft }: InspectedMail): Promise<void> {
    await this.#options.inspectTests.receive(recipient, session, draft)
  }

  async #takeAt(returnPath: string, mail: InboundMail): Promise<readonly InboundOutcome[]> {
    const { database, secrets } = this.#options
    if (!(await recipientOfVerp(database, secrets, returnPath))) return [{ traceId: null, result: 'expired' }]
    return this.#report(returnPath, mail)
  }

  async #report(returnPath: string | undefined, { reading, hasNullSender, raw }: InboundMail): Promise<readonly InboundOutcome[]> {
    const isUnread = reading.kind === 'none' && returnPath !== undefined
    const events = isUnread ? [unparsedBounce(raw, returnPath)] : reading.events
    if (events.length === 0) return [{ traceId: null, result: 'ignored' }]
    const origin = { organizationId: null, sourceId: null, channel: 'bounce_domain', returnPath, hasNullSender, raw } as const
    const outcomes = await this.#options.feedback.take(origin, events)
    return outcomes.map(({ traceId, result }) => ({ traceId, result }))
  }
}
