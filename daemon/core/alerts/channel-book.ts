/** The channels of an organization: its stored ones, and the members. The service itself has none; see `doctor`. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Clock } from '../clock.ts'
import type { Finding } from '../findings/finding.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { alertChannels, isReady, membersChannel, membersId, type AlertChannel } from './channels/alert-channel.ts'
import { lookBy, readState } from './channel-state.ts'
import { dueAfterChange } from './plan.ts'

export interface BookOptions {
  readonly database: Database
  readonly clock: Clock
}

export class ChannelBook {
  readonly #options: BookOptions

  constructor(options: BookOptions) {
    this.#options = options
  }

  /** Returns all channels, the members first. */
  async of(organizationId: string): Promise<readonly AlertChannel[]> {
    if (organizationId === systemOrganizationId) return []
    const stored = (await this.#options.database.all(alertChannels, { organizationId })).map(({ record }) => record)
    return stored.some(({ id }) => id === membersId) ? stored : [membersChannel, ...stored]
  }

  async find(organizationId: string, id: string): Promise<AlertChannel | undefined> {
    if (organizationId === systemOrganizationId) return undefined
    return (
      (await this.#options.database.get(alertChannels, { organizationId }, id))?.record ?? (id === membersId ? membersChannel : undefined)
    )
  }

  /** Lets the channels look at a finding that changed, in its write. */
  async findingChanged(change: Change, organizationId: string, finding: Finding): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    const channels = (await this.of(organizationId)).filter(isReady)
    const failing = channels.some(({ afterMinutes }) => afterMinutes > 0) ? await this.failing(organizationId, channels) : new Set<string>()
    for (const channel of channels) {
      const replaces = [...failing].some((id) => id !== channel.id)
      const dueMs = dueAfterChange(finding, channel, replaces, now)
      if (dueMs !== null) await lookBy(database, change, organizationId, channel.id, dueMs)
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
