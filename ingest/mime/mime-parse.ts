/** Parses a MIME message (RFC 2045, RFC 2046) with limits on memory. Attachments are streamed. Runs on the parsing thread. */
import { MailParser, type AttachmentStream, type MessageText } from 'mailparser'
import type { CharsetFault } from '#config/mail/charset/decode-octets.ts'
import { PartHeads, type EncodingNote } from './engine/part-heads.ts'
import type { PartNode } from './engine/part-node.ts'
import { takeText, type TextOfPart } from './engine/text-of-part.ts'
import { WholeDelimiters } from './engine/whole-delimiters.ts'
import { withWholeHeads, type HeadFault } from './engine/whole-heads.ts'

const maxHeaderOctets = 256 * 1024
const maxAllHeadersOctets = 1024 * 1024
const maxTextOctets = 4 * 1024 * 1024
const maxShownBesideHtml = 1_000_000
const maxFaults = 20
const step = 64 * 1024

/** One attachment as the message declares it; the values are not safe for display. */
export interface RawAttachment {
  readonly filename: string | undefined
  readonly contentType: string
  readonly disposition: string | undefined
  readonly contentId: string | undefined
  /** Content-Location, which HTML may reference instead of the content ID. */
  readonly location: string | undefined
  /** The part is in a multipart/related, next to the text that refers to it. */
  readonly related: boolean
}

/** The two bodies, decoded to text; empty if the message has no such body. */
export interface Bodies {
  readonly text: string
  readonly html: string
  /** The input ended inside an attachment. */
  readonly endsInAttachment: boolean
  /** Octets of text parts beyond the limits; 0 if all text was parsed. */
  readonly textLeftOut: number
  /** Faults of the parts, in order and without duplicates. */
  readonly faults: readonly PartFault[]
}

/** `name` is the declared charset or encoding. */
export interface PartFault {
  readonly code: CharsetFault | Parameters<EncodingNote>[0] | HeadFault | 'unclosed_part' | 'text_after_parts'
  readonly name?: string
}

/** Called for each attachment in order. The returned function receives its decoded octets. */
export type AttachmentSink = (attachment: RawAttachment) => (chunk: Uint8Array) => void

/** The message exceeds a limit. The error message is a sentence for people. */
export class BeyondLimits extends Error {
  override readonly name = 'BeyondLimits'
}

/** Internals of mailparser 3.9.31 that the hook below uses. A test fails if an update changes them. */
interface ParserInside {
  curnode: { isAttachment?: boolean } | false
  /** Creates the charset decoder of the current part. */
  decoder: { decodeStream(): TextOfPart }
  processChunk(piece: Piece, done: (error?: Error) => void): void
  textToHtml(text: string): string
}

type Piece = (PartNode & { readonly type: 'node' }) | { readonly type: 'data' } | { readonly type: 'body'; value: Uint8Array }

/** Parses the whole message. Throws `BeyondLimits` or an error of the parser. */
export async function parseMime(raw: Buffer, takeAttachment: AttachmentSink): Promise<Bodies> {
  const parser = new MailParser({ skipHtmlToText: true, maxHeadSize: maxHeaderOctets } as object)
  const { inside, textLeftOut, isInlineFile, faults } = bound(parser)
  const heads = withWholeHeads(raw)
  const delimiters = new WholeDelimiters(heads.octets)
  let bodies: MessageText | undefined
  parser.on('data', (part: AttachmentStream | MessageText) => {
    if (part.type === 'text') bodies = part
    else drain(part, isInlineFile() ? 'inline' : part.contentDisposition, takeAttachment, parser)
  })
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('error', (error: Error & { code?: string }) => reject(error.code === 'EMAXLEN' ? tooMany() : error))
      parser.once('end', resolve)
      feed(parser, delimiters.pieces())
    })
  } finally {
    parser.destroy()
  }
  const html = typeof bodies?.html === 'string' ? bodies.html : ''
  return {
    text: bodies?.text ?? '',
    html,
    endsInAttachment: inside.curnode !== false && inside.curnode.isAttachment === true,
    textLeftOut: textLeftOut(),
    faults: [...structureFaults(heads.faults, delimiters), ...faults()],
  }
}

function* structureFaults(heads: readonly HeadFault[], { isUnclosed, hasEpilogue }: WholeDelimiters): Generator<PartFault> {
  for (const code of heads) yield { code }
  if (isUnclosed) yield { code: 'unclosed_part' }
  if (hasEpilogue) yield { code: 'text_after_parts' }
}

function drain(part: AttachmentStream, disposition: string | undefined, takeAttachment: AttachmentSink, parser: MailParser): void {
  const take = takeAttachment({
    filename: typeof part.filename === 'string' ? part.filename : undefined,
    contentType: declaredType(part) ?? String(part.contentType),
    disposition,
    contentId: part.cid,
    location: locationOf(part),
    related: part.related === true,
  })
  part.content.on('data', take)
  part.content.once('end', () => part.release())
  part.content.once('error', (error) => parser.destroy(error))
}

/** The declared type. The parser replaces application/octet-stream by a guess from the file name. */
function declaredType({ headers }: AttachmentStream): string | undefined {
  const field = headers.get('content-type')
  return typeof field === 'object' && 'value' in field && typeof field.value === 'string' ? field.value : undefined
}

function locationOf({ headers }: AttachmentStream): string | undefined {
  const field = headers.get('content-location')
  return typeof field === 'string' ? field.replaceAll(/\s/g, '') : undefined
}

interface Bound {
  readonly inside: ParserInside
  readonly textLeftOut: () => number
  readonly faults: () => Iterable<PartFault>
  /** True if the current part is a text file that the message displays inline. */
  readonly isInlineFile: () => boolean
}

/** Corrects the headers of parts, and limits text parts and header blocks, because the parser collects them without a limit. */
function bound(parser: MailParser): Bound {
  const inside = parser as unknown as ParserInside
  const processPiece = inside.processChunk.bind(parser)
  let headerOctets = 0
  let textOctets = 0
  let leftOut = 0
  let isInlineFile = false
  const faults = new Map<string, PartFault>()
  const note = (code: PartFault['code'], name: string): void => {
    if (faults.size < maxFaults) faults.set(`${code} ${name}`, { code, name })
  }
  const heads = new PartHeads(note)
  inside.processChunk = (piece, done) => {
    if (piece.type === 'node') {
      headerOctets += piece._headerlen
      if (headerOctets > maxAllHeadersOctets) return done(tooMany())
      isInlineFile = heads.mend(piece)
      inside.decoder = { decodeStream: takeText(piece, note) }
    }
    if (piece.type === 'body' && inside.curnode !== false && inside.curnode.isAttachment !== true) {
      leftOut += Math.max(0, textOctets + piece.value.length - maxTextOctets)
      piece.value = piece.value.subarray(0, maxTextOctets - textOctets)
      textOctets += piece.value.length
    }
    return processPiece(piece, done)
  }
  // Text parts next to HTML parts become part of the HTML. The package's method needs a hundred times the memory.
  inside.textToHtml = (text) => {
    leftOut += Math.max(0, text.length - maxShownBesideHtml)
    return `<div style="white-space:pre-wrap">${escaped(text.slice(0, maxShownBesideHtml))}</div>`
  }
  return { inside, textLeftOut: () => leftOut, faults: () => faults.values(), isInlineFile: () => isInlineFile }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const tooMany = (): BeyondLimits => new BeyondLimits('The message has too many parts or too long header fields to be opened.')

/** Writes the message in steps and waits for the parser's drain event, so that little of it is buffered twice. */
function feed(parser: MailParser, pieces: Iterable<Buffer>): void {
  const steps = inSteps(pieces)
  const next = (): void => {
    for (let chunk = steps.next(); !parser.destroyed; chunk = steps.next()) {
      if (chunk.done) return void parser.end()
      if (!parser.write(chunk.value)) return void parser.once('drain', next)
    }
  }
  next()
}

function* inSteps(pieces: Iterable<Buffer>): Generator<Buffer, void> {
  let batch: Buffer[] = []
  let size = 0
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const chunk = piece.subarray(at, at + step - size)
      batch.push(chunk)
      at += chunk.length
      size += chunk.length
      if (size < step) continue
      yield batch.length === 1 ? chunk : Buffer.concat(batch)
      ;[batch, size] = [[], 0]
    }
  }
  if (size > 0) yield Buffer.concat(batch)
}
