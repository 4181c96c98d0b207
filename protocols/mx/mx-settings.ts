/** The settings of the MX server, and the events it reports for logs and metrics. */
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { InboundDoor, InboundOutcome } from '#core/inbound/inbound-door.ts'
import type { ListenAddress, ListenerCertificate, ReceptionEvents, ReceptionLimits, SessionFacts } from '../reception/reception-settings.ts'
import type { PostmasterBox } from './postmaster-box.ts'

export interface MxOptions {
  readonly listen: readonly ListenAddress[]
  /** Our name in the greeting and in Received. */
  readonly hostname: string
  readonly tls: ListenerCertificate
  readonly limits: ReceptionLimits
  readonly door: InboundDoor
  /** Reads a mail as a report; it never throws. */
  /** `turn`: who sent the mail; senders take turns. */
  readonly readReport: (mail: Uint8Array, turn: string) => Promise<ReportReading>
  readonly postmaster: PostmasterBox
  readonly events: MxEvents
  readonly clock: Clock
}

/** A mail that was taken. */
export interface Reception {
  readonly kind: ReportReading['kind']
  readonly outcomes: readonly InboundOutcome[]
  /** Messages that were kept for inbound routes. */
  readonly routed: readonly string[]
  /** It was put into the mailbox of the postmaster. */
  readonly isKept: boolean
  /** The deliverability test that it is for; null when it is for none. */
  readonly testId: string | null
  /** From the final dot to the durable end. */
  readonly ms: number
}

/** Calls are made on the hot path and must neither throw nor wait. */
export interface MxEvents extends ReceptionEvents {
  received(reception: Reception, session: SessionFacts): void
}
