/**
 * Writes the message of a channel: marks the findings as told, adds the delivery or the mails, and sets the time of the next look, in one
 * write. A crash therefore repeats nothing and loses nothing.
 */
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { findings, type Finding } from '../findings/finding.ts'
import type { Outbox } from '../people/mail/outbox.ts'
import { membersWho } from '../people/mail/member-notices.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { addDelivery } from '../webhooks/events/add-delivery.ts'
import { alertsUrl } from './alerts-url.ts'
import { arrivesWithinMs, type Arrivals } from './arrivals.ts'
import type { ChannelBook } from './channel-book.ts'
import { writeState, type StoredState } from './channel-state.ts'
import { isMailed, isReady, type AlertChannel } from './channels/alert-channel.ts'
import { openTarget } from './channels/channel-target.ts'
import { alertEvent, type AlertEvent } from './kinds/alert-event.ts'
import { alertMail } from './kinds/mail.ts'
import { plan, type Message, type Plan } from './plan.ts'

export interface TellingOptions extends Core {
  readonly book: ChannelBook
  readonly mail: Pick<SystemMail, 'isReady' | 'isRefused' | 'urlOf'>
  readonly outbox: Pick<Outbox, 'add' | 'wake'>
}

/** Maximum number of open, and of ended findings that are examined. */
const maxFindings = 1000
/** Ends are told within this time. */
const rememberedMs = 2 * 86_400_000
const hourMs = 3_600_000

export interface Planned extends Plan {
  readonly channels: readonly AlertChannel[]
  readonly stored: readonly Stored<Finding>[]
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
  const stored = await findingsOf(database, organizationId, now)
  const replaces = [...failing].some((id) => id !== channel.id)
  return { ...plan({ findings: stored.map(({ record }) => record), channel, sentAt, replaces }, now), channels, stored }
}

async function findingsOf(database: Core['database'], organizationId: string, now: number): Promise<readonly Stored<Finding>[]> {
  const reach = { organizationId }
  const list = { limit: maxFindings, forWork: true } as const
  const open = await database.list(findings, reach, { ...list, index: 'listed', values: ['open'] })
  const isPast = ({ overAt }: Finding): boolean => (overAt ?? now) < now - rememberedMs
  const ended = await database.list(...([findings, reach, { ...list, index: 'ended' }] as const), {
    maxLooks: maxFindings,
    sort: (finding) => (isPast(finding) ? 'end' : 'take'),
  })
  return [...open.rows, ...ended.rows]
}

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
  const sent = message && canSend ? await send(options, change, organizationId, channel, message, now) : undefined
  const isSent = sent !== undefined
  if (isSent) markNotified(change, organizationId, channel.id, result)
  const laterMs = [arrivals.nextMs, message && !isSent ? now + hourMs : result.nextMs, isSent ? now + arrivesWithinMs : null]
  const dueMs = Math.min(...laterMs.map((ms) => ms ?? Infinity))
  writeState(change, organizationId, channel.id, before, {
    dueMs: dueMs === Infinity ? null : dueMs,
    sentAt: [...before.state.sentAt.filter((at) => at > now - hourMs), ...(isSent ? [now] : [])],
    unchecked: [...arrivals.unchecked, ...(isSent ? [[now, ...sent] as const] : [])],
    failingSince: arrivals.failingSince,
  })
  return isSent
}

/** Marks the findings; marks of channels that no longer exist are dropped. */
function markNotified(change: Change, organizationId: string, channelId: string, { notified, channels, stored }: Planned): void {
  const known = new Set(channels.map(({ id }) => id))
  for (const one of stored) {
    const mark = notified.get(one.record.id)
    if (!mark) continue
    const others = Object.entries(one.record.notified).filter(([id]) => known.has(id))
    change.rewrite(findings, organizationId, one, { ...one.record, notified: { ...Object.fromEntries(others), [channelId]: mark } })
  }
}

type Sent = readonly [deliveryId: string, mailIds?: readonly string[]]

/** Adds the delivery or the mails. Returns undefined if there is no recipient. */
async function send(
  options: TellingOptions,
  change: Change,
  organizationId: string,
  channel: AlertChannel,
  message: Message,
  at: number,
): Promise<Sent | undefined> {
  const { database, policies, mail } = options
  const { organization } = await policies.of(organizationId)
  const id = database.newId('evt', at)
  const url = mail.urlOf(alertsUrl(organizationId))
  const event = alertEvent({ id, at, organization, url, language: channel.language }, message)
  if (isMailed(channel)) {
    const mailIds = await addMails(options, change, organizationId, channel, event)
    return mailIds.length > 0 ? ['', mailIds] : undefined
  }
  const endpoint = { endpointId: channel.id, projectId: channel.projectId }
  const delivery = { eventId: id, eventType: 'alert', ...endpoint, traceId: null, body: JSON.stringify(event), at } as const
  return [addDelivery(database, change, organizationId, delivery)]
}

async function addMails(
  options: TellingOptions,
  change: Change,
  organizationId: string,
  channel: AlertChannel,
  event: AlertEvent,
): Promise<readonly string[]> {
  const { outbox } = options
  const text = alertMail(event, channel.language, channel.kind === 'members' ? 'member' : 'channel')
  const ids: string[] = []
  for (const address of await addressesOf(options, organizationId, channel)) {
    const id = await outbox.add(change, address, text)
    if (id !== undefined) ids.push(id)
  }
  return ids
}

async function addressesOf(
  { database, secrets }: TellingOptions,
  organizationId: string,
  channel: AlertChannel,
): Promise<readonly string[]> {
  if (channel.kind === 'mail') return [openTarget(secrets, channel)?.address ?? []].flat()
  const people = await membersWho(database, organizationId, ({ administersOrganization }) => administersOrganization)
  return people.flatMap(({ email, noAlertMail }) => (noAlertMail === true ? [] : [email]))
}
