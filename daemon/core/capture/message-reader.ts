/** Reads a stored message for people. The work is done outside the main thread, with a limit on time and memory. */

export interface ReadAddress {
  readonly address: string
  readonly name: string
}

export interface ReadAttachment {
  /** A safe base name, never a path; made up when the message names none. */
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly contentId?: string | undefined
  readonly inline: boolean
}

/** The message as a reader would show it. */
export interface ReadMessage {
  readonly subject: string
  readonly from: readonly ReadAddress[]
  readonly to: readonly ReadAddress[]
  readonly cc: readonly ReadAddress[]
  readonly replyTo: readonly ReadAddress[]
  readonly messageId?: string | undefined
  readonly date?: string | undefined
  /** Every header field in order, names as written, values unfolded and decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly text: string
  /** Sanitized: no script, no form, no remote content without consent. */
  readonly html: string
  readonly attachments: readonly ReadAttachment[]
  /** Every address found in headers and bodies, lower-cased, sorted, without repeats. */
  readonly addressesSeen: readonly string[]
}

/** `unreadable` carries one sentence that says why; the raw message is still there. */
export type ReadResult = { readonly ok: true; readonly message: ReadMessage } | { readonly ok: false; readonly unreadable: string }

export interface MessageReader extends AsyncDisposable {
  /** Makes itself ready, and stays so until the returned function is called: what comes meanwhile does not wait for a start. */
  expect(): () => void
  read(raw: Uint8Array): Promise<ReadResult>
  /** The decoded bytes of the attachment at `index` of `ReadMessage.attachments`; undefined when there is none. */
  attachment(raw: Uint8Array, index: number): Promise<Uint8Array | undefined>
}
