/** Applications with access: grants of a user, combined for each client and project, and their revocation. */
import type { Core } from '../core.ts'
import type { ApiKey } from '../access/keys/api-key.ts'
import { keysFollowing, noKeys, type KeyFates, type KeysToKeep } from '../access/keys/dependent-keys.ts'
import type { Actor } from '../writes/audit.ts'
import type { KeyCreator } from '../access/principal/key-creator.ts'
import { isMetadataAddress } from '../oauth/clients/client-metadata-documents.ts'
import { oauthGrants, type StoredGrant } from '../oauth/grants/grant.ts'
import type { Grants } from '../oauth/grants/grants.ts'
import { levelOf, scopesUpTo, surfaces, type OAuthScope } from '../oauth/protocol/scopes.ts'
import type { Members } from '../people/members/members.ts'
import type { Organization, Project } from '../tenancy/organization.ts'

export interface ApplicationOptions extends Core {
  readonly members: Pick<Members, 'organizationsOf'>
  readonly grants: Grants
}

/** A valid grant with its organization and project. */
export interface LiveGrant {
  readonly stored: StoredGrant
  readonly organization: Organization
  readonly project: Project
}

/** Key of an application; the same client in another project is a different application. */
export interface ApplicationName {
  readonly clientId: string
  readonly organizationId: string
  readonly projectId: string
}

export interface Application extends ApplicationName {
  readonly clientName: string
  /** Undefined if the name is unverified. */
  readonly verifiedHost: string | undefined
  readonly organization: Organization
  readonly project: Project
  /** Union of the scopes of its grants, including all scopes that these include. */
  readonly scopes: readonly OAuthScope[]
  /** At least one of its grants reaches resources of the whole organization. */
  readonly reachesOrganization: boolean
  /** Union of the tool groups of its grants; undefined if a grant allows all groups. */
  readonly toolsets: readonly string[] | undefined
  /** Creation time of its oldest valid grant. */
  readonly since: number
}

/** Options for revoking an application. */
interface ApplicationEnding {
  readonly toKeep?: KeysToKeep
  readonly actor?: Actor
}

export class Applications {
  readonly #options: ApplicationOptions

  constructor(options: ApplicationOptions) {
    this.#options = options
  }

  /** Lists applications, most recently allowed first. */
  async list(userId: string): Promise<Application[]> {
    return byApplication(await this.grantsOf(userId)).map(({ application }) => application)
  }

  /**
   * Ends all grants of the application with their tokens immediately, and revokes the keys that it created, except `toKeep`. Repeating the
   * call has no effect. Throws `validation_failed` if `toKeep` has a key that would not end. `actor` defaults to the user.
   */
  async revoke(userId: string, name: ApplicationName, { toKeep = [], actor }: ApplicationEnding = {}): Promise<KeyFates> {
    const { clientId, organizationId, projectId } = name
    const isMeant = mintedBy(userId, name)
    let keys = noKeys
    for (const { stored } of await this.grantsOf(userId)) {
      const { record } = stored
      if (stored.organizationId !== organizationId || record.clientId !== clientId || record.projectId !== projectId) continue
      // the first revocation includes all keys of the application
      const ended = await this.#options.grants.revoke(record.id, actor ?? { kind: 'user', id: userId }, {
        isMeant,
        ...(keys === noKeys && { toKeep }),
      })
      if (keys === noKeys && ended) keys = ended.keys
    }
    return keys
  }

  /** Returns the keys that end when the application is revoked, newest first. */
  async keysOf(userId: string, name: ApplicationName): Promise<ApiKey[]> {
    const { database, clock } = this.#options
    const found = await keysFollowing(database, name.organizationId, mintedBy(userId, name), clock.now())
    return found.map(({ record }) => record)
  }

  /** Returns all valid grants of the user in all organizations, oldest first. */
  async grantsOf(userId: string): Promise<LiveGrant[]> {
    const { database, clock, policies, members } = this.#options
    const now = clock.now()
    const found: LiveGrant[] = []
    for (const { organization } of await members.organizationsOf(userId)) {
      const organizationId = organization.id
      const { projects } = await policies.of(organizationId)
      for (const stored of await database.all(oauthGrants, { organizationId })) {
        const project = projects.get(stored.record.projectId)
        const isLive = stored.record.revokedAt === null && stored.record.expiresAt > now
        if (project && isLive && stored.record.userId === userId)
          found.push({ stored: { ...stored, organizationId }, organization, project })
      }
    }
    return found
  }
}

/** Includes keys created with grants that have ended. Tokens belong to one project, and so do the keys that they create. */
const mintedBy =
  (userId: string, { clientId, projectId }: ApplicationName) =>
  (minter: KeyCreator, key: ApiKey): boolean =>
    minter.userId === userId && minter.application?.clientId === clientId && key.projectId === projectId

/** Groups the grants of one user by client and project, most recently allowed first. */
export function byApplication(found: readonly LiveGrant[]): { readonly application: Application; readonly grants: readonly LiveGrant[] }[] {
  const groups = Map.groupBy(found, ({ stored: { record } }) => JSON.stringify([record.clientId, record.projectId]))
  return [...groups.values()]
    .map((grants) => ({ application: toApplication(grants), grants }))
    .toSorted((a, b) => b.application.since - a.application.since)
}

function toApplication(grants: readonly LiveGrant[]): Application {
  const [first] = grants
  const last = grants.at(-1)
  if (!first || !last) throw new Error('an application without a grant')
  const { organization, project, stored } = last
  const { clientId, clientName } = stored.record
  const all = grants.flatMap((grant) => grant.stored.record.scopes)
  const toolsets = grants.map((grant) => grant.stored.record.toolsets)
  return {
    ...{ clientId, clientName, organization, project, organizationId: organization.id, projectId: project.id },
    verifiedHost: isMetadataAddress(clientId) ? new URL(clientId).host : undefined,
    scopes: surfaces.flatMap((surface) => scopesUpTo(surface, levelOf(all, surface))),
    reachesOrganization: grants.some((grant) => grant.stored.record.reachesOrganization === true),
    toolsets: toolsets.includes(undefined) ? undefined : [...new Set(toolsets.flatMap((some) => some ?? []))],
    since: first.stored.record.createdAt,
  }
}
