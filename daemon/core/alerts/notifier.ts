/** Tells the channels of findings, and notices channels that fail. The shared work `alerts`. */
import { Change } from '#store/change.ts'
import { findings, observed, type Observed } from '../findings/finding.ts'
import type { Settle } from '../findings/settle.ts'
import { members } from '../people/members/member.ts'
import { isSwitchedOn } from '../plan/features.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { organizations, type Organization } from '../tenancy/organization.ts'
import { DueRounds } from '../work-loop.ts'
import { transact } from '../writes/transact.ts'
import { checkArrivals, type Arrivals } from './arrivals.ts'
import {
  alertWork,
  deleteDue,
  dueChannels,
  lookBy,
  nextDueMs,
  readState,
  removeState,
  writeState,
  type ChannelState,
  type DueChannel,
  type StoredState,
} from './channel-state.ts'
import { isMailed, isReady, membersId, type AlertChannel, type ChannelKind } from './channels/alert-channel.ts'
import { skewMs } from './plan.ts'
import { planned, tell, type Planned, type TellingOptions } from './telling.ts'

export interface NotifierOptions extends TellingOptions {
  readonly settle: Pick<Settle, 'settle' | 'observe' | 'end'>
  /** Called after a message was written, or a channel began to fail; `delayMs` is the age of the newest finding. Must not throw. */
  readonly onAlert?: ((kind: ChannelKind, result: AlertResult, delayMs: number | undefined) => void) | undefined
  readonly onError: (error: unknown) => void
}

/** `written`: a message is on its way. `failing`: messages of the channel do not arrive. */
export const alertResults = ['written', 'failing'] as const
export type AlertResult = (typeof alertResults)[number]

/** Maximum number of channels per read. */
const batch = 100
/** Maximum number of channels that look again after the clock was set back. */
const maxChannels = 100_000
const hourMs = 3_600_000
/** Name of the check whose findings the notifier opens and ends; the doctor has a check `alerts`. */
const check = 'alerts.channels'

export class AlertNotifier {
  readonly #options: NotifierOptions
  readonly #rounds: DueRounds
  #hasBegun = false
  /** Time of the last round. */
  #lastMs = 0

  constructor(options: NotifierOptions) {
    this.#options = options
    const { database, clock, onError } = options
    this.#rounds = new DueRounds({ round: (stopping) => this.#round(stopping), onError, clock, nextDueMs: () => nextDueMs(database) })
    database.onWork(alertWork, () => this.start())
  }

  /** Starts with the stored rows of an earlier process. */
  start(): void {
    this.#rounds.wake()
  }

  /** Resolves when no round is running. */
  idle(): Promise<void> {
    return this.#rounds.idle()
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  async #round(stopping: () => boolean): Promise<void> {
    const { database, clock, outbox } = this.#options
    const failures: unknown[] = []
    if (!this.#hasBegun) await this.#begin()
    await this.#followClock()
    let due: readonly DueChannel[] = []
    do {
      due = await dueChannels(database, clock.now(), batch, due.at(-1)) // channels that fail do not stop later ones
      for (const one of due) {
        if (stopping()) return
        await this.#look(one).catch((error: unknown) => failures.push(error)) // continues with the next channels
      }
      outbox.wake()
    } while (due.length === batch)
    if (failures.length > 0) throw new AggregateError(failures, 'Alerts could not be written.')
  }

  /** After the clock was set back, all channels look again, because their times of the next look are of the earlier clock. */
  async #followClock(): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    if (now + skewMs < this.#lastMs)
      for (const { organizationId, channelId } of await dueChannels(database, Number.MAX_SAFE_INTEGER - 1, maxChannels))
        await transact(database, { organizationId }, (change) => lookBy(database, change, organizationId, channelId, now))
    this.#lastMs = now
  }

  /** Lets new channels of the operator's settings look at findings that opened before. */
  async #begin(): Promise<void> {
    const { database, book, clock } = this.#options
    const organizationId = systemOrganizationId
    for (const channel of book.operator)
      await transact(database, { organizationId }, async (change) => {
        const { state } = await readState(database, organizationId, channel.id)
        if (state.dueMs !== null) return
        const now = clock.now()
        const { message, nextMs } = await planned(this.#options, organizationId, channel, state.sentAt, now)
        const dueMs = message ? now : nextMs
        if (dueMs !== null) await lookBy(database, change, organizationId, channel.id, dueMs)
      })
    this.#hasBegun = true
  }

  async #look(due: DueChannel): Promise<void> {
    const { database, book, clock, mail, policies } = this.#options
    const { organizationId, channelId } = due
    const before = await readState(database, organizationId, channelId)
    if (!(await this.#exists(organizationId))) return this.#remove(due, before)
    const { organization } = await policies.of(organizationId)
    const channel = await book.find(organizationId, channelId)
    const hasAlerts = organization.deletedAt === undefined && isSwitchedOn(organization, 'alerts')
    const isOn = hasAlerts && channel && isReady(channel)
    if (!isOn) {
      const failing = hasAlerts ? await this.#failing(organizationId) : nothingFails
      // the channel of a former member no longer fails
      if (!hasAlerts || before.state.failingSince !== null) await this.#report(organizationId, failing)
      await this.#reportOwner(organization, failing)
    }
    if (!isOn || before.state.dueMs !== due.dueMs) return this.#forget(due, before)
    const canSend = !isMailed(channel) || (await mail.isReady())
    const now = clock.now()
    const first = await planned(this.#options, organizationId, channel, before.state.sentAt, now)
    const arrivals = canSend
      ? await checkArrivals({ database, mail }, organizationId, channel, before.state, now)
      : stuck(first, before.state, now)
    const isFailing = arrivals.failingSince !== null
    const hasChanged = isFailing !== (before.state.failingSince !== null)
    // findings first: after a crash, the next look finds the state as it was and repeats this
    const failing = await this.#failing(organizationId, { id: channelId, isFailing })
    if (hasChanged) await this.#report(organizationId, failing)
    await this.#reportOwner(organization, failing)
    const isSent = await transact(database, { organizationId }, async (change) => {
      const current = await readState(database, organizationId, channelId)
      if (current.state.dueMs !== due.dueMs && !hasChanged) return false // another look follows
      const result = await planned(this.#options, organizationId, channel, current.state.sentAt, now)
      if (hasChanged && isFailing) await this.#wakeOthers(change, organizationId, channel, result, now)
      return tell(this.#options, change, { organizationId, channel, before: current, planned: result, arrivals, canSend }, now)
    })
    if (hasChanged && isFailing) this.#options.onAlert?.(channel.kind, 'failing', undefined)
    if (isSent) this.#options.onAlert?.(channel.kind, 'written', delayOf(first, now))
  }

  /** Other channels get the findings that this one cannot tell. */
  async #wakeOthers(change: Change, organizationId: string, own: AlertChannel, { channels }: Planned, now: number): Promise<void> {
    for (const { id } of channels.filter((one) => one.id !== own.id && isReady(one)))
      await lookBy(this.#options.database, change, organizationId, id, now)
  }

  /** Ends the looks of a channel that is off, which does not fail, and drops rows of an earlier time. */
  async #forget(due: DueChannel, before: StoredState): Promise<void> {
    const change = deleteDue(new Change(), due)
    if (before.state.dueMs === due.dueMs)
      writeState(change, due.organizationId, due.channelId, before, { ...before.state, dueMs: null, unchecked: [], failingSince: null })
    await this.#options.database.commit(change)
  }

  async #exists(organizationId: string): Promise<boolean> {
    if (organizationId === systemOrganizationId) return true
    return (await this.#options.database.get(organizations, { organizationId }, organizationId)) !== undefined
  }

  /** Removes the rows of an organization that was removed, for which a finding was written at the same time. */
  async #remove(due: DueChannel, before: StoredState): Promise<void> {
    const change = new Change()
    removeState(change, due.organizationId, due.channelId, before)
    if (before.state.dueMs !== due.dueMs) deleteDue(change, due)
    await this.#options.database.commit(change)
  }

  /** Returns the channels that get alerts, and which of them fail. `seen` replaces the stored state of one channel. */
  async #failing(organizationId: string, seen?: { readonly id: string; readonly isFailing: boolean }): Promise<FailingChannels> {
    const { book } = this.#options
    const channels = (await book.of(organizationId)).filter(isReady)
    const failing = new Set(await book.failing(organizationId, channels))
    if (seen?.isFailing === true) failing.add(seen.id)
    else if (seen) failing.delete(seen.id)
    return { channels, failing }
  }

  /** Opens and ends the findings about channels that fail. */
  async #report(organizationId: string, { channels, failing }: FailingChannels): Promise<void> {
    const { mail, settle } = this.#options
    const isMailOn = await mail.isReady()
    await settle.settle({
      ...{ organizationId, check, coversFinding: ({ kind }) => kind === 'alerts.undeliverable' },
      // without mail of the service, channels by mail cannot work, which a finding for the operator reports
      observed: channels
        .filter((one) => failing.has(one.id) && (isMailOn || !isServiceMail(organizationId, one)))
        .map((one) => undeliverable(organizationId, one)),
    })
  }

  /**
   * Opens or ends the operator's finding. At every look, because channels are also turned off and deleted. Mail to the members counts only
   * if there are any, which a sandbox of a visitor does not have.
   */
  async #reportOwner(organization: Organization, { channels, failing }: FailingChannels): Promise<void> {
    const { database, settle } = this.#options
    const { id: organizationId } = organization
    if (organizationId === systemOrganizationId) return
    const hasMembers = channels.length > 0 && (await database.list(members, { organizationId }, { limit: 1 })).rows.length > 0
    const counted = channels.filter(({ id }) => hasMembers || id !== membersId)
    const isUnreachable = counted.length > 0 && counted.every(({ id }) => failing.has(id))
    const reach = { organizationId: systemOrganizationId }
    const kind = 'alerts.owner_unreachable'
    const stored = await database.find(findings, reach, 'subject', [kind, organizationId])
    if (!isUnreachable && stored?.record.state !== 'open') return
    const seen = observed(kind, organizationId, { organization: organization.name })
    await transact(database, reach, (change) =>
      isUnreachable ? settle.observe(change, reach.organizationId, seen) : settle.end(change, reach.organizationId, seen),
    )
  }
}

interface FailingChannels {
  /** Channels that get alerts. */
  readonly channels: readonly AlertChannel[]
  readonly failing: ReadonlySet<string>
}

/** The result for an organization that gets no alerts. */
const nothingFails: FailingChannels = { channels: [], failing: new Set() }

const isServiceMail = (organizationId: string, { kind }: AlertChannel): boolean =>
  kind === 'members' || (kind === 'mail' && organizationId === systemOrganizationId)

function undeliverable(organizationId: string, channel: AlertChannel): Observed {
  const isOperator = organizationId === systemOrganizationId
  const reasons = isOperator ? (['operator_mail', 'operator_webhook'] as const) : (['mail', 'receiver'] as const)
  const reason = reasons[isMailed(channel) ? 0 : 1]
  return observed('alerts.undeliverable', channel.id, { channel: channel.name, reason }, channel.projectId)
}

/** State of a channel without system mail: it fails as soon as it has something to tell. */
const stuck = ({ message }: Planned, { failingSince }: ChannelState, now: number): Arrivals => ({
  ...{ unchecked: [], failingSince: message ? (failingSince ?? now) : failingSince, nextMs: message ? now + hourMs : null },
})

/** Returns the time since the newest finding of the message changed; undefined for a message about ends only. */
function delayOf({ message }: Planned, now: number): number | undefined {
  const times = message?.open.map(({ changedAt }) => changedAt) ?? []
  return times.length === 0 ? undefined : now - Math.max(...times)
}
