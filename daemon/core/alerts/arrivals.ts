/** Whether messages of a channel arrive. */
import type { Database } from '#store/database.ts'
import { queuedParts, queueHead, isHeldPlace } from '#store/queue.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { systemOrganizationId, systemProjectId } from '../routing/policy/system-policy.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import { isMailed, type AlertChannel } from './channels/alert-channel.ts'
import type { ChannelState } from './channel-state.ts'

/** A message that did not arrive within this time means that its channel fails. */
export const arrivesWithinMs = 300_000
/** Time of an attempt, before its result is read. */
const attemptMs = 20_000
/** Maximum number of queued messages examined per destination of system mail. */
const maxLooks = 1000

export interface ArrivalsOptions {
  readonly database: Database
  readonly mail: Pick<SystemMail, 'isRefused'>
}

export interface Arrivals extends Pick<ChannelState, 'unchecked' | 'failingSince'> {
  /** Time of the next check; null if nothing is to be checked. */
  readonly nextMs: number | null
}

/** Checks the messages that are old enough. */
export async function checkArrivals(
  { database, mail }: ArrivalsOptions,
  organizationId: string,
  channel: AlertChannel,
  { unchecked, failingSince }: ChannelState,
  now: number,
): Promise<Arrivals> {
  const old = unchecked.filter(([at]) => at + arrivesWithinMs <= now)
  const waiting = unchecked.filter(([at]) => at + arrivesWithinMs > now)
  const nextMs = waiting[0] ? waiting[0][0] + arrivesWithinMs : Infinity
  if (isMailed(channel)) {
    if (old.length === 0) return arrivals(waiting, failingSince, nextMs)
    // while mail is late, the next check follows after the same time
    if (await isSystemMailLate(database, now)) return arrivals([...old, ...waiting], failingSince ?? now, now + arrivesWithinMs)
    let since = failingSince
    for (const [, , mailIds = []] of old) since = (await areRefused(mail, mailIds)) ? (since ?? now) : null
    return arrivals(waiting, since, nextMs)
  }
  let since = failingSince
  let againMs = nextMs
  const kept: Message[] = []
  for (const message of old) {
    const delivery = (await database.get(webhookDeliveries, { organizationId }, message[1]))?.record
    const isGood = !delivery || delivery.status === 'succeeded'
    since = isGood ? null : (since ?? now)
    if (isGood || delivery.nextAttemptAt === null) continue
    kept.push(message)
    againMs = Math.min(againMs, Math.max(now, delivery.nextAttemptAt) + attemptMs)
  }
  return arrivals([...kept, ...waiting], since, againMs)
}

/** Whether all mails of a message were refused for good. */
async function areRefused(mail: ArrivalsOptions['mail'], mailIds: readonly string[]): Promise<boolean> {
  for (const id of mailIds) if (!(await mail.isRefused(id))) return false
  return mailIds.length > 0
}

type Message = ChannelState['unchecked'][number]

const arrivals = (unchecked: readonly Message[], failingSince: number | null, nextMs: number): Arrivals => ({
  ...{ unchecked, failingSince, nextMs: nextMs === Infinity ? null : nextMs },
})

/** Whether a mail of the service has waited too long. */
async function isSystemMailLate(database: Database, now: number): Promise<boolean> {
  for (const part of await queuedParts(database, undefined, true)) {
    if (part.projectId !== systemProjectId) continue
    const entries = await queueHead(database, part, { limit: maxLooks, whole: true })
    const isLate = entries.some(
      ({ organizationId, acceptedMs, since, dueMs }) =>
        organizationId === systemOrganizationId && !isHeldPlace(dueMs) && (acceptedMs ?? since ?? dueMs) + arrivesWithinMs <= now,
    )
    if (isLate) return true
  }
  return false
}
