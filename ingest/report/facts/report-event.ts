/** Builds the events of a report: texts on one line and within limits, and a key that depends only on the report. */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { FeedbackEvidence, FeedbackEvent, FeedbackFormat } from '#core/feedback/event.ts'

/** Facts common to all events of a report. */
export interface ReportFrame {
  readonly format: FeedbackFormat
  readonly clues: FeedbackEvidence
  /** Message-ID of the report; empty if missing. */
  readonly reportId: string
  /** Date of the report; null if missing. */
  readonly writtenAt: number | null
  readonly reportingMta: string | null
}

/** Facts of one event; unknown facts are omitted. */
export type EventFacts = Partial<
  Omit<FeedbackEvent, 'format' | 'key' | 'clues' | 'reportingMta' | 'type' | 'isStructured' | 'diagnostic' | 'remoteMta'>
> & {
  readonly type: FeedbackEvent['type']
  readonly isStructured: boolean
  readonly diagnostic?: string | null
  /** The remote host as written: `dns; mx.example.net ([192.0.2.1])`. */
  readonly remote?: string | undefined
}

const maxDiagnostic = 2000
const maxHost = 255

export function reportEvent(frame: ReportFrame, { remote, diagnostic, ...facts }: EventFacts): FeedbackEvent {
  const host = remote === undefined ? undefined : hostIn(remote)
  const event = {
    occurredAt: frame.writtenAt,
    recipient: null,
    originalRecipient: null,
    action: null,
    status: null,
    smtpCode: null,
    feedbackType: null,
    remoteIp: host?.ip ?? null,
    ...facts,
    diagnostic: oneLine(diagnostic ?? ''),
    remoteMta: host?.name ?? null,
    format: frame.format,
    reportingMta: frame.reportingMta,
    clues: frame.clues,
  }
  return { ...event, key: keyOf(frame, event) }
}

/** Hashes the content of the report, independent of the time and path of its arrival. */
function keyOf({ format, reportId, writtenAt, reportingMta, clues }: ReportFrame, event: Omit<FeedbackEvent, 'key'>): string {
  const facts = [
    ...['report.v1', format, event.type, event.recipient?.toLowerCase() ?? '', event.status ?? '', event.feedbackType ?? ''],
    ...[reportId, String(writtenAt ?? ''), reportingMta ?? '', clues.messageIds[0] ?? '', clues.envelopeIds[0] ?? ''],
  ]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

function oneLine(reply: string): string | null {
  const line = reply
    .slice(0, 4 * maxDiagnostic)
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return line === '' ? null : line.slice(0, maxDiagnostic).toWellFormed()
}

/** Parses a host such as `dns; mx.example.net. (192.0.2.1, the server for …)`: its name, and its address if present. */
export function hostIn(written: string): { readonly name: string | null; readonly ip: string | null } {
  const text = written
    .slice(0, 1000)
    .replace(/^\s*[\w-]{1,40}\s*;/, '')
    .trim()
  // Sun's and Oracle's servers report both ends: TCP, local address and port, remote address and port
  const far = /\(TCP\|[^|)]{2,45}\|\d{1,5}\|([^|)]{2,45})\|/.exec(text)?.[1] ?? text
  const ip = (far.match(/[\da-fA-F:.]{2,45}/g) ?? []).map((found) => found.replace(/[.:]$/, '')).find((found) => isIP(found) !== 0) ?? null
  const name =
    /^\[?([\w.:-]+)/
      .exec(text)?.[1]
      ?.replace(/[.:]+$/, '')
      .toLowerCase() ?? ''
  return { name: name === '' || name.length > maxHost ? ip : name, ip }
}

/** Parses a date (RFC 5322 §3.3) leniently, to milliseconds since 1970; null if the value is not a date. */
export function dateIn(value: string | undefined): number | null {
  const text = /\d{1,2}[ -][A-Za-z]{3}[a-z]*[ -]\d{2,4}.{0,60}|\d{4}-\d\d-\d\dT.{1,30}/.exec((value ?? '').slice(0, 200))?.[0]
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) || at < 0 || at > Date.UTC(2200) ? null : at
}
