/**
 * Takes a MIME message apart (RFC 2045, RFC 2046) with bounds on what stays in memory. Attachments pass by as streams.
 * Runs inside the worker thread.
 */
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

/** One attachment as the message declares it; nothing here is safe to show yet. */
export interface RawAttachment {
  readonly filename: string | undefined
  readonly contentType: string
  readonly disposition: string | undefined
  readonly contentId: string | undefined
  /** Content-Location, which HTML may use in place of the content id. */
  readonly location: string | undefined
  /** It stands inside a multipart/related, next to the text that shows it. */
  readonly related: boolean
}

/** The two bodies as written, decoded to text; empty when the message has none. */
export interface Bodies {
  readonly text: string
  readonly html: string
  /** The input ended inside an attachment. */
  readonly endsInAttachment: boolean
  /** Octets of text parts that were not read; 0 if all text was read. */
  readonly textLeftOut: number
  /** What of the parts could not be decoded, in order and without repeats. */
  readonly faults: readonly PartFault[]
}

/** `name` is the declared charset or encoding. */
export interface PartFault {
  readonly code: CharsetFault | Parameters<EncodingNote>[0] | HeadFault | 'unclosed_part' | 'text_after_parts'
  readonly name?: string
}

/** Called for each attachment in order; returns what takes its decoded octets. */
export type AttachmentSink = (attachment: RawAttachment) => (chunk: Uint8Array) => void

/** The message is beyond a limit; the message text is a sentence for people. */
export class BeyondLimits extends Error {
  override readonly name = 'BeyondLimits'
}

/** What the hook below relies on inside mailparser 3.9.31; a test fails when an update changes it. */
interface ParserInside {
  curnode: { isAttachment?: boolean } | false
  /** Makes the charset decoder of the part that is read now. */
  decoder: { decodeStream(): TextOfPart }
  processChunk(piece: Piece, done: (error?: Error) => void): void
  textToHtml(text: string): string
}

type Piece = (PartNode & { readonly type: 'node' }) | { readonly type: 'data' } | { readonly type: 'body'; value: Uint8Array }

/** Parses the whole message. Throws BeyondLimits, or what the parser throws. */
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

/** What the message says. The parser replaces application/octet-stream by a guess from the file name. */
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
  /** The part that is read now is a text file that the message shows inline. */
  readonly isInlineFile: () => boolean
}

/** Corrects the headers of parts, and limits text parts and header blocks, which the parser collects without a limit of its own. */
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
  // Text parts that stand beside HTML parts are shown among them. The package's own way takes a hundred times the memory.
  inside.textToHtml = (text) => {
    leftOut += Math.max(0, text.length - maxShownBesideHtml)
    return `<div style="white-space:pre-wrap">${escaped(text.slice(0, maxShownBesideHtml))}</div>`
  }
  return { inside, textLeftOut: () => leftOut, faults: () => faults.values(), isInlineFile: () => isInlineFile }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const tooMany = (): BeyondLimits => new BeyondLimits('The message has too many parts or too long header fields to be opened.')

/** Hands the message over in steps and waits when the parser asks for it, so that little of it is held twice. */
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
