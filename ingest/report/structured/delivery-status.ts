/** Parses delivery status notifications (RFC 3464), including the deviations of real senders. */
import { refusalRules } from '#config/mail/status-codes.ts'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { HeaderField } from '../../mime/header-fields.ts'
import { isMachine, plainAddress, typedAddress } from '../facts/mail-address.ts'
import { hostNamedIn, failureCodes, isVague, replyCodes } from '../facts/reply-codes.ts'
import { dateIn, reportEvent, type ReportFrame } from '../facts/report-event.ts'
import { valueIn, type FieldGroup } from '../facts/status-fields.ts'
import { unreachedStatus } from '../facts/unreached.ts'

export const maxRecipients = 1000

/** Facts from the text of the same mail, which complete its fields. */
export interface ProseHints {
  /** The notice reports a delay, not a failure. */
  readonly isDelay: boolean
  /** A server's text about the recipient. */
  textAbout(recipient: string): string
  /** Recipients in the text or header, for fields without an address. */
  readonly recipients: readonly string[]
}

type Action = NonNullable<FeedbackEvent['action']>

const typeOf: Readonly<Record<Action, FeedbackEvent['type']>> = {
  failed: 'bounced',
  delayed: 'deferred',
  delivered: 'delivered',
  relayed: 'delivered',
  expanded: 'delivered',
  complaint: 'complained',
}

/**
 * Returns one event for each recipient. Duplicates with the same outcome count once. `isStructured` is false for fields in the text of a
 * notice.
 */
export function deliveryEvents(
  groups: readonly FieldGroup[],
  frame: ReportFrame,
  hints: ProseHints,
  isStructured: boolean,
): FeedbackEvent[] {
  const events = new Map<string, FeedbackEvent>()
  for (const group of withStrays(groups)) {
    if (events.size === maxRecipients) break
    const event = eventOf(group, frame, hints, isStructured)
    if (!event) continue
    const same = `${event.type} ${event.recipient?.toLowerCase() ?? ''}`
    const had = events.get(same)
    if (!had || (isVague(had.status ?? '0.0.0') && !isVague(event.status ?? '0.0.0'))) events.set(same, event)
  }
  return [...events.values()]
}

/** Joins groups that an empty line split: a recipient without an outcome, followed by an outcome without a recipient. */
function withStrays(groups: readonly FieldGroup[]): FieldGroup[] {
  const whole: FieldGroup[] = []
  for (const group of groups) {
    const before = whole.at(-1)
    const isStray =
      before !== undefined && namesRecipient(before) && !reportsOutcome(before) && !namesRecipient(group) && reportsOutcome(group)
    if (isStray) whole[whole.length - 1] = { fields: [...before.fields, ...group.fields] }
    else whole.push(group)
  }
  return whole
}

/** The group names a recipient. */
export const namesRecipient = (group: FieldGroup): boolean =>
  valueIn(group, 'final-recipient') !== undefined || valueIn(group, 'original-recipient') !== undefined
/** The group reports an outcome. */
export const reportsOutcome = (group: FieldGroup): boolean =>
  valueIn(group, 'action') !== undefined || valueIn(group, 'status') !== undefined

function eventOf(group: FieldGroup, frame: ReportFrame, hints: ProseHints, isStructured: boolean): FeedbackEvent | undefined {
  const names = ['final-recipient', 'original-recipient', 'x-actual-recipient'].map((name) => valueIn(group, name))
  if (names.every((name) => name === undefined)) return undefined
  const [final, original, actual] = names.map((name) => (name === undefined ? undefined : (typedAddress(name) ?? wrongAddress(name))))
  const recipient = final ?? original ?? hints.recipients[0] ?? actual ?? null
  const diagnostic = replyIn(group)
  const about = recipient === null ? '' : hints.textAbout(recipient)
  const action = actionOf(valueIn(group, 'action'), valueIn(group, 'status'), hints)
  const isFailure = action === 'failed' || action === 'delayed'
  const codes = (isFailure ? failureCodes : replyCodes)(diagnostic ?? '')
  const inText = isFailure ? failureCodes(about) : { smtpCode: null, status: null }
  const isOther = original !== undefined && original.toLowerCase() !== recipient?.toLowerCase()
  return reportEvent(frame, {
    type: typeOf[action],
    isStructured,
    occurredAt: dateIn(valueIn(group, 'last-attempt-date')) ?? frame.writtenAt,
    recipient,
    originalRecipient: isOther ? original : null,
    action,
    status: statusOf(valueIn(group, 'status'), codes, {
      status: inText.status,
      unreached: unreachedIn(codes, `${diagnostic ?? ''}\n${about}`, action),
      notReached: codes.status === null ? unreachedIn(codes, diagnostic ?? '', action) : null,
      action,
    }),
    smtpCode: codes.smtpCode ?? inText.smtpCode,
    diagnostic: diagnostic === undefined || /^\s*\d{0,3}\s*$/.test(diagnostic) ? about || (diagnostic ?? '') : diagnostic,
    remote: valueIn(group, 'remote-mta') ?? hostNamedIn(diagnostic ?? ''),
  })
}

/**
 * The reply of the refusing server. Diagnostic-Code contains it (RFC 3464 §2.3.6). If that field contains only text of the reporting
 * program, an extension field may contain it (RFC 3464 §2.3.10), such as X-Supplementary-Info.
 */
function replyIn(group: FieldGroup): string | undefined {
  const own = valueIn(group, 'diagnostic-code')?.replace(/^\s*[\w-]{1,40}\s*;/, '')
  if (own !== undefined && replyCodes(own).smtpCode !== null) return own
  for (const [name, value] of group.fields) {
    if (!name.startsWith('x-')) continue
    const isNamed = /reply|response|diagnos/.test(name)
    const reply =
      /^(?:<[^<>;]{0,300})?\bsmtp ?; ?([245]\d\d[ -].*)$/.exec(value)?.[1] ?? (isNamed ? /^[245]\d\d[ -].*$/.exec(value)?.[0] : undefined)
    if (reply !== undefined) return reply.replace(/>$/, '')
  }
  return own
}

/** An invalid address, which may be the reason for the failure. */
const wrongAddress = (value: string): string | undefined =>
  /^\s*(?:[\w/-]{1,40}\s*;)?\s*<?([^\s<>@|/;]{1,128}@[^\s<>@;]{1,190})>?\s*$/.exec(value.slice(0, 500))?.[1]

/** Parses the action (RFC 3464 §2.3.3) by the beginning of the word. If it is missing, the class of the status decides. */
function actionOf(value: string | undefined, status: string | undefined, { isDelay }: ProseHints): Action {
  const word = /[a-z]+/i.exec(value ?? '')?.[0]?.toLowerCase() ?? ''
  if (word.startsWith('delay') || word === 'deferred') return 'delayed'
  if (word === 'relayed' || word === 'expanded') return word
  if (word === 'delivered' || word === 'deliverable') return 'delivered'
  if (word !== '') return 'failed'
  if (status?.startsWith('2')) return 'delivered'
  return isDelay ? 'delayed' : 'failed'
}

/** Facts about a recipient other than the reported status and the codes in Diagnostic-Code. */
interface OtherSigns {
  /** Status in the text of the report. */
  readonly status: string | null
  /** Status derived from text about an unreachable server. */
  readonly unreached: string | null
  /** The same, if the text is in Diagnostic-Code, which describes the failed attempt. */
  readonly notReached: string | null
  readonly action: Action
}

/** Statuses without detail, and statuses about a mailbox or an unknown route. No server gave such a status if none was reached. */
const blamesAddress = /^5\.(?:[0-6]\.0|[12]\.\d+|4\.4)$/

/**
 * The reported status, unless it is vague: `x.0.0`, or the digits of the reply code as a status (`550` as `5.5.0`, Stalwart). Then the
 * diagnostic decides, then text with a status of the same class, then text about an unreachable server.
 */
function statusOf(given: string | undefined, codes: ReturnType<typeof failureCodes>, other: OtherSigns): string | null {
  const status = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(given ?? '')?.[0] ?? null
  if (isTheirs(status, codes)) return codes.status
  if (status !== null && blamesAddress.test(status) && other.notReached !== null) return other.notReached
  if (status !== null && !isVague(status) && status !== digitsOf(codes.smtpCode)) return status
  if (codes.status !== null && !isVague(codes.status)) return codes.status
  if (status === null) return codes.status ?? other.status ?? other.unreached ?? derived(codes.smtpCode, other.action)
  const { status: said } = other
  return said !== null && !isVague(said) && said.startsWith(status.charAt(0)) ? said : (other.unreached ?? status)
}

const mailboxFaults: ReadonlySet<string> = new Set(['recipient_unknown', 'recipient_moved', 'mailbox_disabled', 'mailbox_full'])
const mailboxRules = refusalRules.filter(({ text, status, meaning }) => text && !status && mailboxFaults.has(meaning.category))

/** A failure without a permanent reply may mean an unreachable server, unless the text reports a fault of the mailbox. */
function unreachedIn({ smtpCode }: ReturnType<typeof failureCodes>, about: string, action: Action): string | null {
  if ((action !== 'failed' && action !== 'delayed') || (smtpCode !== null && smtpCode >= 500)) return null
  const status = unreachedStatus(about, action === 'delayed')
  const line = about.slice(0, 2000).replaceAll(/\s+/g, ' ')
  return status !== null && mailboxRules.some(({ text }) => text?.test(line)) ? null : status
}

/**
 * True if the refusing server's code replaces the reported status. Sendmail and others derive that status from the reply. A reported
 * `4.4.7` (expired) stays.
 */
const isTheirs = (status: string | null, codes: ReturnType<typeof failureCodes>): boolean =>
  status !== null &&
  status !== '4.4.7' &&
  codes.smtpCode !== null &&
  codes.status !== null &&
  !codes.status.endsWith('.0') &&
  codes.status.charAt(0) === status.charAt(0) &&
  codes.status.charAt(0) === String(codes.smtpCode).charAt(0)

const digitsOf = (code: number | null): string => [...String(code ?? '')].join('.')

function derived(code: number | null, action: Action): string | null {
  if (code !== null) return `${String(code).charAt(0)}.0.0`
  if (action === 'failed') return '5.0.0'
  return action === 'delayed' ? '4.0.0' : '2.0.0'
}

/** The addresses in X-Failed-Recipients (Exim, Google; 50 in each field), without duplicates and without senders of reports. */
export function listedRecipients(report: readonly HeaderField[]): string[] {
  const listed = report
    .filter(({ name }) => name.toLowerCase() === 'x-failed-recipients')
    .flatMap(({ value }) => value.split(/[,;\s]+/, maxRecipients))
    .slice(0, maxRecipients)
    .flatMap((entry) => plainAddress(entry.replaceAll(/[<>]/g, '')) ?? [])
    .filter((address) => !isMachine(address))
  const first = new Map<string, string>()
  for (const address of listed) if (!first.has(address.toLowerCase())) first.set(address.toLowerCase(), address)
  return [...first.values()]
}
