/** Reads a complete MIME message from a request: its octets in SMTP form, its author and its recipients. */
import { isAscii } from 'node:buffer'
import parseAddressList from 'nodemailer/lib/addressparser'
import { parseAddress, parseMailbox, type Mailbox } from '../../addresses.ts'
import type { Steps } from '../../event-loop.ts'
import { invalid } from '../../refusals.ts'
import { forEachField, parseHeaders, type ParsedHeaders } from '../doors/headers.ts'
import { isLooping, maxHeadOctets, maxLineOctets, wholeFaults } from './whole-limits.ts'

export interface WholeMessage {
  /** Pieces with CRLF line ends, without Bcc fields. */
  readonly pieces: readonly Buffer[]
  readonly size: number
  readonly eightBit: boolean
  readonly parsed: ParsedHeaders
  readonly from: Mailbox
  /** Recipients named in the header, including Bcc. */
  readonly recipients: readonly Mailbox[]
}

const stepOctets = 262_144
const [lf, cr] = [0x0a, 0x0d]
const maxListed = 1000

/**
 * Reads a message. `isAddressed`: the request names the recipients, so recipient fields are ignored. Throws `validation_failed`, naming
 * `mime`.
 */
export function* readingWhole(mime: Buffer, isAddressed: boolean): Steps<WholeMessage> {
  const { pieces, eightBit } = yield* octetsOf(mime)
  const { head, isWhole, rest } = headOf(pieces)
  if (isLooping(head)) throw fault(wholeFaults.loop)
  const kept = withoutBlindCopies(head)
  const parsed = parseHeaders(kept)
  if (!isWhole) throw fault('The header block is too long; shorten it.')
  if (parsed.fromFields !== 1) throw fault('The message needs exactly one From header field.')
  const from = parseMailbox(parsed.from)
  if (!from) throw fault('The header From must contain exactly one address.')
  const all = [kept, ...rest]
  return {
    ...{ pieces: all, size: all.reduce((size, piece) => size + piece.length, 0), eightBit, parsed, from },
    recipients: isAddressed ? [] : recipientsOf(head),
  }
}

const fault = (message: string) => invalid([{ path: 'mime', message }])

/** RFC 5321 §2.3.8: converts every line end to CRLF, as in SMTP. */
function* octetsOf(mime: Buffer): Steps<{ readonly pieces: readonly Buffer[]; readonly eightBit: boolean }> {
  const pieces: Buffer[] = []
  let [eightBit, line] = [false, 0]
  for (let at = 0; at < mime.length;) {
    const cut = Math.min(at + stepOctets, mime.length)
    const end = mime[cut - 1] === cr && mime[cut] === lf ? cut + 1 : cut
    const piece = withLineEnds(mime.subarray(at, end))
    if (piece.includes(0)) throw fault(wholeFaults.nul)
    eightBit ||= !isAscii(piece)
    line = lengthOfLast(piece, line)
    pieces.push(piece)
    at = end
    if (at < mime.length) yield
  }
  return { pieces, eightBit }
}

function withLineEnds(piece: Buffer): Buffer {
  const text = piece.toString('latin1')
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? Buffer.from(text.replaceAll(/\r\n|\r|\n/g, '\r\n'), 'latin1') : piece
}

/** Returns the length of the unfinished last line of the piece. `before` is its length in the previous pieces. */
function lengthOfLast(piece: Buffer, before: number): number {
  let [line, from] = [before, 0]
  for (let end = piece.indexOf(lf); end >= 0; end = piece.indexOf(lf, from)) {
    if (line + end - from - 1 > maxLineOctets) throw fault(wholeFaults.line)
    line = 0
    from = end + 1
  }
  const length = line + piece.length - from
  if (length > maxLineOctets) throw fault(wholeFaults.line)
  return length
}

/** Splits the header block, with its empty line, from the body. */
function headOf(pieces: readonly Buffer[]): { readonly head: Buffer; readonly isWhole: boolean; readonly rest: readonly Buffer[] } {
  const first: Buffer[] = []
  let size = 0
  for (const piece of pieces) {
    if (size > maxHeadOctets) break
    first.push(piece)
    size += piece.length
  }
  const beginning = Buffer.concat(first)
  const end = beginning[0] === cr && beginning[1] === lf ? 2 : beginning.indexOf('\r\n\r\n') + 4
  const headEnd = end >= 4 || end === 2 ? end : beginning.length
  const isWhole = headEnd <= maxHeadOctets && (headEnd < beginning.length || first.length === pieces.length)
  const head = beginning.subarray(0, Math.min(headEnd, maxHeadOctets))
  return { head, isWhole, rest: [beginning.subarray(head.length), ...pieces.slice(first.length)] }
}

const blindCopies = /^(?:resent-)?bcc[ \t]*:[^\r\n]*(?:\r\n[ \t][^\r\n]*)*(?:\r\n|$(?![\s\S]))/gim

/** RFC 5322 §3.6.3: removes Bcc fields. */
function withoutBlindCopies(head: Buffer): Buffer {
  const text = head.toString('latin1')
  const kept = text.replaceAll(blindCopies, '')
  return kept.length === text.length ? head : Buffer.from(kept, 'latin1')
}

/** Throws `validation_failed` if a field is not a list of addresses. */
function recipientsOf(head: Buffer): readonly Mailbox[] {
  const end = head.indexOf('\r\n\r\n')
  const found = new Map<string, Mailbox>()
  forEachField((end < 0 ? head : head.subarray(0, end)).toString('utf8'), (name, value) => {
    if (name !== 'to' && name !== 'cc' && name !== 'bcc') return
    for (const { address } of parseAddressList(value, { flatten: true })) {
      const mailbox = parseAddress(address)
      if (!mailbox) throw fault(`The header ${name} contains an invalid address; correct it, or give the recipients with the request.`)
      found.set(mailbox.address.toLowerCase(), mailbox)
      if (found.size > maxListed) throw fault(`The header names more than ${maxListed} recipients.`)
    }
  })
  return [...found.values()]
}
