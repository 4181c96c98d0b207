/** The channels of an organization: its stored ones and the members. The service has the channels of the operator's settings. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Clock } from '../clock.ts'
import type { Finding } from '../findings/finding.ts'
import type { ChangedFinding } from '../findings/settle.ts'
import { isForOperator } from '../findings/open-findings.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { isMember } from '../forms/notifications/members.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { alertChannels, isReady, membersChannel, membersId, type AlertChannel } from './channels/alert-channel.ts'
import { openTarget } from './channels/channel-target.ts'
import { lookBy, readState } from './channel-state.ts'
import { asOperatorSees } from './findings-to-tell.ts'
import { dueAfterChange } from './plan.ts'

export interface BookOptions {
  readonly database: Database
  readonly clock: Clock
  readonly secrets: Pick<SecretBox, 'open'>
  /** Channels of the service itself. */
  readonly operator: readonly AlertChannel[]
}

export class ChannelBook {
  readonly #options: BookOptions

  constructor(options: BookOptions) {
    this.#options = options
  }

  /** Channels of the service. They get its findings, and findings of organizations that concern the operator too. */
  get operator(): readonly AlertChannel[] {
    return this.#options.operator
  }

  /** Returns all channels, the members first. */
  async of(organizationId: string): Promise<readonly AlertChannel[]> {
    if (organizationId === systemOrganizationId) return this.operator
    const stored = (await this.#options.database.all(alertChannels, { organizationId })).map(({ record }) => record)
    const channels = await Promise.all(stored.map((one) => this.asOfNow(organizationId, one)))
    return channels.some(({ id }) => id === membersId) ? channels : [membersChannel, ...channels]
  }

  async find(organizationId: string, id: string): Promise<AlertChannel | undefined> {
    if (organizationId === systemOrganizationId) return this.operator.find((one) => one.id === id)
    const stored = await this.#options.database.get(alertChannels, { organizationId }, id)
    if (stored) return this.asOfNow(organizationId, stored.record)
    return id === membersId ? membersChannel : undefined
  }

  /** Returns the stored channel, without a confirmation that ended with the membership of its recipient. */
  async asOfNow(organizationId: string, channel: AlertChannel): Promise<AlertChannel> {
    if (channel.isOfMember !== true || channel.confirmedAt === null) return channel
    const { database, secrets } = this.#options
    const address = openTarget(secrets, channel)?.address
    if (address !== undefined && (await isMember(database, organizationId, address))) return channel
    return { ...channel, confirmedAt: null }
  }

  /** Lets the channels look at findings that changed, in their write. */
  async findingsChanged(change: Change, organizationId: string, changed: readonly ChangedFinding[]): Promise<void> {
    const all = changed.map(({ finding }) => finding)
    if (organizationId !== systemOrganizationId) await this.#lookAt(change, organizationId, all)
    const seen = all.filter(({ kind }) => isForOperator({ organizationId, kind }))
    if (seen.length > 0)
      await this.#lookAt(
        change,
        systemOrganizationId,
        seen.map((finding) => asOperatorSees(organizationId, finding)),
      )
  }

  /** Lets all channels look, in the write that turns alerts of the organization on or off. */
  async lookAgain(change: Change, organizationId: string): Promise<void> {
    const { database, clock } = this.#options
    for (const { id } of await this.of(organizationId)) await lookBy(database, change, organizationId, id, clock.now())
  }

  async #lookAt(change: Change, organizationId: string, changed: readonly Finding[]): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    const channels = (await this.of(organizationId)).filter(isReady)
    const failing = channels.some(({ afterMinutes }) => afterMinutes > 0) ? await this.failing(organizationId, channels) : new Set<string>()
    for (const channel of channels) {
      const replaces = [...failing].some((id) => id !== channel.id)
      const dueMs = Math.min(...changed.map((finding) => dueAfterChange(finding, channel, replaces, now) ?? Infinity))
      if (dueMs !== Infinity) await lookBy(database, change, organizationId, channel.id, dueMs)
    }
  }

  /** Returns the ids of channels whose messages do not arrive. */
  async failing(organizationId: string, channels: readonly AlertChannel[]): Promise<ReadonlySet<string>> {
    const failing = new Set<string>()
    for (const { id } of channels)
      if ((await readState(this.#options.database, organizationId, id)).state.failingSince !== null) failing.add(id)
    return failing
  }
}
