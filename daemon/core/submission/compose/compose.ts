/**
 * Composes a REST send into a message (RFC 5322, MIME by RFC 2045 to 2047 and RFC 2231) once; the stored octets are sent. nodemailer
 * encodes words. The structure is our own code, because every acknowledgement waits for it.
 */
import { encodeWords, foldLines } from 'nodemailer/lib/mime-funcs'
import type { Mailbox } from '../../addresses.ts'
import { runAtOnce, type Steps } from '../../event-loop.ts'
import type { Attachment } from './attachments.ts'
import { bodyPart, boundaryFrom, joinParts } from './mime-parts.ts'
import { headerLine, type Piece, type WrittenLater } from './part.ts'
import type { ContentFacts } from '../submission.ts'

/** A validated REST send. Every address is one mailbox, and texts contain no control characters in fields that forbid them. */
export interface SendRequest {
  readonly from: Mailbox
  readonly to: readonly Mailbox[]
  readonly cc: readonly Mailbox[]
  readonly bcc: readonly Mailbox[]
  readonly replyTo: readonly Mailbox[]
  readonly subject: string
  readonly text: string | undefined
  readonly html: string | undefined
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly Attachment[]
  /** Without brackets; derived from the trace id by default. */
  readonly messageId?: string | undefined
}

/** The composed message and its facts for the core. */
export interface Composed {
  /** Octets of the whole message. */
  readonly size: number
  /** The message as octets, and as files and long texts that are encoded while they are written. */
  readonly pieces: readonly (Buffer | WrittenLater)[]
  readonly facts: ContentFacts
}

/** Composes a small message synchronously. Bcc recipients appear only in the envelope. */
export const compose = (request: SendRequest, traceId: string, nowMs: number): Composed => runAtOnce(composing(request, traceId, nowMs))

/** Composes a message in steps. */
export function* composing(request: SendRequest, traceId: string, nowMs: number): Steps<Composed> {
  const messageId = request.messageId ?? `${traceId}@${request.from.domain}`
  const subject = encodeWords(request.subject, 'Q', 52)
  const lines = [
    `Date: ${rfc5322Date(nowMs)}`,
    `Message-ID: <${messageId}>`,
    addressLine('From', [request.from]),
    addressLine('To', request.to),
    addressLine('Cc', request.cc),
    addressLine('Reply-To', request.replyTo),
    folded(`Subject: ${subject}`),
    ...request.headers.map(({ name, value }) => folded(`${name}: ${encodeWords(value, 'Q', 52)}`)),
    'MIME-Version: 1.0',
  ].filter((line) => line.length > 0)
  const part = yield* joinParts(yield* bodyPart(request.text, request.html), request.attachments, boundaryFrom(traceId))
  const head = `${lines.join('\r\n')}\r\n${part.headers.join('\r\n')}\r\n\r\n`
  const pieces = yield* joining([head, ...part.body])
  return {
    size: pieces.reduce((size, piece) => size + (Buffer.isBuffer(piece) ? piece.length : piece.encodedSize), 0),
    pieces,
    facts: {
      prefix: '',
      subject,
      messageId,
      headerFrom: request.from.address,
      headerAddresses: headerAddresses(request),
      eightBit: false,
    },
  }
}

/** Maximum UTF-16 units of a piece, so that hashing and writing it takes a few milliseconds. */
const pieceUnits = 262_144

/** Joins consecutive short texts into one piece. */
function* joining(pieces: readonly Piece[]): Steps<(Buffer | WrittenLater)[]> {
  const whole: (Buffer | WrittenLater)[] = []
  let text = ''
  for (const piece of pieces) {
    const isText = typeof piece === 'string'
    if (text !== '' && (!isText || text.length + piece.length > pieceUnits)) {
      whole.push(Buffer.from(text))
      text = ''
      if (isText) yield
    }
    if (isText) text += piece
    else whole.push(piece)
  }
  if (text !== '') whole.push(Buffer.from(text))
  return whole
}

/** RFC 5322 §3.3 date-time in UTC. Cached, because many messages need the same second. */
export function rfc5322Date(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== kept.second) kept = { second, text: new Date(ms).toUTCString().replace('GMT', '+0000') }
  return kept.text
}
let kept = { second: NaN, text: '' }

/** Formats a mailbox for a header field. Domains must be A-labels. */
export function formatMailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  if (name.includes('=?')) return `${encodeWords(name, 'Q', 52, true)} <${address}>` // looks like an encoded word (RFC 2047 §7)
  if (/^[\w !#$%&'*+\-/=?^`{|}~]*$/.test(name)) return `${name} <${address}>`
  if (/^[\u0020-\u007e]*$/.test(name)) return `"${name.replaceAll(/["\\]/g, (c) => `\\${c}`)}" <${address}>`
  return `${encodeWords(name, 'Q', 52, true)} <${address}>`
}

const addressLine = (field: string, mailboxes: readonly Mailbox[]): string =>
  mailboxes.length === 0 ? '' : folded(`${field}: ${mailboxes.map(formatMailbox).join(', ')}`)

const folded = (line: string): string => {
  const safe = headerLine(line)
  return safe.length <= 76 ? safe : foldLines(safe, 76)
}

const headerAddresses = ({ from, to, cc, replyTo }: SendRequest): string[] =>
  [from, ...to, ...cc, ...replyTo].map((m) => m.address.toLowerCase())
