/** Interface of a format: it translates one event into the request of another service. */
import { createHash } from 'node:crypto'
import type { DeliveryType } from '../delivery.ts'
import type { EventWire } from '../events/event-body.ts'

/** Facts about the message that formats repeat and the stored event does not contain. */
export interface MessageFacts {
  /** Address in the From field. */
  readonly from: string
  /** Envelope sender. */
  readonly mailFrom: string
  /** Decoded subject. */
  readonly subject: string
  /** Time of acceptance, in milliseconds since the epoch. */
  readonly acceptedAt: number
  /** The id returned to the sending client, if it is the id of another message of the same request. */
  readonly answeredId?: string | undefined
}

export interface FormatEvent {
  readonly id: string
  /** UUID, equal for every attempt. */
  readonly deliveryId: string
  readonly type: EventWire['type']
  /** Time of the write that added the delivery, and time of the event, in milliseconds since the epoch. */
  readonly createdAt: number
  readonly occurredAt: number
  /** As in the native body. */
  readonly data: EventWire['data']
  /** Empty values if the message was removed. */
  readonly message: MessageFacts
}

/** Endpoint data for creating and signing a request. */
export interface FormatEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: string
  /** PEM; only for the formats with a key type in `keyOf`. */
  readonly privateKey: string
  /** Public address of this service. */
  readonly baseUrl: string
  /** URL of the certificate, for formats that name it. */
  readonly certificateUrl: string
  /** Host name after `@` in message ids returned to clients. */
  readonly publicHost: string
  /** Start of this attempt, in milliseconds since the epoch. */
  readonly at: number
}

export interface FormatRequest {
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Write = (event: FormatEvent, endpoint: FormatEndpoint) => FormatRequest

export interface Format {
  /** Event types that the format supports. */
  readonly says: ReadonlySet<DeliveryType>
  /** Called only for supported events. */
  readonly write: Write
}

/** The failure of a message, in one form for `bounced` and `failed`. */
export interface Failure {
  readonly kind: 'hard' | 'soft' | 'block'
  readonly category: string
  /** SMTP reply code, if a server replied. */
  readonly code: number | undefined
  readonly status: string | undefined
  /** The server's reply, otherwise our reason. */
  readonly text: string
  readonly server: string | undefined
}

/** Returns the failure of an event. A message that failed without a bounce counts as soft, because the address may be valid. */
export function failureOf({ data }: FormatEvent): Failure {
  const { bounce, reply, reason } = data
  return {
    kind: bounce?.class ?? 'soft',
    category: bounce?.category ?? 'expired',
    code: bounce?.smtp_code ?? reply?.code,
    status: bounce?.status ?? reply?.enhanced ?? undefined,
    text: bounce?.diagnostic ?? (reply ? `${String(reply.code)} ${reply.text}` : (reason ?? '')),
    server: bounce?.remote_mta ?? undefined,
  }
}

export const seconds = (ms: number): number => Math.floor(ms / 1000)
export const isoTime = (ms: number): string => new Date(ms).toISOString()
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Returns the id returned to the sending client. */
export const answeredId = ({ data, message }: FormatEvent): string => message.answeredId ?? data.trace_id

/** Returns that id in the form of a Message-ID, for services that use this form. */
export const wrappedId = (event: FormatEvent, { publicHost }: FormatEndpoint): string => `${answeredId(event)}@${publicHost}`

/** Returns a stable number for an id, below 2^48, for services with numeric ids. */
export const numberOf = (id: string): number => createHash('sha256').update(id).digest().readUIntBE(0, 6)

/** Event types of formats that have no event for suppressions. */
export const messageEvents: ReadonlySet<DeliveryType> = new Set(['delivered', 'bounced', 'complained', 'failed'])
export const allEvents: ReadonlySet<DeliveryType> = new Set([...messageEvents, 'auto_suppressed'])
