/** What a cloud mail API is to us: how a message becomes its request, and what its answer means. One file per vendor implements this. */

import type { CredentialField } from '#config/mail/providers.ts'
import type { HttpRequest } from '../../../outbound/request.ts'

/** The opened credentials of a destination, by the vendor's own field names (`api_key`, `region`, …). */
export type Credentials = Readonly<Record<string, string>>

export type VendorRequest = HttpRequest

/** One HTTP answer, read whole up to a limit. Header names are lower-case. */
export interface VendorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Makes a further request through the same guarded connection, for tokens and the like. */
export type Ask = (request: VendorRequest) => Promise<VendorAnswer>

/** A mailbox of a header field. */
export interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** The message as fields, for vendors without MIME. Only recipients of this attempt are named in to, cc and bcc; `to` is never empty. */
export interface MessageFields {
  readonly from: NamedAddress
  readonly to: readonly NamedAddress[]
  readonly cc: readonly NamedAddress[]
  readonly bcc: readonly NamedAddress[]
  readonly replyTo: readonly NamedAddress[]
  readonly subject: string
  readonly text: string | undefined
  readonly html: string | undefined
  /** Other header fields worth keeping, unfolded and decoded: List-Unsubscribe, References, X-…; Message-ID where the vendor keeps it. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly {
    readonly filename: string
    readonly contentType: string
    readonly content: Buffer
    readonly contentId: string | undefined
    readonly inline: boolean
  }[]
}

/** The message of one attempt. */
export interface OutgoingMessage {
  readonly traceId: string
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly mime: () => Promise<Buffer>
  readonly fields: () => Promise<MessageFields>
}

/** What the vendor's answer means for the message. */
export type VendorVerdict =
  | {
      readonly kind: 'accepted'
      readonly messageId?: string | undefined
      /** Recipients that the vendor refused although it took the message. */ readonly refused?: readonly string[] | undefined
    }
  | {
      readonly kind: 'transient' | 'permanent' | 'rate_limited' | 'misconfigured'
      /** The vendor's own code, or the HTTP status. */ readonly code: string
      readonly message: string
      readonly retryAfterSeconds?: number | undefined
    }

/** Thrown by `send` and `probe` when a request cannot even be made, as when no token is given for the credentials. */
export class VendorRefusal extends Error {
  override readonly name = 'VendorRefusal'
  readonly verdict: Exclude<VendorVerdict, { readonly kind: 'accepted' }>

  constructor(verdict: Exclude<VendorVerdict, { readonly kind: 'accepted' }>) {
    super(verdict.message)
    this.verdict = verdict
  }
}

export interface Vendor {
  readonly provider: string
  /** What it is called for people. */
  readonly title: string
  /** Credentials by name: which are required, which secret (sealed, never shown again), which choices there are. */
  readonly credentials: Readonly<Record<string, CredentialField>>
  /** The most recipients that one request may name; all of an attempt when not given. */
  readonly maxRecipients?: number | undefined
  /** The request that hands over the message. `base` is the vendor's origin unless the destination overrides it. */
  send(credentials: Credentials, message: OutgoingMessage, context: VendorContext): Promise<VendorRequest>
  /** Reads the answer to `send`, whatever its status. */
  read(answer: VendorAnswer): VendorVerdict
  /** A request that proves the credentials and sends nothing; an answer of 2xx is a yes unless `readProbe` says otherwise. */
  probe(credentials: Credentials, context: VendorContext): Promise<VendorRequest>
  readProbe?(answer: VendorAnswer): VendorVerdict
}

export interface VendorContext {
  /** Overrides the vendor's origin (private endpoints, test doubles); from credential `base_url`. */
  readonly base: string | undefined
  readonly nowMs: number
  readonly ask: Ask
}
