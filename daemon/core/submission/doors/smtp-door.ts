/** Interface of the core for SMTP submission: login, permission checks, and submission of a message. */
import type { Reading } from '../../fairness/work.ts'
import type { Acceptance, ContentDraft } from '../submission.ts'

/** An authenticated SMTP session. Every call reads the credential again, so that rotation and revocation apply to open sessions. */
export interface SmtpLogin {
  readonly credentialId: string
  readonly username: string
  /** RFC 1870 limit in octets: the lower limit of credential and service. */
  maxMessageBytes(): number
  /** Throws a refusal when the credential may not use this reverse-path (whitelist, expiry, no destination). */
  checkMailFrom(address: string): void
  /**
   * Resolves when the credential may begin a message; returns undefined if it may begin immediately. Rejects with `rate_limit_exceeded`
   * while it exceeds its share of the service.
   */
  turn(): Promise<void> | undefined
  openDraft(): ContentDraft
  /**
   * Starts the accounting for a message's content: its processing time is charged to the credential, and `pace` delays a credential beyond
   * its share.
   */
  openReading(): Reading
  /**
   * Submits the message: checks permissions and limits, decides, and commits one durable write. After a refusal, nothing of the message is
   * stored. `head` is the beginning of the submitted content: the whole header block or its first 256 KiB.
   */
  submit(message: SmtpMessage): Promise<Acceptance>
}

export interface SmtpMessage {
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly draft: ContentDraft
  readonly head: Uint8Array
  readonly eightBit: boolean
  /** MAIL FROM had the SMTPUTF8 parameter (RFC 6531 §3.4). */
  readonly smtpUtf8?: boolean | undefined
  /** Values of our Received field (RFC 5321 §4.4): the client's EHLO argument and `ESMTPA` or `ESMTPSA` (RFC 3848). */
  readonly helo: string
  /** Address of the client. */
  readonly remoteAddress: string
  readonly protocol: 'ESMTPA' | 'ESMTPSA'
}

export interface SmtpDoor {
  /** Session of clients that do not log in; undefined if all clients must log in. */
  readonly guest?: SmtpLogin | undefined
  /**
   * Checks a login. Throws `unauthorized` with the same text and timing for an unknown user, a wrong password, and an expired or revoked
   * credential. Throws `rate_limit_exceeded` after too many attempts from the address or for the user.
   */
  login(username: string, password: string, remoteAddress: string): Promise<SmtpLogin>
  /** Throws `overloaded` or `storage_full` while the service accepts no messages. */
  checkOpen(): void
}
