/**
 * Parses mails that report the outcome of a message: bounces, delays, complaints, receipts. Accepts the forms of many programs, in linear
 * time.
 */
import type { FeedbackEvent, FeedbackFormat, ReportReading } from '#core/feedback/event.ts'
import { firstValue, headerFields, type HeaderField } from '../mime/header-fields.ts'
import { headerSigns, reportsDelay, reportsFailure, type HeaderSigns } from './prose/bounce-signs.ts'
import { isNamedAsFailed, namedRecipients, saidAbout, type ReplyText } from './prose/bounce-text.ts'
import {
  deliveryEvents,
  listedRecipients,
  namesRecipient,
  maxRecipients,
  reportsOutcome,
  type ProseHints,
} from './structured/delivery-status.ts'
import { dispositionEvents } from './structured/disposition.ts'
import { failedRecipients, mayHaveFailed, silent, type NoticeFacts } from './prose/failed-recipients.ts'
import { feedbackEvents, isBareJunkReport, isJunkReport, junkReportEvent, optOutEvent } from './structured/feedback-report.ts'
import { listRefusalEvent } from './prose/list-refusal.ts'
import { mailsOf } from './mail/mbox.ts'
import { noticeText, type NoticeText } from './mail/notice-text.ts'
import { partOctets, partText } from './mail/part-text.ts'
import { hostNamedIn, failureCodes } from './facts/reply-codes.ts'
import { collectEvidence, fieldValues } from './facts/report-evidence.ts'
import { dateIn, hostIn, reportEvent, type ReportFrame } from './facts/report-event.ts'
import { openReportMail, withSingleLineEnds, type ReportMail, type ReportPart } from './mail/report-mail.ts'
import { sesEvents } from './structured/ses-notice.ts'
import { fieldGroups, type FieldGroup } from './facts/status-fields.ts'
import { reportsExpiry, unreachedStatus } from './facts/unreached.ts'

const statusTypes = new Set(['message/delivery-status', 'message/global-delivery-status'])
const dispositionTypes = new Set(['message/disposition-notification', 'message/global-disposition-notification'])
const returnedTypes = /^(?:message\/(?:rfc822|global|rfc822-headers|global-headers|partial)|text\/rfc822(?:-headers?)?)$/
/** Exchange converts message/delivery-status to a text attachment when it forwards a report. */
const attachedFields = /^\s*reporting-mta\s*:/i
const maxReturned = 256 * 1024
const maxNotices = 4

/** A parsed mail, as input for the readers of each kind. */
interface OpenReport {
  readonly mail: ReportMail
  readonly signs: HeaderSigns
  /** The text of the mail. `notice` is the part that the reporting server wrote. */
  readonly text: string
  readonly notice: NoticeText
  /** The header of the returned message. */
  readonly returned: readonly HeaderField[]
}

/**
 * Returns the events of the outermost report in a mail. A report inside the returned message does not count, unless a gateway wrapped a
 * notice and added no information. Ordinary mail is `none`, and an automatic reply is `auto_reply`; both have no events. Never throws.
 * Returns at most 1,000 events.
 */
export function readReport(raw: Uint8Array): ReportReading {
  const [only, ...more] = mailsOf(raw)
  if (only !== undefined && more.length === 0) return readOne(only)
  const readings: ReportReading[] = []
  let count = 0
  for (const mail of only === undefined ? [] : [only, ...more]) {
    if (count >= maxRecipients) break
    const reading = readOne(mail)
    count += reading.events.length
    readings.push(reading)
  }
  const kind = (readings.find(({ events }) => events.length > 0) ?? readings[0])?.kind ?? 'none'
  return { kind, events: readings.flatMap(({ events }) => events).slice(0, maxRecipients) }
}

function readOne(raw: Buffer): ReportReading {
  const report = opened(withSingleLineEnds(raw))
  return feedbackReading(report) ?? statusReading(report) ?? dispositionReading(report) ?? wrappedReading(report) ?? proseReading(report)
}

function opened(raw: Uint8Array): OpenReport {
  const mail = openReportMail(raw)
  const text = noticeParts(mail.parts).map(partText).join('\n')
  const notice = noticeText(text)
  const inside = mail.parts.find(({ type }) => returnedTypes.test(type))
  const returned = inside ? headerFields(partOctets(inside).subarray(0, maxReturned)) : notice.returned
  return { mail, signs: headerSigns(mail.fields), text, notice, returned }
}

/** The text parts before the returned message: plain text, or HTML if there is no plain text. Attachments are skipped. */
function noticeParts(parts: readonly ReportPart[]): readonly ReportPart[] {
  const end = parts.findIndex(({ type }) => returnedTypes.test(type))
  const before = end <= 0 ? parts : parts.slice(0, end)
  const shown = before.filter(({ fields }) => !/^\s*attachment/i.test(firstValue(fields, 'content-disposition') ?? ''))
  const plain = shown.filter(({ type }) => type === 'text/plain' || type === 'text/enriched' || type.startsWith('multipart/'))
  return (plain.length > 0 ? plain : shown.filter(({ type }) => type === 'text/html')).slice(0, maxNotices)
}

const factsOf = ({ mail, notice, returned }: OpenReport): NoticeFacts => ({ fields: mail.fields, lines: notice.lines, returned })

function frameOf({ mail, returned }: OpenReport, format: FeedbackFormat, groups: readonly FieldGroup[]): ReportFrame {
  return {
    format,
    clues: collectEvidence({ report: mail.fields, returned, groups }),
    reportId: firstValue(mail.fields, 'message-id') ?? '',
    writtenAt: dateIn(firstValue(mail.fields, 'date')),
    reportingMta: hostIn(fieldValues(groups, 'reporting-mta')[0] ?? '').name,
  }
}

const groupsOf = (mail: ReportMail, isWanted: (type: string) => boolean): FieldGroup[] =>
  mail.parts.filter(({ type }) => isWanted(type)).flatMap((part) => fieldGroups(partText(part)))

function feedbackReading(report: OpenReport): ReportReading | undefined {
  const { mail, returned, notice } = report
  const groups = groupsOf(mail, (type) => type === 'message/feedback-report')
  if (groups.length > 0) return feedback(feedbackEvents(groups, returned, frameOf(report, 'arf', groups)))
  if (isJunkReport(mail.fields, returned)) return feedback([junkReportEvent(returned, frameOf(report, 'arf', []))])
  if (isBareJunkReport(mail.fields))
    return feedback([junkReportEvent(mail.fields, frameOf({ ...report, returned: mail.fields }, 'arf', []))])
  const optOut = optOutEvent(mail.fields, frameOf(report, 'arf', []))
  if (optOut) return feedback([optOut])
  const inText = fieldGroups(notice.lines.join('\n')).filter(({ fields }) => fields.some(([name]) => name === 'feedback-type'))
  const isReport = inText.some(
    ({ fields }) => fields.some(([name]) => name === 'user-agent') && fields.some(([name]) => name === 'version'),
  )
  if (!isReport) return undefined
  const events = feedbackEvents(inText, returned, frameOf(report, 'arf', inText))
  return feedback(events.map((event) => ({ ...event, isStructured: false })))
}

const feedback = (events: readonly FeedbackEvent[]): ReportReading => ({ kind: 'feedback', events })

/** Reads the fields of a delivery-status part, or fields in the text of a forwarded or flattened notice. */
function statusReading(report: OpenReport): ReportReading | undefined {
  const own = groupsOf(report.mail, (type) => statusTypes.has(type))
  const structured = statusEvents(report, own, true)
  if (structured.length > 0) return { kind: 'dsn', events: structured }
  const { isFromMachine, hasNullPath, reportsFailure: subjectSaysSo } = report.signs
  if (!isFromMachine && !hasNullPath && !subjectSaysSo) return undefined
  const attached = report.mail.parts.filter(
    ({ type, body }) => type === 'text/plain' && attachedFields.test(body.toString('latin1', 0, 200)),
  )
  const inText = [...attached.map(partText), report.notice.beforeMark.join('\n')].flatMap(fieldGroups)
  const flattened = inText.some(isRecipientGroup) ? statusEvents(report, inText, false) : []
  return flattened.length > 0 ? { kind: 'dsn', events: flattened } : undefined
}

const isRecipientGroup = (group: FieldGroup): boolean => namesRecipient(group) && reportsOutcome(group)

function statusEvents(report: OpenReport, groups: readonly FieldGroup[], isStructured: boolean): FeedbackEvent[] {
  if (groups.length === 0) return []
  const isOnly = groups.filter(namesRecipient).length === 1
  return deliveryEvents(groups, frameOf(report, 'dsn', groups), hintsOf(report, isOnly), isStructured)
}

function hintsOf({ mail, notice, signs, returned }: OpenReport, isOnly: boolean): ProseHints {
  const named = namedRecipients(notice.lines, mayHaveFailed({ fields: mail.fields, returned }))
  const byAddress = new Map(named.map((recipient) => [recipient.address.toLowerCase(), recipient]))
  const said = new Map<string, string>()
  return {
    isDelay: signs.reportsDelay || reportsDelay(notice.lines.join('\n')),
    recipients: [...listedRecipients(mail.fields), ...named.map(({ address, original }) => original ?? address)],
    textAbout: (address) => {
      const key = address.toLowerCase()
      const recipient = byAddress.get(key) ?? (isOnly ? silent(address) : undefined)
      if (!recipient) return ''
      const about = said.get(key) ?? saidAbout(recipient, notice.lines, isOnly).about
      said.set(key, about)
      return about
    },
  }
}

function dispositionReading(report: OpenReport): ReportReading | undefined {
  const { mail, notice } = report
  const groups = groupsOf(mail, (type) => dispositionTypes.has(type))
  if (groups.length === 0) return undefined
  const text = `${firstValue(mail.fields, 'subject') ?? ''} ${firstValue(mail.fields, 'auto-submitted') ?? ''} ${notice.lines.join('\n').slice(0, 4000)}`
  const isRejection = /\breject(?:ed|ion)?\b|\brefused\b/i.test(text)
  return { kind: 'mdn', events: dispositionEvents(groups, notice.lines.join('\n'), isRejection, frameOf(report, 'dsn', groups)) }
}

/** Reads the notice inside a gateway's notice that names no recipient. Its fields count as text, not as structured fields. */
function wrappedReading(report: OpenReport): ReportReading | undefined {
  const { mail, signs } = report
  if (!signs.isFromMachine && !signs.hasNullPath) return undefined
  const inside = mail.parts.find(({ type }) => type === 'message/rfc822' || type === 'message/global')
  if (!inside || failedRecipients({ ...factsOf(report), returned: [] }).length > 0) return undefined
  const inner = opened(partOctets(inside))
  if (!inner.signs.isFromMachine) return undefined
  const reading = statusReading(inner) ?? proseReading(inner)
  if (reading.events.length === 0) return undefined
  return { kind: reading.kind, events: reading.events.map((event) => ({ ...event, isStructured: false })) }
}

function proseReading(report: OpenReport): ReportReading {
  const { mail, signs, notice } = report
  const text = notice.lines.join('\n')
  const ses = sesEvents(report.text, frameOf(report, 'dsn', []))
  if (ses && ses.length > 0) return { kind: ses.some(({ action }) => action === 'complaint') ? 'feedback' : 'dsn', events: ses }
  const refusal = listRefusalEvent(mail.fields, text, frameOf(report, 'dsn', []))
  if (refusal) return { kind: 'dsn', events: [refusal] }
  const events = isBounce(report, text) ? proseEvents(report, text) : []
  if (events.length > 0) return { kind: 'dsn', events }
  const isReply = signs.isAutoReply || (signs.hasNullPath && !signs.isFromMachine && mail.fields.length > 0)
  return { kind: isReply ? 'auto_reply' : 'none', events: [] }
}

/**
 * Decides whether a mail is a bounce. For a machine that returns mail, either the subject or the text must report a failure. For other
 * senders, both must, and the mail must contain further evidence: a null reverse-path, a reply code, the returned message, or an address
 * directly below the failure text. With a null reverse-path, text that names a recipient and the returned message are sufficient.
 */
function isBounce(report: OpenReport, text: string): boolean {
  const { mail, signs, returned, notice } = report
  if (listedRecipients(mail.fields).length > 0) return true
  const subject = signs.reportsFailure || signs.reportsDelay
  const body = reportsFailure(text) || reportsDelay(text)
  if (signs.isFromMachine) return subject || body
  if (!body) return false
  const mayBe = mayHaveFailed({ fields: mail.fields, returned })
  if (!subject) return signs.hasNullPath && !signs.isAutoReply && returned.length > 0 && namedRecipients(notice.lines, mayBe).length > 0
  if (/delivery-status/i.test(mail.parameters.get('report-type') ?? '')) return true
  if (signs.isAutoReply) return false
  const { smtpCode, status } = failureCodes(text)
  if (signs.hasNullPath || returned.length > 0 || smtpCode !== null || status !== null) return true
  return !signs.isAnswer && isNamedAsFailed(notice.lines, mayBe)
}

function proseEvents(report: OpenReport, text: string): FeedbackEvent[] {
  const { signs, notice } = report
  const frame = frameOf(report, 'dsn', [])
  const recipients = failedRecipients(factsOf(report))
  if (recipients.length === 0 && !reportsFailure(text)) return []
  const isOnly = recipients.length < 2
  const isDelay = (signs.reportsDelay || reportsDelay(text)) && !reportsExpiry(text)
  return (isOnly ? [recipients[0]] : recipients).map((recipient) => {
    const said = saidAbout(recipient ?? { address: '', about: '' }, notice.lines, isOnly)
    return reportEvent(frame, {
      type: isDelay ? 'deferred' : 'bounced',
      isStructured: false,
      recipient: recipient?.address ?? null,
      originalRecipient: recipient?.original ?? null,
      action: isDelay ? 'delayed' : 'failed',
      status: said.status ?? vagueStatus(said, isDelay, isOnly ? text : said.about),
      smtpCode: said.smtpCode,
      diagnostic: said.about,
      remote: hostNamedIn(said.about) ?? (isOnly ? hostNamedIn(text.slice(0, 8192)) : undefined),
    })
  })
}

/** Derives a status (RFC 3463 §2) if no server gave an enhanced status code. */
function vagueStatus({ smtpCode }: ReplyText, isDelay: boolean, text: string): string {
  const kind = smtpCode === null ? (isDelay ? '4' : '5') : String(smtpCode).charAt(0)
  return (smtpCode === null || kind === '4' ? unreachedStatus(text, isDelay) : null) ?? `${kind}.0.0`
}
