/** Interface of the reader of stored messages. It runs outside the main thread, with limits of time and memory. */

export interface ReadAddress {
  readonly address: string
  readonly name: string
}

export interface ReadAttachment {
  /** A safe base name, never a path; generated if the message has no name. */
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly contentId?: string | undefined
  readonly inline: boolean
  /** Part of a winmail.dat container (TNEF), which is listed too. */
  readonly fromTnef: boolean
}

/**
 * HTML as a separate document, sanitized: no script, no form. Remote images are in `data-remote-src` and in `url(…)` of styles; the display
 * of the document decides whether to load them. Styles may use any layout.
 */
export interface MailDocument {
  readonly html: string
  /** All style sheets, safe for a `style` element. */
  readonly styles: string
  /** Attributes of the elements `html` and `body`; values are not escaped. */
  readonly root: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, string>>
}

/** A visible link with its target. */
export interface VisibleLink {
  readonly text: string
  readonly href: string
}

/** Visible content of an HTML message, for programs. */
export interface VisibleText {
  /** Text without parts hidden by styles. Possibly hidden text is between the marks of `visible-html.ts`. */
  readonly text: string
  /** Approximate number of omitted characters. */
  readonly leftOut: number
  /** Number of hidden elements. */
  readonly hidden: number
  /** Number of marked passages. */
  readonly marked: number
  readonly links: readonly VisibleLink[]
  /** Number of further links. */
  readonly linksLeftOut: number
}

/** Notes about content that the reader omitted, could not decode, or guessed. */
export const readingNoteCodes = [
  'text_cut',
  'html_cut',
  'styles_cut',
  'attachment_cut',
  'header_cut',
  'guessed_address',
  'unended_header',
  'no_delimiter',
  'unclosed_part',
  'text_after_parts',
  'unknown_charset',
  'wrong_charset',
  'broken_text',
  'unknown_transfer_encoding',
  'broken_transfer_encoding',
  'broken_tnef',
] as const

export interface ReadingNote {
  readonly code: (typeof readingNoteCodes)[number]
  /** One sentence for people, in English. */
  readonly sentence: string
}

/** A parsed message for display. */
export interface ReadMessage {
  readonly subject: string
  readonly from: readonly ReadAddress[]
  readonly to: readonly ReadAddress[]
  readonly cc: readonly ReadAddress[]
  /** Addresses of the Bcc field, which few messages have. */
  readonly bcc: readonly ReadAddress[]
  readonly replyTo: readonly ReadAddress[]
  readonly messageId?: string | undefined
  readonly date?: string | undefined
  /** Every header field in order: names as written, values unfolded and decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly text: string
  /** Sanitized for any page: no script, form, remote content, or layout outside its container. */
  readonly html: string
  /** Sanitized for a frame, with its own styles. */
  readonly document: MailDocument
  /** Undefined for a message without HTML. */
  readonly visible?: VisibleText | undefined
  readonly attachments: readonly ReadAttachment[]
  /** In the order of the codes; no sentence twice. */
  readonly notes: readonly ReadingNote[]
  /** All addresses in headers and bodies, lower-cased, sorted and unique. */
  readonly addressesSeen: readonly string[]
}

/** `unreadable` is a sentence with the reason; the raw message is still available. `isLasting`: a retry would probably fail too. */
export type ReadResult =
  { readonly ok: true; readonly message: ReadMessage } | { readonly ok: false; readonly unreadable: string; readonly isLasting?: boolean }

/** A message in memory, or loaded on demand. */
export interface WaitingMessage {
  /** For fair sharing between organizations. */
  readonly organizationId: string
  /** Octets. */
  readonly size: number
  /** Returns the octets; the reader takes ownership of them. */
  read(): Promise<Uint8Array>
}

/** Wraps a message that is already in memory. */
export const messageInMemory = (organizationId: string, raw: Uint8Array): WaitingMessage => ({
  organizationId,
  size: raw.length,
  read: () => Promise.resolve(new Uint8Array(raw)),
})

export interface MessageReader extends AsyncDisposable {
  /** Prepares the reader, and keeps it ready until the returned function is called, so that messages do not wait for its start. */
  expect(): () => void
  /** Parses the message. `read` and `attachment` reject if `message.read` rejects. */
  read(message: WaitingMessage): Promise<ReadResult>
  /** Returns the decoded bytes of the attachment at `index` of `ReadMessage.attachments`, or undefined. */
  attachment(message: WaitingMessage, index: number): Promise<Uint8Array | undefined>
}
