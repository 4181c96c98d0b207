/** Interface of a mail API: creates the request for a message and interprets the answer. Each vendor implements it in one file. */

import type { CredentialField } from '#config/mail/providers.ts'
import type { HttpRequest } from '../../../outbound/request.ts'

/** The decrypted credentials of a destination, by the vendor's field names (`api_key`, `region`, …). */
export type Credentials = Readonly<Record<string, string>>

export type VendorRequest = HttpRequest

/** HTTP answer, read completely up to a limit. Header names are lower-case. */
export interface VendorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Sends a further request over the same guarded connection, for example for a token. */
export type Ask = (request: VendorRequest) => Promise<VendorAnswer>

/** Mailbox of a header field. */
export interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** The message as fields, for vendors without MIME. `to`, `cc` and `bcc` contain only recipients of this attempt; `to` is never empty. */
export interface MessageFields {
  readonly from: NamedAddress
  readonly to: readonly NamedAddress[]
  readonly cc: readonly NamedAddress[]
  readonly bcc: readonly NamedAddress[]
  readonly replyTo: readonly NamedAddress[]
  readonly subject: string
  readonly text: string | undefined
  readonly html: string | undefined
  /** Other header fields, unfolded and decoded: List-Unsubscribe, References, X-…; Message-ID if the vendor preserves it. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly {
    readonly filename: string
    readonly contentType: string
    readonly content: Buffer
    readonly contentId: string | undefined
    readonly inline: boolean
  }[]
}

/** The message of an attempt. */
export interface OutgoingMessage {
  readonly traceId: string
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly mime: () => Promise<Buffer>
  readonly fields: () => Promise<MessageFields>
}

/** Meaning of the vendor's answer for the message. */
export type VendorVerdict =
  | {
      readonly kind: 'accepted'
      readonly messageId?: string | undefined
      /** Recipients that the vendor refused although it accepted the message. */ readonly refused?: readonly string[] | undefined
    }
  | {
      readonly kind: 'transient' | 'permanent' | 'rate_limited' | 'misconfigured'
      /** The vendor's own code, or the HTTP status. */ readonly code: string
      readonly message: string
      readonly retryAfterSeconds?: number | undefined
    }

/** Thrown by `send` and `probe` if a request cannot be created, for example without an access token. */
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
  /** Name for users. */
  readonly title: string
  /** Credentials by name: required ones, secrets (encrypted, never shown again), and choices. */
  readonly credentials: Readonly<Record<string, CredentialField>>
  /** Maximum number of recipients of a request. Default: all of an attempt. */
  readonly maxRecipients?: number | undefined
  /** Creates the request that sends the message. `base` replaces the vendor's origin. */
  send(credentials: Credentials, message: OutgoingMessage, context: VendorContext): Promise<VendorRequest>
  /** Interprets the answer to `send`, for any status. */
  read(answer: VendorAnswer): VendorVerdict
  /** Creates a request that checks the credentials and sends no mail. A 2xx answer is a success unless `readProbe` decides otherwise. */
  probe(credentials: Credentials, context: VendorContext): Promise<VendorRequest>
  readProbe?(answer: VendorAnswer): VendorVerdict
}

export interface VendorContext {
  /** Replaces the vendor's origin (private endpoints, tests); from the credential `base_url`. */
  readonly base: string | undefined
  readonly nowMs: number
  readonly ask: Ask
}
