/**
 * Composes a failure notice to an author: a delivery status report (RFC 6522, RFC 3464) with the header of the failed message, without its
 * content. Every part is 7bit, so that any server accepts it.
 */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { encodeWords, foldLines } from 'nodemailer/lib/mime-funcs'
import { hash } from 'node:crypto'
import { runAtOnce } from '../../event-loop.ts'
import { foldAddress, type Mailbox } from '../../addresses.ts'
import { formatMailbox, rfc5322Date, type Composed } from './compose.ts'
import type { Part } from './part.ts'
import { textPart } from './text-body.ts'

/** A recipient that did not receive the message. */
export interface FailedRecipient {
  readonly address: string
  /** Enhanced status code (RFC 3463). */
  readonly status: string
  /** One sentence. */
  readonly reason: string
  readonly nextStep: string
  /** Verbatim reply with its diagnostic type (RFC 3464 §2.3.6); undefined if no server replied. */
  readonly diagnostic?: { readonly type: 'smtp' | 'x-http'; readonly text: string } | undefined
  /** The server that refused the message. */
  readonly remoteMta?: string | undefined
  readonly attemptedAt?: number | undefined
}

/** The message that failed. */
export interface FailedMessage {
  readonly traceId: string
  /** Without angle brackets. */
  readonly messageId: string
  /** Decoded. */
  readonly subject: string
  readonly acceptedAt: number
  /** Its header block, possibly truncated. */
  readonly header: string
}

export interface NoticeOrder {
  /** Trace id of the notice. */
  readonly traceId: string
  readonly from: Mailbox
  readonly to: Mailbox
  /** Host name of this service. */
  readonly hostname: string
  readonly message: FailedMessage
  readonly failed: readonly FailedRecipient[]
  readonly nowMs: number
}

/** Maximum recipients explained in the text. The status fields name all. */
const maxExplained = 50
const maxSubject = 200

export function noticeMessage(order: NoticeOrder): Composed {
  const { traceId, from, to, message, failed, nowMs } = order
  const messageId = `${traceId}@${from.domain}`
  const [only] = failed
  const subject = encodeWords(texts().subject({ count: failed.length, address: only?.address ?? '' }), 'Q', 52)
  const boundary = `=_notice_${hash('sha256', `boundary ${traceId}`).slice(0, 32)}`
  const reference = message.messageId === '' ? [] : [`In-Reply-To: <${message.messageId}>`, `References: <${message.messageId}>`]
  const head = [
    `Date: ${rfc5322Date(nowMs)}`,
    `Message-ID: <${messageId}>`,
    `From: ${formatMailbox(from)}`,
    `To: ${formatMailbox(to)}`,
    `Subject: ${subject}`,
    ...reference.filter((line) => /^[\u0020-\u007e]{1,900}$/.test(line)),
    'Auto-Submitted: auto-replied', // RFC 3834 §5
    'MIME-Version: 1.0',
  ].map((line) => foldLines(line, 76))
  const type = `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="${boundary}"`
  const parts = [
    withText(runAtOnce(textPart('text/plain', textOf(order)))),
    { headers: ['Content-Type: message/delivery-status'], body: [statusOf(order)] },
    withText(runAtOnce(textPart('text/rfc822-headers', message.header))),
  ]
  const body = parts.map(({ headers, body: text }) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${text.join('')}\r\n`)
  const whole = Buffer.from(`${head.join('\r\n')}\r\n${type}\r\n\r\n${body.join('')}--${boundary}--\r\n`)
  return {
    size: whole.length,
    pieces: [whole],
    facts: {
      ...{ prefix: '', subject, messageId, headerFrom: from.address, eightBit: false },
      headerAddresses: [from.address, to.address].map(foldAddress),
    },
  }
}

/** Converts the pieces of the body to strings. */
const withText = ({ headers, body }: Part): { readonly headers: readonly string[]; readonly body: readonly string[] } => ({
  headers,
  body: body.map(String),
})

const texts = (): ConfigCatalogs['mails']['failureNotice'] => catalogIn('mails', 'en').failureNotice

function textOf({ hostname, message, failed }: NoticeOrder): string {
  const { subject, acceptedAt, traceId } = message
  const { intro, replied, more: moreText, message: facts, automatic } = texts()
  const explained = failed.slice(0, maxExplained).map(({ address, reason, nextStep, diagnostic, remoteMta }) => {
    const reply = diagnostic && replied({ host: remoteMta ?? 'none', reply: diagnostic.text })
    return [address, ...[reason, reply, nextStep].flatMap((line) => (line === undefined ? [] : [`  ${line}`]))].join('\n')
  })
  const more = failed.length - explained.length
  return [
    intro({ hostname, count: failed.length }),
    ...explained,
    ...(more > 0 ? [moreText({ count: more })] : []),
    facts({ subject: subject.slice(0, maxSubject), at: new Date(acceptedAt).toISOString(), trace: traceId }),
    `${automatic}\n`,
  ].join('\n\n')
}

function statusOf({ hostname, message, failed }: NoticeOrder): string {
  const groups = [
    [`Reporting-MTA: dns; ${hostname}`, `X-Postern-Trace-Id: ${message.traceId}`, `Arrival-Date: ${rfc5322Date(message.acceptedAt)}`],
    ...failed.map(({ address, status, diagnostic, remoteMta, attemptedAt }) => [
      `Final-Recipient: ${typedAddress(address)}`,
      'Action: failed',
      `Status: ${status}`,
      ...(remoteMta === undefined || remoteMta === '' ? [] : [`Remote-MTA: dns; ${remoteMta}`]),
      ...(diagnostic ? [`Diagnostic-Code: ${diagnostic.type}; ${diagnostic.text}`] : []),
      ...(attemptedAt === undefined ? [] : [`Last-Attempt-Date: ${rfc5322Date(attemptedAt)}`]),
    ]),
  ]
  return groups.map((fields) => `${fields.map((field) => foldLines(inAscii(field), 76)).join('\r\n')}\r\n`).join('\r\n')
}

/** RFC 6533 §3: characters outside ASCII are escaped, so that the part stays 7bit. */
function typedAddress(address: string): string {
  if (/^[\u0020-\u007e]*$/.test(address)) return `rfc822; ${address}`
  const escaped = [...address].map((character) => {
    const code = character.codePointAt(0) ?? 0
    return code > 0x7e || character === '\\' || character === '+' || character === '='
      ? `\\x{${code.toString(16).toUpperCase()}}`
      : character
  })
  return `utf-8; ${escaped.join('')}`
}

/** Returns one line of printable ASCII. A server's reply may contain any characters. */
const inAscii = (line: string): string => line.replaceAll(/[^\u0020-\u007e]+/g, (found) => (/^\s+$/.test(found) ? ' ' : '?'))
