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
  /** It stands in a winmail.dat container (TNEF), which is listed too. */
  readonly fromTnef: boolean
}

/**
 * HTML as a document of its own, sanitized: no script, no form. Remote images stand in `data-remote-src` and in `url(…)` of
 * styles; whoever shows the document decides about them. Styles may lay things out as they like.
 */
export interface MailDocument {
  readonly html: string
  /** All style sheets, fit for a `style` element. */
  readonly styles: string
  /** Attributes of the elements `html` and `body`; values are not escaped. */
  readonly root: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, string>>
}

/** A link as it is shown, and where it leads. */
export interface VisibleLink {
  readonly text: string
  readonly href: string
}

/** What a person sees of the HTML of a message, for readers that are programs. */
export interface VisibleText {
  /** Without text that styles hide. Text that may be hidden stands between the marks of `visible-html.ts`. */
  readonly text: string
  /** About so many characters more. */
  readonly leftOut: number
  /** Elements that were hidden. */
  readonly hidden: number
  /** Passages between marks. */
  readonly marked: number
  readonly links: readonly VisibleLink[]
  /** Links that follow those in `links`. */
  readonly linksLeftOut: number
}

/** What a reader left out of a message, could not decode, or guessed. */
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

/** The message as a reader would show it. */
export interface ReadMessage {
  readonly subject: string
  readonly from: readonly ReadAddress[]
  readonly to: readonly ReadAddress[]
  readonly cc: readonly ReadAddress[]
  /** Of the field Bcc, which few messages have. */
  readonly bcc: readonly ReadAddress[]
  readonly replyTo: readonly ReadAddress[]
  readonly messageId?: string | undefined
  readonly date?: string | undefined
  /** Every header field in order, names as written, values unfolded and decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly text: string
  /** Sanitized, for any page: no script, no form, no remote content, no layout that leaves its place. */
  readonly html: string
  /** The same for a frame, with its own styles. */
  readonly document: MailDocument
  /** Undefined for a message without HTML. */
  readonly visible?: VisibleText | undefined
  readonly attachments: readonly ReadAttachment[]
  /** In the order of the codes, each sentence once. */
  readonly notes: readonly ReadingNote[]
  /** Every address found in headers and bodies, lower-cased, sorted, without repeats. */
  readonly addressesSeen: readonly string[]
}

/**
 * `unreadable` carries one sentence that says why; the raw message is still there. `isLasting`: another try would
 * hardly end better. */
export type ReadResult =
  { readonly ok: true; readonly message: ReadMessage } | { readonly ok: false; readonly unreadable: string; readonly isLasting?: boolean }

/** A message in memory, or how it gets there when its turn has come. */
export interface WaitingMessage {
  /** Organizations take turns. */
  readonly organizationId: string
  /** Octets. */
  readonly size: number
  /** The octets are unusable for anybody else afterwards. */
  read(): Promise<Uint8Array>
}

/** A message that is in memory already. */
export const messageInMemory = (organizationId: string, raw: Uint8Array): WaitingMessage => ({
  organizationId,
  size: raw.length,
  read: () => Promise.resolve(new Uint8Array(raw)),
})

export interface MessageReader extends AsyncDisposable {
  /** Makes itself ready, and stays so until the returned function is called: what comes meanwhile does not wait for a start. */
  expect(): () => void
  /** Rejects with what `message.read` rejects with, like `attachment`. */
  read(message: WaitingMessage): Promise<ReadResult>
  /** The decoded bytes of the attachment at `index` of `ReadMessage.attachments`; undefined when there is none. */
  attachment(message: WaitingMessage, index: number): Promise<Uint8Array | undefined>
}
