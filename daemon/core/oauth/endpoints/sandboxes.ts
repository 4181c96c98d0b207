/** Sandboxes created without a login: made in one write, and gone with everything in them after a week without a token. */
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
  /** A deserted sandbox was deleted, and its rows are to be removed. */
  readonly onDeleted: () => void
  readonly limits?: readonly AddressLimit[]
}

export interface NewSandbox {
  readonly organizationId: string
  readonly grant: Grant
  readonly refreshToken: string
}

interface Activity {
  /** When the last token was issued; each lasts an hour, so nothing happens in a sandbox long after it. */
  readonly activeAt: number
}

const purpose = 'sandbox'
/** Longer than any token of it may live. */
const removedMs = anonymousIdleMs + 2 * 3_600_000

const activityPrefix = globalKey('oauth.sandbox')
const activityKey = (organizationId: string): readonly Element[] => [...activityPrefix, organizationId]

/** Adds to the write that a token of the sandbox was issued. */
const noteActivity = (change: Change, organizationId: string, now: number): Change =>
  change.set(activityKey(organizationId), encode({ activeAt: now } satisfies Activity))

export class Sandboxes {
  readonly #options: SandboxOptions
  /** Nothing is due before. */
  #nextDueAt = -Infinity

  constructor(options: SandboxOptions) {
    this.#options = options
  }

  /** An organization, its project `sandbox`, an inbox, a grant and its refresh token. Throws `temporarily_unavailable` (too many). */
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

  /** Adds to the write that a token for this grant is issued now, if it is one of a sandbox. */
  touch(change: Change, organizationId: string, { userId }: Grant): void {
    if (userId === null) noteActivity(change, organizationId, this.#options.clock.now())
  }

  /** Adds to the write, as its condition, that the organization is a sandbox. False when it is none, or none any more. */
  async hold(change: Change, organizationId: string): Promise<boolean> {
    const row = await this.#options.database.kv.get(pack(activityKey(organizationId)))
    if (row) change.check(activityKey(organizationId), row.version)
    return row !== undefined
  }

  /** Adds to the write that the organization is a sandbox no longer, on the same condition. */
  async release(change: Change, organizationId: string): Promise<boolean> {
    const isHeld = await this.hold(change, organizationId)
    if (isHeld) change.delete(activityKey(organizationId))
    return isHeld
  }

  /** Deletes sandboxes whose last token is long gone. Returns how many went. */
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
    this.#nextDueAt = nextDueAt // only now: what failed is tried again
    if (removed > 0) this.#options.onDeleted()
    return removed
  }

  /** One write: the mark of deletion, the order to remove what is left, and the end of its being a sandbox, which a claim would meet. */
  async #delete(organizationId: string, version: bigint, now: number): Promise<boolean> {
    const { database } = this.#options
    const key = activityKey(organizationId)
    const stored = await database.get(organizations, { organizationId }, organizationId)
    const owned = await database.all(projects, { organizationId })
    const isSandbox = stored !== undefined && owned.every(({ record }) => record.status === 'anonymous')
    const change = new Change().check(key, version).delete(key)
    if (isSandbox) {
      change.replace(organizations, organizationId, stored, { ...stored.record, deletedAt: now, removableAt: now })
      change.set(organizationRemovalKey(now, organizationId))
    }
    return (await database.commit(change)).ok && isSandbox
  }
}
