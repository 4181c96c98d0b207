/** Settings of the MX server, and its events for logs and metrics. */
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { InboundDoor, InboundOutcome } from '#core/inbound/inbound-door.ts'
import type { ListenAddress, ListenerCertificate, ReceptionEvents, ReceptionLimits, SessionFacts } from '../reception/reception-settings.ts'
import type { PostmasterBox } from './postmaster-box.ts'

export interface MxOptions {
  readonly listen: readonly ListenAddress[]
  /** Host name in the greeting and in Received fields. */
  readonly hostname: string
  readonly tls: ListenerCertificate
  readonly limits: ReceptionLimits
  readonly door: InboundDoor
  /** Reads a mail as a report. Never throws. `turn`: the sender of the mail; senders take turns. */
  readonly readReport: (mail: Uint8Array, turn: string) => Promise<ReportReading>
  readonly postmaster: PostmasterBox
  readonly events: MxEvents
  readonly clock: Clock
}

/** An accepted mail. */
export interface Reception {
  readonly kind: ReportReading['kind']
  readonly outcomes: readonly InboundOutcome[]
  /** Ids of the messages stored for inbound routes. */
  readonly routed: readonly string[]
  /** The mail was delivered to the postmaster's mailbox. */
  readonly isKept: boolean
  /** Deliverability test that received the mail; null for none. */
  readonly testId: string | null
  /** Milliseconds from the final dot to the durable result. */
  readonly ms: number
}

/** Events of the server. Handlers are on the hot path and must neither throw nor block. */
export interface MxEvents extends ReceptionEvents {
  received(reception: Reception, session: SessionFacts): void
}
