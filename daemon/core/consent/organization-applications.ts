/** The applications that members let into an organization: for its administrators all of them, for every member their own. */
import type { KeyUses } from '../access/keys/key-uses.ts'
import type { KeyFates } from '../access/keys/dependent-keys.ts'
import { administersAll, requireScope, type Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { oauthGrants } from '../oauth/grants/grant.ts'
import { userById, type User } from '../people/users/user.ts'
import { Refusal } from '../refusals.ts'
import { actorOf } from '../writes/audit.ts'
import { byApplication, type Application, type Applications, type LiveGrant } from './applications.ts'

export interface OrganizationApplicationOptions extends Core {
  readonly applications: Pick<Applications, 'revoke'>
  readonly uses: Pick<KeyUses, 'last'>
}

/** An application with who let it in. */
export interface AllowedApplication extends Application {
  /** Of its newest grant. */
  readonly id: string
  readonly user: User
  /** The last call with a token of it; null before the first. */
  readonly usedAt: number | null
}

export class OrganizationApplications {
  readonly #options: OrganizationApplicationOptions

  constructor(options: OrganizationApplicationOptions) {
    this.#options = options
  }

  /** The one that was allowed last comes first. Nothing for keys that administer less than the organization. */
  async list(principal: Principal): Promise<AllowedApplication[]> {
    requireScope(principal, 'api:read')
    const byUser = Map.groupBy(await this.#reachable(principal, 'shown'), ({ stored: { record } }) => record.userId ?? '')
    const found = await Promise.all([...byUser].map(([userId, grants]) => this.#of(userId, grants)))
    return found.flat().toSorted((a, b) => b.since - a.since)
  }

  /**
   * Ends every grant of the application with all of their tokens, at once, and the API keys that it created. Throws `not_found` alike
   * for what is missing, has ended or is out of reach.
   */
  async revoke(principal: Principal, id: string): Promise<KeyFates> {
    requireScope(principal, 'api:admin')
    const grants = await this.#reachable(principal)
    const userId = grants.find(({ stored }) => stored.record.id === id)?.stored.record.userId
    const ofUser = grants.filter(({ stored }) => stored.record.userId === userId)
    const meant = byApplication(ofUser).find(({ grants: held }) => held.some(({ stored }) => stored.record.id === id))
    if (!meant || userId == null) throw new Refusal('not_found', 'No application with access has this id.')
    return this.#options.applications.revoke(userId, meant.application, { actor: actorOf(principal) })
  }

  /** Grants that work, of users, as far as the principal may see them; the oldest first. */
  async #reachable(principal: Principal, use: 'work' | 'shown' = 'work'): Promise<LiveGrant[]> {
    const { database, policies, clock } = this.#options
    const now = clock.now()
    const { organization, projects } = await policies.of(principal.organizationId)
    const rows = await database.all(oauthGrants, principal, use)
    return rows.flatMap((stored): LiveGrant[] => {
      const { userId, projectId, revokedAt, expiresAt } = stored.record
      const project = projects.get(projectId)
      const isLive = project !== undefined && revokedAt === null && expiresAt > now
      if (!isLive || userId === null || !(administersAll(principal) || ownUserOf(principal) === userId)) return []
      return [{ stored: { ...stored, organizationId: organization.id }, organization, project }]
    })
  }

  async #of(userId: string, found: readonly LiveGrant[]): Promise<AllowedApplication[]> {
    const user = await userById(this.#options.database, userId)
    if (!user) return []
    return Promise.all(
      byApplication(found).map(async ({ application, grants }) => {
        const ids = grants.map(({ stored }) => stored.record.id)
        const uses = await Promise.all(ids.map((id) => this.#options.uses.last(application.organizationId, id)))
        const usedAt = Math.max(...uses.map((use) => use ?? 0)) || null
        return { ...application, id: ids.at(-1) ?? '', user, usedAt }
      }),
    )
  }
}

/** Who is signed in; an application acts for its user, but minds no others. */
const ownUserOf = ({ holder }: Principal): string | undefined =>
  holder?.kind === 'user' && holder.application === undefined ? holder.userId : undefined
