/** What the MX door asks of the core: who is at an address, and take this mail. Spec "Bounce and complaint ingestion". */
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
  /** Refuses when nothing may be accepted now. */
  readonly admission: { check(): void }
  readonly fairness: Fairness
  /** A-label domain of bounces and of the people who run the service; null when none is set up. */
  readonly inboundDomain: string | null
  readonly inspectTests: Pick<InspectTests, 'isOurs' | 'recipientOf' | 'openMail' | 'receive'>
  readonly routes: RouteIntake
}

/** Who is at an address: one row of the table, and what it leads to. */
export type Recipient =
  | { readonly kind: Exclude<RecipientKind, 'inspect'> }
  | { readonly kind: 'inspect'; readonly test: InspectRecipient }
  | { readonly kind: 'route'; readonly route: LiveRoute }

/** A mail that is complete. */
export interface InboundMail {
  /** The return paths among its recipients, as they were given. */
  readonly returnPaths: readonly string[]
  /** It goes to the people who run the service as well. */
  readonly forPostmaster: boolean
  readonly hasNullSender: boolean
  readonly reading: ReportReading
  /** The mail, or the first part of a long one. */
  readonly raw: Uint8Array
  /** For a deliverability test among its recipients. */
  readonly inspected: InspectedMail | undefined
}

/** A whole mail for a deliverability test, and how it came. */
export interface InspectedMail {
  readonly recipient: InspectRecipient
  readonly session: InspectSession
  readonly draft: Draft
}

/** `expired`: the return path was made here and is no longer kept, or its trace is gone. */
export interface InboundOutcome {
  readonly traceId: string | null
  readonly result: FeedbackResult | 'expired'
}

/** Guesses have one chance in 2^50 each, and who tries often is not listened to for a while. */
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

  /** Throws `overloaded` or `storage_full` when nothing may be accepted now. */
  checkOpen(): void {
    this.#options.admission.check()
  }

  /** Begins the work of a mail, or the wait for its turn. */
  begin(address: string, waits = false): Work {
    return this.#options.fairness.begin({ address, kind: 'mx', waits })
  }

  /** Throws `rate_limit_exceeded` when too many guesses came from the client's network. */
  async checkClient(remoteAddress: string): Promise<void> {
    await this.#forged.check(clientNetwork(remoteAddress))
  }

  /** What is at the address. Guesses are counted; an address in the form of a test belongs to no route. Throws `rate_limit_exceeded`. */
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

  /** Where the whole of a mail for a test is written; `take` uses it up. */
  openInspected(test: InspectRecipient, remoteAddress: string): Draft {
    return this.#options.inspectTests.openMail(test, clientNetwork(remoteAddress))
  }

  /** A mail for routes on its way in. */
  openRouted(routed: readonly Routed[], remoteAddress: string): RoutedMail {
    return this.#options.routes.open(routed, clientNetwork(remoteAddress))
  }

  /** Whether this service has passed the mail on before. */
  isOurLoop(head: Uint8Array): boolean {
    return hasLoopMark(this.#options.secrets, head)
  }

  /** The header field for mail that is kept or passed on. */
  get loopMark(): string {
    return loopMarkField(this.#options.secrets)
  }

  /** Records what the mail reports, for each return path and the postmaster by themselves. Resolves when all of it is durable. */
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
