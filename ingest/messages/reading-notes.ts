/** Notes about a message for people: parts that were omitted, guessed or not decoded. */
import type { ReadingNote } from '#core/capture/reading/message-reader.ts'
import type { PartFault } from '../mime/mime-parse.ts'

const maxName = 40

export interface ReadingFacts {
  readonly faults: readonly PartFault[]
  /** Characters or octets of text beyond the limits. */
  readonly textLeftOut: number
  readonly htmlLeftOut: number
  readonly hasCutStyles: boolean
  /** Number of header fields, lines and addresses that are cut or omitted. */
  readonly headerLeftOut: number
  readonly hasGuessedAddress: boolean
  /** The message is cut inside an attachment. */
  readonly isAttachmentCut: boolean
  /** A TNEF container could not be opened completely. */
  readonly hasBrokenTnef: boolean
}

type Code = ReadingNote['code']

/** Sentence for each note. Notes are returned in this order. */
const sentences: Readonly<Record<Code, (detail: string) => string>> = {
  text_cut: (count) => `The text is too long; about ${count} characters are omitted.`,
  html_cut: (count) => `The HTML is too long or too deeply nested; ${count} characters of its source are omitted.`,
  styles_cut: () => 'The style sheets are too long or invalid; some rules are omitted, so hidden text may be visible.',
  attachment_cut: () => 'The message is too large; its last attachment is omitted.',
  header_cut: (count) => `Truncated or omitted fields, lines and addresses of the header: ${count}.`,
  guessed_address: () => 'Octets of an address in the header are not UTF-8; the displayed address is a guess and is not valid.',
  unended_header: () => 'A header does not end with an empty line; the lines after its last field appear as text.',
  no_delimiter: () => 'A multipart has no delimiter line; its content appears as text.',
  unclosed_part: () => 'A multipart has no closing delimiter; the message may be incomplete.',
  text_after_parts: () => 'Text after the last part of a multipart is omitted.',
  unknown_charset: (name) => `The charset${name} is unknown; the text was decoded by a guess.`,
  wrong_charset: (name) => `Octets of a text are not valid in its charset${name}; the text was decoded by a guess.`,
  broken_text: (name) => `Some octets are not valid in the charset${name}; each appears as a replacement character.`,
  unknown_transfer_encoding: (name) => `The transfer encoding${name} is unknown; the part appears undecoded.`,
  broken_transfer_encoding: (name) => `Some characters are not valid in the transfer encoding${name}; the part may be damaged.`,
  broken_tnef: () => 'A winmail.dat file is damaged or beyond the limits; some of its files may be missing.',
}

const codes: readonly string[] = Object.keys(sentences)

/** Returns the notes in the order of `sentences`. */
export function readingNotes({
  faults,
  textLeftOut,
  htmlLeftOut,
  hasCutStyles,
  headerLeftOut,
  hasGuessedAddress,
  isAttachmentCut,
  hasBrokenTnef,
}: ReadingFacts): ReadingNote[] {
  const found: [Code, string][] = [
    ...(textLeftOut > 0 ? [['text_cut', String(textLeftOut)] as [Code, string]] : []),
    ...(htmlLeftOut > 0 ? [['html_cut', String(htmlLeftOut)] as [Code, string]] : []),
    ...(hasCutStyles ? [['styles_cut', ''] as [Code, string]] : []),
    ...(headerLeftOut > 0 ? [['header_cut', String(headerLeftOut)] as [Code, string]] : []),
    ...(hasGuessedAddress ? [['guessed_address', ''] as [Code, string]] : []),
    ...(isAttachmentCut ? [['attachment_cut', ''] as [Code, string]] : []),
    ...faults.map(({ code, name = '' }): [Code, string] => [code, quoted(name)]),
    ...(hasBrokenTnef ? [['broken_tnef', ''] as [Code, string]] : []),
  ]
  return found
    .toSorted(([a], [b]) => codes.indexOf(a) - codes.indexOf(b))
    .map(([code, detail]): ReadingNote => ({ code, sentence: sentences[code](detail) }))
}

/** A declared name in quotes after a space. The name is foreign text, so it is reduced to 40 characters of `\w.:+-`. */
function quoted(name: string): string {
  const plain = name.replaceAll(/[^\w.:+-]/g, '')
  return plain === '' ? '' : ` "${plain.slice(0, maxName)}"`
}
