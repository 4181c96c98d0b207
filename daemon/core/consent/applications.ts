/** Applications with access: what a user allowed, shown as one for each client and project, and taken back. */
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

/** A grant that works, with where it is good for. */
export interface LiveGrant {
  readonly stored: StoredGrant
  readonly organization: Organization
  readonly project: Project
}

/** What names an application: the same client in another project is another one. */
export interface ApplicationName {
  readonly clientId: string
  readonly organizationId: string
  readonly projectId: string
}

export interface Application extends ApplicationName {
  readonly clientName: string
  /** Undefined when the name is unverified. */
  readonly verifiedHost: string | undefined
  readonly organization: Organization
  readonly project: Project
  /** The most that any of its grants allows, with all that this includes. */
  readonly scopes: readonly OAuthScope[]
  /** Any of its grants reaches what belongs to the whole organization. */
  readonly reachesOrganization: boolean
  /** The groups of tools that any of its grants allows; undefined for all. */
  readonly toolsets: readonly string[] | undefined
  /** When it was allowed first, of what still holds. */
  readonly since: number
}

/** How an application is ended. */
interface ApplicationEnding {
  readonly toKeep?: KeysToKeep
  readonly actor?: Actor
}

export class Applications {
  readonly #options: ApplicationOptions

  constructor(options: ApplicationOptions) {
    this.#options = options
  }

  /** The one that was allowed last comes first. */
  async list(userId: string): Promise<Application[]> {
    return byApplication(await this.grantsOf(userId)).map(({ application }) => application)
  }

  /**
   * Ends every grant of it with all of their tokens, at once, and the keys that it created, but for those to keep; again does
   * nothing. Throws `validation_failed` for a key to keep that would not end. `actor` is the user by default.
   */
  async revoke(userId: string, name: ApplicationName, { toKeep = [], actor }: ApplicationEnding = {}): Promise<KeyFates> {
    const { clientId, organizationId, projectId } = name
    const isMeant = mintedBy(userId, name)
    let keys = noKeys
    for (const { stored } of await this.grantsOf(userId)) {
      const { record } = stored
      if (stored.organizationId !== organizationId || record.clientId !== clientId || record.projectId !== projectId) continue
      // the first one takes all of its keys along
      const ended = await this.#options.grants.revoke(record.id, actor ?? { kind: 'user', id: userId }, {
        isMeant,
        ...(keys === noKeys && { toKeep }),
      })
      if (keys === noKeys && ended) keys = ended.keys
    }
    return keys
  }

  /** The keys that end when the application is revoked; the newest first. */
  async keysOf(userId: string, name: ApplicationName): Promise<ApiKey[]> {
    const { database, clock } = this.#options
    const found = await keysFollowing(database, name.organizationId, mintedBy(userId, name), clock.now())
    return found.map(({ record }) => record)
  }

  /** Every grant of the user that works, in all of their organizations; the oldest first. */
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

/** Also by grants of it that have ended since. Its tokens are of one project, and so is what they create. */
const mintedBy =
  (userId: string, { clientId, projectId }: ApplicationName) =>
  (minter: KeyCreator, key: ApiKey): boolean =>
    minter.userId === userId && minter.application?.clientId === clientId && key.projectId === projectId

/** Those of one user by client and project; the one that was allowed last comes first. */
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
