/**
 * Writes the message of a channel: marks the findings as told, adds the delivery or the mails, and sets the time of the next look, in one
 * write. A crash therefore repeats nothing and loses nothing.
 */
import type { Change } from '#store/change.ts'
import type { RoleScopes } from '../access/principal/role.ts'
import type { Core } from '../core.ts'
import { findings } from '../findings/finding.ts'
import { factsOf } from '../findings/kinds.ts'
import type { Outbox } from '../people/mail/outbox.ts'
import { membersWho } from '../people/mail/member-notices.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { organizations } from '../tenancy/organization.ts'
import { addDelivery } from '../webhooks/events/add-delivery.ts'
import { alertsUrl } from './alerts-url.ts'
import { arrivesWithinMs, type Arrivals } from './arrivals.ts'
import type { ChannelBook } from './channel-book.ts'
import { writeState, type StoredState } from './channel-state.ts'
import { isMailed, isReady, type AlertChannel } from './channels/alert-channel.ts'
import { openTarget } from './channels/channel-target.ts'
import { recipientPath } from './channels/confirmations.ts'
import { asOperatorSees, findingsToTell, type FindingAt } from './findings-to-tell.ts'
import { alertEvent, type EventFacts } from './kinds/alert-event.ts'
import { alertMail, type MailReason } from './kinds/mail.ts'
import { messageOf, plan, skewMs, type Message, type Plan } from './plan.ts'
import { removeRows, earlierReports, type EarlierReports } from './earlier-reports.ts'

export interface TellingOptions extends Core {
  readonly book: ChannelBook
  readonly mail: Pick<SystemMail, 'isReady' | 'fateOf' | 'urlOf'>
  readonly outbox: Pick<Outbox, 'add' | 'wake'>
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface Planned extends Plan {
  readonly channels: readonly AlertChannel[]
  readonly stored: readonly FindingAt[]
  readonly before: EarlierReports
}

/** Reads the findings, and plans the message of the channel. */
export async function planned(
  { database, book }: TellingOptions,
  organizationId: string,
  channel: AlertChannel,
  sentAt: readonly number[],
  now: number,
): Promise<Planned> {
  const channels = await book.of(organizationId)
  const failing = await book.failing(organizationId, channels.filter(isReady))
  const stored = await findingsToTell(database, organizationId, now)
  const before = organizationId === systemOrganizationId ? await earlierReports(database, stored, idsOf(channels), now) : noneBefore
  const seen = stored.map(({ organizationId: owner, record }) => {
    const mark = before.marks.get(record.id)
    const shown = { ...(organizationId === systemOrganizationId ? asOperatorSees(owner, record) : record), organizationId: owner }
    return mark ? { ...shown, notified: { ...shown.notified, ...mark } } : shown
  })
  const replaces = [...failing].some((id) => id !== channel.id)
  return { ...plan({ findings: seen, channel, sentAt, replaces }, now), channels, stored, before }
}

const noneBefore: EarlierReports = { marks: new Map(), rows: [] }

const idsOf = (channels: readonly AlertChannel[]): readonly string[] => channels.map(({ id }) => id)

export interface Looked {
  readonly organizationId: string
  readonly channel: AlertChannel
  readonly before: StoredState
  readonly planned: Planned
  readonly arrivals: Arrivals
  /** Whether a message can leave now. */
  readonly canSend: boolean
}

/** Returns whether a message was written. */
export async function tell(options: TellingOptions, change: Change, looked: Looked, now: number): Promise<boolean> {
  const { organizationId, channel, before, planned: result, arrivals, canSend } = looked
  const { message } = result
  const sent = message && canSend ? await send(options, change, looked, message, now) : undefined
  const isSent = sent !== undefined
  markNotified(options, change, looked, isSent ? result.notified : new Map())
  // without a recipient, a day: a new member gets the error then, and an idle organization has one write a day
  const againMs = now + (canSend ? dayMs : hourMs)
  // a failing channel looks daily: its recipient can leave
  const stillMs = arrivals.failingSince === null ? null : now + dayMs
  const laterMs = [arrivals.nextMs, message && !isSent ? againMs : result.nextMs, isSent ? now + arrivesWithinMs : null, stillMs]
  const dueMs = Math.min(...laterMs.map((ms) => ms ?? Infinity))
  writeState(change, organizationId, channel.id, before, {
    dueMs: dueMs === Infinity ? null : dueMs,
    sentAt: [...before.state.sentAt.filter((at) => at > now - hourMs && at <= now + skewMs), ...(isSent ? [now] : [])],
    unchecked: [...arrivals.unchecked, ...(isSent ? [[now, ...sent] as const] : [])],
    failingSince: arrivals.failingSince,
  })
  return isSent
}

/** Marks the findings. An organization drops marks of channels that it no longer has; marks of the operator stay. */
function markNotified({ book }: TellingOptions, change: Change, looked: Looked, notified: Plan['notified']): void {
  const { organizationId, channel, planned: result } = looked
  const known = new Set(idsOf([...result.channels, ...book.operator]))
  const isKnown = (id: string): boolean => organizationId === systemOrganizationId || known.has(id)
  for (const one of result.stored) {
    const mark = notified.get(one.record.id)
    const before = result.before.marks.get(one.record.id)
    if (!mark && !before) continue
    const kept = Object.fromEntries(Object.entries(one.record.notified).filter(([id]) => isKnown(id)))
    const marks = { ...kept, ...before, ...(mark && { [channel.id]: mark }) }
    change.rewrite(findings, one.organizationId, one, { ...one.record, notified: marks })
  }
  removeRows(change, result.before)
}

type Sent = readonly [deliveryId: string, mailIds?: readonly string[]]

/** Adds the delivery or the mails. Returns undefined if there is no recipient. */
async function send(
  options: TellingOptions,
  change: Change,
  { organizationId, channel, planned: result }: Looked,
  message: Message,
  at: number,
): Promise<Sent | undefined> {
  const { database, policies, mail } = options
  const { organization } = await policies.of(organizationId)
  const id = database.newId('evt', at)
  const url = mail.urlOf(alertsUrl(organizationId, channel))
  const owners = organizationId === systemOrganizationId ? await ownersOf(database, result.stored, message) : undefined
  const facts = { id, at, organization, url, language: channel.language, owners }
  if (isMailed(channel)) {
    const mailIds = await addMails(options, change, await mailsOf(options, organizationId, channel, message, result), facts)
    return mailIds.length > 0 ? ['', mailIds] : undefined
  }
  const endpoint = { endpointId: channel.id, projectId: channel.projectId }
  const delivery = {
    eventId: id,
    eventType: 'alert',
    ...endpoint,
    traceId: null,
    body: JSON.stringify(alertEvent(facts, message)),
    at,
  } as const
  return [addDelivery(database, change, organizationId, delivery)]
}

/** Returns the organizations of the findings in the message, by finding id. */
async function ownersOf(database: Core['database'], stored: readonly FindingAt[], message: Message): Promise<EventFacts['owners']> {
  const shown = new Set([...message.open, ...message.over].map(({ id }) => id))
  const own = stored.filter(({ organizationId, record }) => organizationId !== systemOrganizationId && shown.has(record.id))
  const found = await database.getOwn(
    organizations,
    own.map(({ organizationId }) => organizationId),
  )
  return new Map(own.flatMap(({ record }, at) => (found[at] ? [[record.id, found[at].record] as const] : [])))
}

/** The same mail to several people. */
interface MailTo {
  readonly why: MailReason
  readonly addresses: readonly string[]
  readonly message: Message
}

async function addMails(
  { outbox }: TellingOptions,
  change: Change,
  mails: readonly MailTo[],
  facts: EventFacts,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const { why, addresses, message } of mails) {
    const text = alertMail(alertEvent(facts, message), facts.language, why)
    for (const address of addresses) {
      const id = await outbox.add(change, address, text)
      if (id !== undefined) ids.push(id)
    }
  }
  return ids
}

/** Members who see billing but do not administer the organization get only what they may read; see `Findings`. */
async function mailsOf(
  { database, secrets, mail }: TellingOptions,
  organizationId: string,
  channel: AlertChannel,
  message: Message,
  { stored, notified }: Planned,
): Promise<readonly MailTo[]> {
  if (channel.kind === 'mail') {
    const address = openTarget(secrets, channel)?.address
    if (address === undefined) return []
    const stopUrl = mail.urlOf(recipientPath(secrets, organizationId, { id: channel.id, address }))
    return [{ why: organizationId === systemOrganizationId ? 'operator' : { stopUrl }, addresses: [address], message }]
  }
  const membersOf = async (may: (role: RoleScopes) => boolean): Promise<readonly string[]> =>
    (await membersWho(database, organizationId, may)).flatMap(({ email, noAlertMail }) => (noAlertMail === true ? [] : [email]))
  const reported = stored.map(({ record }) => record).filter(({ id, kind }) => notified.has(id) && factsOf(kind).group === 'quota')
  const administrators = await membersOf((role) => role.administersOrganization)
  const readers = reported.length === 0 ? [] : await membersOf((role) => role.seesBilling && !role.administersOrganization)
  return [
    { why: 'member', addresses: administrators, message },
    { why: 'billing', addresses: readers, message: messageOf(reported) },
  ]
}
