/** Builds `FeedbackEvent`s from fields of logs and webhooks: keys, bounded texts, reply codes. */
import { hash } from 'node:crypto'
import type { FeedbackEvidence, FeedbackEvent } from '#core/feedback/event.ts'

type EventFields = Pick<FeedbackEvent, 'format' | 'type' | 'key'> &
  Partial<Omit<FeedbackEvent, 'clues'>> & { readonly clues?: Partial<FeedbackEvidence> }

const maxDiagnostic = 2000
/** RFC 5321 §4.5.3.1: 64 octets, the at-sign and 255 octets. */
const maxAddress = 320
const maxName = 255
const dateMaxMs = 8.64e15

/** Builds an event. Missing fields become null or empty, and every text is cut to its limit or dropped. */
export function feedbackEvent(found: EventFields): FeedbackEvent {
  const { occurredAt = null, diagnostic = null, clues } = found
  return {
    format: found.format,
    type: found.type,
    key: found.key,
    occurredAt: occurredAt !== null && Math.abs(occurredAt) <= dateMaxMs ? occurredAt : null,
    recipient: mailbox(found.recipient),
    originalRecipient: mailbox(found.originalRecipient),
    action: found.action ?? null,
    status: found.status ?? null,
    smtpCode: found.smtpCode ?? null,
    diagnostic: diagnostic === null ? null : oneLine(diagnostic) || null,
    remoteMta: name(found.remoteMta),
    remoteIp: name(found.remoteIp),
    reportingMta: name(found.reportingMta),
    feedbackType: found.feedbackType ?? null,
    isStructured: true,
    clues: {
      returnPaths: mailboxes(clues?.returnPaths),
      references: clues?.references ?? [],
      envelopeIds: clues?.envelopeIds ?? [],
      messageIds: short(clues?.messageIds),
      queueIds: short(clues?.queueIds),
      originalTo: mailboxes(clues?.originalTo),
    },
  }
}

/** Hashes the parts to a key of 64 hexadecimal digits. The first part names the format, so that keys of two formats never collide. */
export const eventKey = (parts: readonly (string | number | null)[]): string => hash('sha256', JSON.stringify(parts), 'hex')

/** Joins text to one line without control characters, cut to the length of a diagnostic. */
function oneLine(text: string): string {
  const cut = text.slice(0, 2 * maxDiagnostic).replaceAll(/[\p{Cc}\s]+/gu, ' ')
  return cut.trim().slice(0, maxDiagnostic).toWellFormed()
}

/** The address in `<a@b>` or `a@b`; null if the text is not an address. */
export function mailbox(text: string | null | undefined): string | null {
  if (text == null) return null
  const bare = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text
  return bare.length <= maxAddress && bare.includes('@') && !/[\p{Cc}\s]/u.test(bare) ? bare.toWellFormed() : null
}

const mailboxes = (list: readonly string[] = []): readonly string[] => list.map(mailbox).filter((address) => address !== null)
/** A line, and so a message ID, has at most 998 characters (RFC 5322 §2.1.1). */
const short = (list: readonly string[] = []): readonly string[] => list.filter((id) => id !== '' && id.length <= 998)
const name = (text: string | null | undefined): string | null => (text ? oneLine(text).slice(0, maxName) : null)

/** Reply code and enhanced status code of a server, as far as a text contains them. */
export interface Reply {
  readonly smtpCode: number | null
  readonly status: string | null
}

const codeAndStatus = /(?<![\d.])([245]\d\d)[ -]#?([245]\.\d{1,3}\.\d{1,3})(?![\d.])/
const statusAlone = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/
const codeFirst = /(?:^|said: |me: |: )([245]\d\d)(?=[ -])/

/** Finds the reply code and the enhanced status code (RFC 3463) in a server's reply, or in a program's quotation of it. */
export function replyIn(text: string): Reply {
  const reply = text.slice(0, maxDiagnostic)
  const both = codeAndStatus.exec(reply)
  if (both?.[1] && both[2]) return { smtpCode: Number(both[1]), status: both[2] }
  const code = codeFirst.exec(reply)?.[1]
  return { smtpCode: code ? Number(code) : null, status: statusAlone.exec(reply)?.[1] ?? null }
}

const standing = /\b(?:reputation|black ?list|block ?list|deny ?list|dnsbl|rbl|spamhaus)/i

/**
 * Derives a status for a reply without an enhanced code from the class of its reply code. The result is `X.7.1` if the text concerns the
 * reputation of the sending host, otherwise `X.0.0`.
 */
export function statusFor(smtpCode: number, reply: string): string {
  return `${String(Math.floor(smtpCode / 100))}.${standing.test(reply.slice(0, maxDiagnostic)) ? '7.1' : '0.0'}`
}
