/** Authentication results of inbound mail (SPF, DKIM, DMARC, ARC), and the interface that determines them. */

/** Result words of RFC 8601 §2.7; `temperror` if the DNS look-up timed out. */
export interface Authentication {
  readonly spf: { readonly result: string; readonly domain: string | null }
  /** One result per examined signature. */
  readonly dkim: readonly { readonly result: string; readonly domain: string | null; readonly selector: string | null }[]
  /** `none` if the domain publishes no policy. */
  readonly dmarc: { readonly result: string; readonly domain: string | null; readonly policy: string | null }
  readonly arc: { readonly result: string }
}

/** A mail as received, without header fields of this service. */
export interface ReceivedMail {
  readonly raw: Uint8Array
  /** Reverse-path; empty if null. */
  readonly mailFrom: string
  readonly remoteAddress: string
  readonly helo: string
}

export interface Authenticator extends AsyncDisposable {
  /** Resolves within seconds and never throws; an undeterminable result is `temperror`. */
  authenticate(mail: ReceivedMail): Promise<Authentication>
}
