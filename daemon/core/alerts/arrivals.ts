/** Whether messages of a channel arrive. */
import type { Database } from '#store/database.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import { isMailed, type AlertChannel } from './channels/alert-channel.ts'
import type { ChannelState } from './channel-state.ts'
import { skewMs } from './plan.ts'

/** A message that did not arrive within this time means that its channel fails. */
export const arrivesWithinMs = 300_000
/** Time of an attempt, before its result is read. */
const attemptMs = 20_000
/** Time after which the key of a mail is forgotten. */
const mailKnownMs = 86_400_000

export interface ArrivalsOptions {
  readonly database: Database
  readonly mail: Pick<SystemMail, 'fateOf'>
}

export interface Arrivals extends Pick<ChannelState, 'unchecked' | 'failingSince'> {
  /** Time of the next check; null if nothing is to be checked. */
  readonly nextMs: number | null
}

/** Checks the messages that are old enough, in order of time: the latest one with a known result decides. */
export async function checkArrivals(
  { database, mail }: ArrivalsOptions,
  organizationId: string,
  channel: AlertChannel,
  { unchecked, failingSince }: ChannelState,
  now: number,
): Promise<Arrivals> {
  const isOld = ([at]: Message): boolean => at + arrivesWithinMs <= now || at > now + skewMs
  const old = unchecked.filter(isOld)
  const waiting = unchecked.filter((message) => !isOld(message))
  const late: Late[] = []
  let since = failingSince
  for (const message of old) {
    const fate = isMailed(channel) ? await fateOfMails(mail, message, now) : await fateOfDelivery(database, organizationId, message, now)
    if (fate === undefined) continue
    if (fate === 'arrived') late.length = 0 // messages before it prove nothing
    since = fate === 'arrived' ? null : (since ?? now)
    if (typeof fate === 'object') late.push({ message, againMs: fate.againMs })
  }
  const againMs = Math.min(waiting[0] ? waiting[0][0] + arrivesWithinMs : Infinity, ...late.map((one) => one.againMs))
  const nextMs = againMs === Infinity ? null : againMs
  return { unchecked: [...late.map(({ message }) => message), ...waiting], failingSince: since, nextMs }
}

type Message = ChannelState['unchecked'][number]

interface Late {
  readonly message: Message
  /** Time of the next check. */
  readonly againMs: number
}

/** `refused`: no further attempt follows. An object with the time of the next check if an attempt can follow. */
type Fate = 'arrived' | 'refused' | { readonly againMs: number }

async function fateOfDelivery(database: Database, organizationId: string, [, id]: Message, now: number): Promise<Fate> {
  const delivery = (await database.get(webhookDeliveries, { organizationId }, id))?.record
  if (!delivery || delivery.status === 'succeeded') return 'arrived'
  return delivery.nextAttemptAt === null ? 'refused' : { againMs: Math.max(now, delivery.nextAttemptAt) + attemptMs }
}

/**
 * A message arrives when one of its mails is accepted. Other mail of the service says nothing about the channel: its recipients have other
 * providers. Returns undefined for mails of which nothing is known.
 */
async function fateOfMails(mail: ArrivalsOptions['mail'], [at, , ids = []]: Message, now: number): Promise<Fate | undefined> {
  const found = await Promise.all(ids.map((id) => mail.fateOf(id)))
  if (found.includes('arrived')) return 'arrived'
  // a mail that is not stored yet waits too
  const isKept = at + mailKnownMs > now
  if (found.some((fate) => fate === 'waiting' || (fate === undefined && isKept))) return { againMs: now + arrivesWithinMs }
  return found.includes('refused') ? 'refused' : undefined
}
