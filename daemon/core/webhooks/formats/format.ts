/** What a format is given and returns: it translates one event into the request that the other service would make. */
import { createHash } from 'node:crypto'
import type { DeliveryType } from '../delivery.ts'
import type { EventWire } from '../events/event-body.ts'

/** What formats repeat of a message and the stored event does not hold. */
export interface MessageFacts {
  /** The address of From. */
  readonly from: string
  /** Of the envelope. */
  readonly mailFrom: string
  /** Decoded. */
  readonly subject: string
  /** When it was accepted, in milliseconds since 1970. */
  readonly acceptedAt: number
  /** The id that the sending client got, where that is the id of another message of its request. */
  readonly answeredId?: string | undefined
}

export interface FormatEvent {
  readonly id: string
  /** A UUID, the same at every attempt. */
  readonly deliveryId: string
  readonly type: EventWire['type']
  /** When it was announced and when it happened, in milliseconds since 1970. */
  readonly createdAt: number
  readonly occurredAt: number
  /** As in the native body. */
  readonly data: EventWire['data']
  /** Empty values where the message is gone. */
  readonly message: MessageFacts
}

/** What a request is made for and signed with. */
export interface FormatEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: string
  /** PEM; there for the formats that `keyOf` names. */
  readonly privateKey: string
  /** The public address of this service. */
  readonly baseUrl: string
  /** Where receivers get the certificate, for formats that name it. */
  readonly certificateUrl: string
  /** The host name behind `@` in the message ids that clients of the service were given. */
  readonly publicHost: string
  /** When this attempt begins, in milliseconds since 1970. */
  readonly at: number
}

export interface FormatRequest {
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Write = (event: FormatEvent, endpoint: FormatEndpoint) => FormatRequest

export interface Format {
  /** The events that it has words for. */
  readonly says: ReadonlySet<DeliveryType>
  /** Is given no other event. */
  readonly write: Write
}

/** Why a message did not arrive, in the same words for `bounced` and for `failed`. */
export interface Failure {
  readonly kind: 'hard' | 'soft' | 'block'
  readonly category: string
  /** SMTP reply code, where a server replied. */
  readonly code: number | undefined
  /** Enhanced status code. */
  readonly status: string | undefined
  /** What the server said, otherwise our reason. */
  readonly text: string
  readonly server: string | undefined
}

/** A message that was given up without a bounce says nothing bad of the address: that is soft. */
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

/** The id that the sending client was given. */
export const answeredId = ({ data, message }: FormatEvent): string => message.answeredId ?? data.trace_id

/** Likewise, for services with ids in the form of a Message-ID. */
export const wrappedId = (event: FormatEvent, { publicHost }: FormatEndpoint): string => `${answeredId(event)}@${publicHost}`

/** A number that stands for an id, where a service has numbers: the same for the same id, below 2^48. */
export const numberOf = (id: string): number => createHash('sha256').update(id).digest().readUIntBE(0, 6)

/** A format without words for suppressions that were added. */
export const messageEvents: ReadonlySet<DeliveryType> = new Set(['delivered', 'bounced', 'complained', 'failed'])
export const allEvents: ReadonlySet<DeliveryType> = new Set([...messageEvents, 'auto_suppressed'])
