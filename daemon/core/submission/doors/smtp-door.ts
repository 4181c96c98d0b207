/** What the SMTP submission door asks of the core: who is this, may they, and take this message. */
import type { Reading } from '../../fairness/work.ts'
import type { Acceptance, ContentDraft } from '../submission.ts'

/** An authenticated SMTP session. Every question re-reads the credential, so rotation and revocation act on live sessions. */
export interface SmtpLogin {
  readonly credentialId: string
  readonly username: string
  /** RFC 1870 limit in octets for this credential: its own, or the service's. */
  maxMessageBytes(): number
  /** Throws a refusal when the credential may not use this reverse-path (whitelist, expiry, no destination). */
  checkMailFrom(address: string): void
  /**
   * Resolves when the credential may begin a message; undefined when it may at once. Rejects with `rate_limit_exceeded` while it uses more
   * than its share of the service.
   */
  turn(): Promise<void> | undefined
  openDraft(): ContentDraft
  /** Reads the content of a message for the credential, which is charged for it. */
  openReading(): Reading
  /**
   * Takes the message: gates, decision, one durable write. Throws a refusal, after which nothing of the message is kept.
   * `head` is the beginning of the content as submitted, holding the whole header block or its first 256 KiB.
   */
  submit(message: SmtpMessage): Promise<Acceptance>
}

export interface SmtpMessage {
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly draft: ContentDraft
  readonly head: Uint8Array
  readonly eightBit: boolean
  /** MAIL FROM had the parameter (RFC 6531 §3.4). */
  readonly smtpUtf8?: boolean | undefined
  /** For our Received header (RFC 5321 §4.4): the client's EHLO argument and `ESMTPA` or `ESMTPSA` (RFC 3848). */
  readonly helo: string
  /** Of the client. */
  readonly remoteAddress: string
  readonly protocol: 'ESMTPA' | 'ESMTPSA'
}

export interface SmtpDoor {
  /** The login of clients that have none; undefined where all must log in. */
  readonly guest?: SmtpLogin | undefined
  /**
   * Checks a login. Throws `unauthorized` (same words and time for unknown user, wrong password, expired, revoked) or
   * `rate_limit_exceeded` when too many attempts came from the address or for the user.
   */
  login(username: string, password: string, remoteAddress: string): Promise<SmtpLogin>
  /** Throws `overloaded` or `storage_full` when nothing may be accepted now. */
  checkOpen(): void
}
