/** Sandboxes of anonymous callers. One write creates a sandbox; it is deleted with all contents after a week without a new token. */
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { addOrganization } from '../../beginnings/new-organization.ts'
import { organizations, projects } from '../../tenancy/organization.ts'
import { organizationRemovalKey } from '../../tenancy/removal-key.ts'
import { assertWithin, countAddress, sandboxLimits, type AddressLimit } from '../protocol/address-limits.ts'
import { anonymousBootstrapClientId, builtInClients } from '../clients/client.ts'
import { oauthGrants, type Grant } from '../grants/grant.ts'
import { addRefreshToken, anonymousIdleMs, grantMs } from '../tokens/refresh-tokens.ts'
import type { OAuthScope, Surface } from '../protocol/scopes.ts'

export interface SandboxOptions extends Core {
  /** Called after sandboxes were deleted, so that their rows can be removed. */
  readonly onDeleted: () => void
  /** Adds to the write of a deletion, which ends alerts. */
  readonly onAlertsSwitched?: (change: Change, organizationId: string) => Promise<void>
  readonly limits?: readonly AddressLimit[]
}

export interface NewSandbox {
  readonly organizationId: string
  readonly grant: Grant
  readonly refreshToken: string
}

interface Activity {
  /** Time of the last issued token. Access tokens expire after an hour, so a sandbox is inactive soon after it. */
  readonly activeAt: number
}

const purpose = 'sandbox'
/** Longer than the lifetime of any token of the sandbox. */
const removedMs = anonymousIdleMs + 2 * 3_600_000

const activityPrefix = globalKey('oauth.sandbox')
const activityKey = (organizationId: string): readonly Element[] => [...activityPrefix, organizationId]

/** Adds to the write that a token of the sandbox was issued. */
const noteActivity = (change: Change, organizationId: string, now: number): Change =>
  change.set(activityKey(organizationId), encode({ activeAt: now } satisfies Activity))

export class Sandboxes {
  readonly #options: SandboxOptions
  /** No sandbox is due for deletion before this time. */
  #nextDueAt = -Infinity

  constructor(options: SandboxOptions) {
    this.#options = options
  }

  /**
   * Creates an organization, its project `sandbox` with an inbox, a grant and its refresh token. Throws `temporarily_unavailable` (too many
   * sandboxes).
   */
  async make(scopes: readonly OAuthScope[], surface: Surface, remoteAddress: string): Promise<NewSandbox> {
    const { database, clock, limits = sandboxLimits } = this.#options
    const now = clock.now()
    const change = new Change()
    const project = { name: 'sandbox', status: 'anonymous' } as const
    const { organizationId, projectId } = addOrganization(database, change, { name: 'Sandbox', plan: 'anonymous', project, now })
    const grant: Grant = {
      id: database.newId('grt', now),
      clientId: anonymousBootstrapClientId,
      clientName: builtInClients.get(anonymousBootstrapClientId)?.name ?? '',
      projectId,
      userId: null,
      scopes,
      createdAt: now,
      expiresAt: now + grantMs,
      revokedAt: null,
    }
    change.insert(oauthGrants, organizationId, grant)
    const refreshToken = addRefreshToken(change, grant, surface, now)
    noteActivity(change, organizationId, now)
    countAddress(change, purpose, limits, remoteAddress, now)
    assertWithin(await database.commit(change), purpose, limits, remoteAddress, now)
    return { organizationId, grant, refreshToken }
  }

  /** Adds to the write that a token of this grant is issued, if the grant belongs to a sandbox. */
  touch(change: Change, organizationId: string, { userId }: Grant): void {
    if (userId === null) noteActivity(change, organizationId, this.#options.clock.now())
  }

  /** Adds the condition to the write that the organization is a sandbox. Returns false if it is not a sandbox. */
  async hold(change: Change, organizationId: string): Promise<boolean> {
    const row = await this.#options.database.kv.get(pack(activityKey(organizationId)))
    if (row) change.check(activityKey(organizationId), row.version)
    return row !== undefined
  }

  /** Adds to the write that the organization is no longer a sandbox, with the same condition as `hold`. */
  async release(change: Change, organizationId: string): Promise<boolean> {
    const isHeld = await this.hold(change, organizationId)
    if (isHeld) change.delete(activityKey(organizationId))
    return isHeld
  }

  /** Deletes sandboxes without recent tokens. Returns their number. */
  async sweep(): Promise<number> {
    const now = this.#options.clock.now()
    if (now < this.#nextDueAt) return 0
    let removed = 0
    let nextDueAt = now + removedMs
    for await (const { key, value, version } of this.#options.database.kv.range(within(activityPrefix))) {
      const activity = decode<Activity>(value)
      const dueAt = activity.activeAt + removedMs
      if (dueAt > now) nextDueAt = Math.min(nextDueAt, dueAt)
      else if (await this.#delete(String(unpack(key).at(-1)), version, now)) removed++
    }
    this.#nextDueAt = nextDueAt // set only after the loop, so that failed deletions are tried again
    if (removed > 0) this.#options.onDeleted()
    return removed
  }

  /**
   * Marks the organization as deleted, schedules the removal of its rows and ends its sandbox status in one write. A concurrent claim
   * conflicts with this write.
   */
  async #delete(organizationId: string, version: bigint, now: number): Promise<boolean> {
    const { database, onAlertsSwitched } = this.#options
    const key = activityKey(organizationId)
    const stored = await database.get(organizations, { organizationId }, organizationId)
    const owned = await database.all(projects, { organizationId })
    const isSandbox = stored !== undefined && owned.every(({ record }) => record.status === 'anonymous')
    const change = new Change().check(key, version).delete(key)
    if (isSandbox) {
      change.replace(organizations, organizationId, stored, { ...stored.record, deletedAt: now, removableAt: now })
      change.set(organizationRemovalKey(now, organizationId))
      await onAlertsSwitched?.(change, organizationId)
    }
    return (await database.commit(change)).ok && isSandbox
  }
}
