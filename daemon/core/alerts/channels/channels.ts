/** Creates, shows, changes and deletes the channels of an organization. Every change is mailed to its owners and admins. */
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { FindingGroup } from '../../findings/kinds.ts'
import type { Settle } from '../../findings/settle.ts'
import { listed, pageOfLoaded, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { requireReach } from '../../access/principal/organization-acts.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { isMember } from '../../forms/notifications/members.ts'
import type { Outbox } from '../../people/mail/outbox.ts'
import { alertChannelMail, type ChannelAct } from '../../people/mail/mail-texts.ts'
import { membersWho } from '../../people/mail/member-notices.ts'
import type { SystemMail } from '../../people/mail/system-mail.ts'
import { userById } from '../../people/users/user.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { scheduleCleanup } from '../../webhooks/sending/cleanup.ts'
import type { TargetGuards } from '../../webhooks/endpoints/target-url.ts'
import { changeSetting, type Transaction } from '../../writes/transact.ts'
import { arrivesWithinMs } from '../arrivals.ts'
import type { ChannelBook } from '../channel-book.ts'
import { lookBy, readState, removeState, writeState } from '../channel-state.ts'
import { isZone, type QuietHours } from '../quiet-hours.ts'
import { alertChannels, isReady, membersId, targetContext, type AlertChannel, type TargetKind } from './alert-channel.ts'
import { checkTarget, openTarget, shownOf, type Target, type TargetInput } from './channel-target.ts'
import type { Confirmations } from './confirmations.ts'
import { forgetFailures } from './forget-failures.ts'

export interface ChannelsOptions extends TargetGuards, Core {
  readonly book: ChannelBook
  readonly settle: Pick<Settle, 'end'>
  readonly mail: Pick<SystemMail, 'isReady' | 'urlOf'>
  readonly outbox: Pick<Outbox, 'add' | 'wake'>
  readonly confirmations: Pick<Confirmations, 'ask'>
}

/** Settings that callers can change. Omitted fields keep their values. */
export interface ChannelChanges {
  readonly name?: string | undefined
  readonly language?: AlertChannel['language'] | undefined
  readonly target?: TargetInput | undefined
  readonly minSeverity?: AlertChannel['minSeverity'] | undefined
  readonly groups?: readonly FindingGroup[] | undefined
  readonly afterMinutes?: number | undefined
  readonly quietHours?: QuietHours | null | undefined
  readonly enabled?: boolean | undefined
}

export interface NewChannel extends ChannelChanges {
  readonly kind: TargetKind
  readonly name: string
  readonly target: TargetInput
  /** Omitted for the project of a key that is bound to one, and otherwise for the whole organization. */
  readonly projectId?: string | undefined
}

/** A channel with the secret of its webhook, which only the response that sets the target contains. */
export interface ChannelWithSecret {
  readonly channel: AlertChannel
  readonly secret: string | null
}

const maxChannels = 20
/** A new channel gets the findings that are open after this time. */
const firstLookMs = 60_000

export class AlertChannels implements List<OfProject, AlertChannel> {
  readonly #options: ChannelsOptions

  constructor(options: ChannelsOptions) {
    this.#options = options
  }

  /** Lists channels, the members first, then newest first. Throws `not_found` for a project outside the caller's reach. */
  async list(principal: Principal, { projectId, ...query }: PageQuery & OfProject): Promise<Page<AlertChannel>> {
    const { project } = await listed(this.#options, principal, projectId)
    const all = await this.#options.book.of(principal.organizationId)
    const shown = all.filter((one) => project === undefined || one.projectId === '' || one.projectId === project)
    const isFirst = ({ id }: AlertChannel): number => (id === membersId ? 0 : 1)
    const inOrder = shown.toSorted((a, b) => isFirst(a) - isFirst(b) || (a.id < b.id ? 1 : -1))
    const position = new Map(inOrder.map(({ id }, index) => [id, index]))
    return pageOfLoaded(alertChannels, principal, inOrder, query, { positionOf: ({ id }) => [position.get(id) ?? 0, id] })
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<AlertChannel> {
    const channel = await this.#options.book.find(principal.organizationId, id)
    if (channel && isOpenTo(principal, channel)) return channel
    throw new Refusal('not_found', 'No alert channel has this id.')
  }

  /**
   * Creates a channel. The recipient of a `mail` channel must confirm, unless a member has the address. Throws `validation_failed`, and
   * `conflict` at the limit of channels, and for mail without system mail.
   */
  async create(principal: Principal, request: NewChannel): Promise<ChannelWithSecret> {
    const { database, writes, policies, clock, secrets, outbox } = this.#options
    const { kind, name, target: input, projectId: asked, ...settings } = request
    checkSettings(settings)
    const target = await checkTarget(kind, input, this.#options) // outside the settings lock, because the DNS look-up can be slow
    const saved = await writes.runAudited(principal, 'alert_channel.created', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const isWide = asked === undefined && !principal.bound
      const projectId = isWide ? '' : owningProject(principal, projects, asked)
      requireChange(principal, projectId)
      await this.#requireRoom(principal.organizationId)
      const now = clock.now()
      const id = database.newId('alc', now)
      const channel: AlertChannel = {
        ...{ id, projectId, kind, name, ...this.#sealed(id, kind, target), confirmedAt: null, lastTest: null },
        ...{ language: settings.language ?? 'en', minSeverity: settings.minSeverity ?? 'warning', groups: settings.groups ?? [] },
        ...{ afterMinutes: settings.afterMinutes ?? 0, quietHours: settings.quietHours ?? null, isOn: settings.enabled ?? true },
        ...{ createdAt: now, updatedAt: now },
      }
      const confirmed = await this.#confirmed(change, principal, channel, target)
      change.insert(alertChannels, principal.organizationId, confirmed)
      await lookBy(database, change, principal.organizationId, id, now + firstLookMs)
      await this.#inform(change, principal, confirmed, 'created')
      return confirmed
    })
    outbox.wake()
    return { channel: saved, secret: kind === 'webhook' ? (openTarget(secrets, saved)?.secret ?? null) : null }
  }

  /**
   * Changes the given fields; a new target must be confirmed or tested again. Throws the errors of `create`, and `conflict` if no other
   * channel works after a channel is turned off.
   */
  async update(principal: Principal, id: string, { target: input, ...changes }: ChannelChanges): Promise<ChannelWithSecret> {
    const { writes, secrets, outbox, book } = this.#options
    checkSettings(changes)
    const seen = await this.get(principal, id)
    requireChange(principal, seen.projectId)
    const { kind } = seen
    if (kind === 'members') return { channel: await this.#updateMembers(principal, input, changes), secret: null }
    const target = input === undefined ? undefined : await checkTarget(kind, input, this.#options)
    const saved = await writes.runAudited(principal, 'alert_channel.updated', async (change) => {
      const { record: before } = await change.must(alertChannels, id)
      const next = settingsAfter(before, changes)
      if (before.isOn && !next.isOn && before.projectId === '') await this.#requireAnother(principal.organizationId, id)
      const aimed = target && (await this.#confirmed(change, principal, { ...next, ...this.#sealed(id, kind, target) }, target))
      const parts = { change, kind: alertChannels, reach: principal, id }
      const after = await changeSetting(this.#options, parts, () => (aimed ? { ...aimed, lastTest: null } : next))
      const now = await book.asOfNow(principal.organizationId, after)
      if (aimed || !isReady(now)) await forgetFailures(this.#options, change, principal.organizationId, id)
      if (after !== before) await this.#changed(change, principal, after)
      return now
    })
    outbox.wake()
    return { channel: saved, secret: target && kind === 'webhook' ? (openTarget(secrets, saved)?.secret ?? null) : null }
  }

  /**
   * Deletes a channel; its deliveries are removed afterwards. Does nothing if it is missing. Throws `conflict` for `members`, and for the
   * last channel that works.
   */
  async remove(principal: Principal, id: string): Promise<void> {
    const { writes, database, clock, settle, outbox } = this.#options
    if (id === membersId) throw new Refusal('conflict', 'The channel of the members cannot be deleted; turn it off instead.')
    await writes.runAudited(principal, 'alert_channel.deleted', async (change) => {
      const stored = await change.get(alertChannels, id)
      if (!stored || !isOpenTo(principal, stored.record)) return
      requireChange(principal, stored.record.projectId)
      const { organizationId } = principal
      if (stored.record.projectId === '') await this.#requireAnother(organizationId, id)
      change.remove(alertChannels, organizationId, stored)
      scheduleCleanup(change, organizationId, id)
      removeState(change, organizationId, id, await readState(database, organizationId, id))
      await settle.end(change, organizationId, { kind: 'alerts.undeliverable', subject: id })
      // a look reports whether the other channels work
      await lookBy(database, change, organizationId, membersId, clock.now() + firstLookMs)
      await this.#inform(change, principal, stored.record, 'deleted')
    })
    outbox.wake()
  }

  /** Stores the result of a test. A good test ends the state of failing; that of a mail does so when it arrives. */
  async noteTest(
    { organizationId }: Principal,
    id: string,
    lastTest: NonNullable<AlertChannel['lastTest']>,
    mailIds: readonly string[],
  ): Promise<void> {
    const { writes, database } = this.#options
    await writes.run(organizationId, async (change) => {
      const stored = await change.get(alertChannels, id)
      if (!stored && id !== membersId) return
      if (stored) change.replace(alertChannels, organizationId, stored, { ...stored.record, lastTest })
      const state = await readState(database, organizationId, id)
      if (!lastTest.isGood || state.state.failingSince === null) return
      if (mailIds.length > 0) {
        const { unchecked, dueMs } = state.state
        const nextMs = Math.min(dueMs ?? Infinity, lastTest.at + arrivesWithinMs)
        writeState(change, organizationId, id, state, {
          ...state.state,
          unchecked: [...unchecked, [lastTest.at, '', mailIds]],
          dueMs: nextMs,
        })
        return
      }
      await forgetFailures(this.#options, change, organizationId, id)
    })
  }

  async #updateMembers(principal: Principal, target: TargetInput | undefined, changes: ChannelChanges): Promise<AlertChannel> {
    const { database, writes, clock, outbox } = this.#options
    const { organizationId } = principal
    if (target !== undefined) throw invalid([{ path: 'target', message: 'is fixed for the channel of the members' }])
    const saved = await writes.runAudited(principal, 'alert_channel.updated', async (change) => {
      const before = await this.get(principal, membersId)
      const now = clock.now()
      const next = { ...settingsAfter(before, changes), createdAt: before.createdAt || now, updatedAt: now }
      if (!next.isOn) await this.#requireAnother(organizationId, membersId)
      const stored = await database.get(alertChannels, { organizationId }, membersId)
      if (stored) change.replace(alertChannels, organizationId, stored, next)
      else change.insert(alertChannels, organizationId, next)
      if (!next.isOn) await forgetFailures(this.#options, change, organizationId, membersId)
      await this.#changed(change, principal, next)
      return next
    })
    outbox.wake()
    return saved
  }

  /**
   * Throws `conflict` if alerts of all projects arrive nowhere without this channel: it is the last one that works, or the last one that is
   * on.
   */
  async #requireAnother(organizationId: string, id: string): Promise<void> {
    const { book } = this.#options
    const channels = (await book.of(organizationId)).filter((one) => one.projectId === '' && isReady(one))
    const failing = await book.failing(organizationId, channels)
    const works = (one: AlertChannel): boolean => !failing.has(one.id) && (one.id === membersId || one.lastTest?.isGood === true)
    const others = channels.filter((one) => one.id !== id)
    const mustWork = id === membersId || channels.some((one) => one.id === id && works(one))
    if (mustWork ? others.some(works) : others.length > 0) return
    const next =
      id === membersId
        ? 'Add another channel for all projects and test it first.'
        : 'Turn on mail to the members first, or add and test another channel.'
    throw new Refusal('conflict', `No other channel for all projects works. ${next}`)
  }

  /** Lets the changed channel look again, and informs the members. */
  async #changed(change: Transaction, principal: Principal, channel: AlertChannel): Promise<void> {
    const { database, clock } = this.#options
    await lookBy(database, change, principal.organizationId, channel.id, clock.now() + firstLookMs)
    await this.#inform(change, principal, channel, 'updated')
  }

  #sealed(id: string, kind: TargetKind, target: Target): Pick<AlertChannel, 'sealedTarget' | 'shown'> {
    return { sealedTarget: this.#options.secrets.seal(JSON.stringify(target), targetContext(id)), shown: shownOf(kind, target) }
  }

  /** Asks the recipient of a new address to confirm. The address of a member needs no confirmation. */
  async #confirmed(change: Change, { organizationId }: Principal, channel: AlertChannel, { address }: Target): Promise<AlertChannel> {
    const { database, clock, confirmations } = this.#options
    if (channel.kind !== 'mail') return channel
    const { isOfMember: _, ...asked } = { ...channel, confirmedAt: null }
    if (await isMember(database, organizationId, address)) return { ...asked, confirmedAt: clock.now(), isOfMember: true }
    await confirmations.ask(change, organizationId, channel, address)
    return asked
  }

  async #inform(change: Change, principal: Principal, { name, kind }: AlertChannel, act: ChannelAct): Promise<void> {
    const { database, policies, mail, outbox } = this.#options
    const { organizationId, holder } = principal
    const { organization } = await policies.of(organizationId)
    const user = holder?.kind === 'user' ? await userById(database, holder.userId) : undefined
    const text = alertChannelMail({ organization: organization.name, name, kind, act, by: user?.email }, mail.urlOf('/settings/alerts'))
    for (const { email } of await membersWho(database, organizationId, ({ administersOrganization }) => administersOrganization))
      await outbox.add(change, email, text)
  }

  async #requireRoom(organizationId: string): Promise<void> {
    const all = await this.#options.database.all(alertChannels, { organizationId })
    if (all.filter(({ record }) => record.id !== membersId).length < maxChannels) return
    throw new Refusal('conflict', `An organization can have at most ${maxChannels} alert channels; delete one first.`)
  }
}

const isOpenTo = ({ bound, projectId, hiddenProjects }: Principal, channel: AlertChannel): boolean =>
  channel.projectId === '' || ((!bound || channel.projectId === projectId) && hiddenProjects?.has(channel.projectId) !== true)

/** Throws `insufficient_scope` for a channel of the organization, unless the caller administers it. */
export function requireChange(principal: Principal, projectId: string): void {
  if (projectId === '') requireReach(principal, 'alerts.change')
}

/** Throws `insufficient_scope` for alerts of the organization, which also have findings of other projects, and a key of one project. */
export function requireAttempts({ bound, projectId }: Principal, channel: AlertChannel): void {
  if (!bound || channel.projectId === projectId) return
  throw new Refusal('insufficient_scope', 'This channel belongs to the organization; use a key of the organization to list its alerts.')
}

function checkSettings({ quietHours }: ChannelChanges): void {
  if (!quietHours) return
  if (quietHours.from === quietHours.to) throw invalid([{ path: 'quiet_hours', message: 'must have a beginning and an end that differ' }])
  if (!isZone(quietHours.zone))
    throw invalid([{ path: 'quiet_hours.zone', message: 'must be the name of a time zone, such as Europe/Zurich' }])
}

const settingsAfter = (before: AlertChannel, changes: Omit<ChannelChanges, 'target'>): AlertChannel => ({
  ...before,
  name: changes.name ?? before.name,
  language: changes.language ?? before.language,
  minSeverity: changes.minSeverity ?? before.minSeverity,
  groups: [...new Set(changes.groups ?? before.groups)],
  afterMinutes: changes.afterMinutes ?? before.afterMinutes,
  quietHours: changes.quietHours === undefined ? before.quietHours : changes.quietHours,
  isOn: changes.enabled ?? before.isOn,
})
