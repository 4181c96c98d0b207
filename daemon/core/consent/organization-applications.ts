/** Applications with access to an organization: administrators see all of them, other members only their own. */
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

/** An application with the user who allowed it. */
export interface AllowedApplication extends Application {
  /** Id of its newest grant. */
  readonly id: string
  readonly user: User
  /** Time of the last call with any of its tokens; null if it was never used. */
  readonly usedAt: number | null
}

export class OrganizationApplications {
  readonly #options: OrganizationApplicationOptions

  constructor(options: OrganizationApplicationOptions) {
    this.#options = options
  }

  /** Lists applications, most recently allowed first. Keys that do not administer the organization get an empty list. */
  async list(principal: Principal): Promise<AllowedApplication[]> {
    requireScope(principal, 'api:read')
    const byUser = Map.groupBy(await this.#reachable(principal, 'shown'), ({ stored: { record } }) => record.userId ?? '')
    const found = await Promise.all([...byUser].map(([userId, grants]) => this.#of(userId, grants)))
    return found.flat().toSorted((a, b) => b.since - a.since)
  }

  /**
   * Ends all grants of the application with their tokens immediately, and revokes the API keys that it created. Throws the same `not_found`
   * for missing, ended and inaccessible applications.
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

  /** Returns valid grants of users that the principal can see, oldest first. */
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

/** Returns the signed-in user. Returns undefined for applications, which do not manage other applications. */
const ownUserOf = ({ holder }: Principal): string | undefined =>
  holder?.kind === 'user' && holder.application === undefined ? holder.userId : undefined
