/** What SPF, DKIM, DMARC and ARC say of a mail that came in, and who is asked. */

/** Result words of RFC 8601 §2.7; `temperror` when DNS gave no answer in time. */
export interface Authentication {
  readonly spf: { readonly result: string; readonly domain: string | null }
  /** One for each signature that was looked at. */
  readonly dkim: readonly { readonly result: string; readonly domain: string | null; readonly selector: string | null }[]
  /** `none` when the domain publishes no policy. */
  readonly dmarc: { readonly result: string; readonly domain: string | null; readonly policy: string | null }
  readonly arc: { readonly result: string }
}

/** A mail as it came, without header fields of our own. */
export interface ReceivedMail {
  readonly raw: Uint8Array
  /** Reverse-path; empty when it is null. */
  readonly mailFrom: string
  readonly remoteAddress: string
  readonly helo: string
}

export interface Authenticator extends AsyncDisposable {
  /** Resolves within seconds and never throws: what cannot be found out is a `temperror`. */
  authenticate(mail: ReceivedMail): Promise<Authentication>
}
