/** Consent of a user to a client: available organizations and scopes, earlier consent, and the decision. */
import { requireScope } from '../access/principal/principal.ts'
import type { Projects } from '../administration/projects.ts'
import type { Approval, Authorizations, PendingAuthorization } from '../oauth/endpoints/authorizations.ts'
import { covers, levelOf, levelOfScopes, quietLevel, scopesUpTo, surfaceOf, type OAuthScope } from '../oauth/protocol/scopes.ts'
import type { Members } from '../people/members/members.ts'
import { scopesOfRole, type Role } from '../access/principal/role.ts'
import { invalid, Refusal } from '../refusals.ts'
import type { Policies } from '../routing/policy/policy.ts'
import type { Organization, Project } from '../tenancy/organization.ts'
import type { Applications } from './applications.ts'

export interface ConsentOptions {
  readonly policies: Policies
  readonly members: Pick<Members, 'organizationsOf' | 'principalOf'>
  readonly projects: Pick<Projects, 'create'>
  readonly authorizations: Pick<Authorizations, 'approve'>
  readonly applications: Pick<Applications, 'grantsOf'>
}

/** An organization of the user, with the access that a client can get. */
export interface OrganizationChoice {
  readonly organization: Organization
  readonly role: Role
  /** Default project first, then by name; partitions follow their parent. Empty if the role can reach no project. */
  readonly projects: readonly Project[]
  /** All scopes that the role allows on the requested surfaces. */
  readonly reach: readonly OAuthScope[]
  readonly mayMakeProjects: boolean
}

/** Decision of a user. */
export interface Decision {
  readonly organizationId: string
  /** Id of an existing project, or name of a new project. */
  readonly project: { readonly id: string } | { readonly name: string }
  readonly scopes: readonly OAuthScope[]
  /** Whether tools of an agent can also act on resources of the whole organization. */
  readonly reachesOrganization: boolean
  /** Groups of tools that an agent can see; undefined for all. */
  readonly toolsets?: readonly string[] | undefined
}

export const maxProjectName = 100

export class Consents {
  readonly #options: ConsentOptions

  constructor(options: ConsentOptions) {
    this.#options = options
  }

  /**
   * Returns every organization of the user. Includes organizations where the role allows no client, so that the page can show the reason.
   */
  async places(userId: string, { surfaces }: Pick<PendingAuthorization, 'surfaces'>): Promise<OrganizationChoice[]> {
    const memberships = await this.#options.members.organizationsOf(userId)
    return Promise.all(
      memberships.map(async ({ organization, member: { role } }) => {
        const { scopes } = scopesOfRole(role)
        const reach = surfaces.flatMap((surface) => scopesUpTo(surface, levelOfScopes(scopes, surface)))
        const { projects } = await this.#options.policies.of(organization.id)
        return {
          ...{ organization, role, reach },
          projects: reach.length === 0 ? [] : inOrder([...projects.values()]),
          mayMakeProjects: scopes.includes('api:admin'),
        }
      }),
    )
  }

  /**
   * Returns the earlier consent if it settles the request: one project, at least the requested scopes, and still within the role. Returns
   * undefined if another program could impersonate the client (RFC 8252 §8.6). This is the case if its name is unverified, or if the
   * response goes to a program instead of a web host.
   */
  async remembered(userId: string, pending: PendingAuthorization): Promise<Approval | undefined> {
    const { client, redirectUri, prompts } = pending
    if (client.verifiedHost === undefined || !redirectUri.startsWith('https:')) return undefined
    if (prompts.includes('consent') || prompts.includes('select_account')) return undefined
    const mine = (await this.#options.applications.grantsOf(userId)).filter(({ stored }) => stored.record.clientId === client.id)
    const [first] = mine
    if (!first || mine.some(({ project }) => project.id !== first.project.id)) return undefined
    const scopes = requestedScopes(pending)
    if (!mine.some(({ stored }) => covers(stored.record.scopes, scopes))) return undefined
    const place = (await this.places(userId, pending)).find(({ organization }) => organization.id === first.organization.id)
    if (!place || !covers(place.reach, scopes)) return undefined
    const reachesOrganization = mine.every(({ stored }) => stored.record.reachesOrganization === true)
    const { toolsets } = first.stored.record
    if (mine.some(({ stored }) => String(stored.record.toolsets) !== String(toolsets))) return undefined
    return { userId, organizationId: first.organization.id, projectId: first.project.id, scopes, reachesOrganization, toolsets }
  }

  /**
   * Returns the redirect URI. Throws `validation_failed` with the field `scope`, `toolset`, `place` or `name` for choices that the user can
   * correct. Throws the same `not_found` for missing resources and for resources of others.
   */
  async approve(userId: string, pending: PendingAuthorization, decision: Decision): Promise<string> {
    const { organizationId, project, scopes, reachesOrganization } = decision
    const place = (await this.places(userId, pending)).find(({ organization }) => organization.id === organizationId)
    if (!place) throw new Refusal('not_found', 'You are not a member of an organization with this id.')
    checkScopes(pending, place, scopes)
    if (reachesOrganization) checkOrganizationReach(place, scopes)
    const toolsets = levelOf(scopes, 'mcp') < 0 ? undefined : decision.toolsets
    if (toolsets?.length === 0) throw invalid([{ path: 'toolset', message: 'Select at least one group of tools.' }])
    const projectId = 'id' in project ? knownProject(place, project.id) : await this.#make(userId, place, project.name)
    return this.#options.authorizations.approve(pending, { userId, organizationId, projectId, scopes, reachesOrganization, toolsets })
  }

  /** Requires a new name, so that submitting the form twice does not create two projects. */
  async #make(userId: string, { organization, projects }: OrganizationChoice, typed: string): Promise<string> {
    const { members, projects: administration } = this.#options
    const principal = await members.principalOf(userId, organization.id)
    requireScope(principal, 'api:admin')
    const name = typed.trim()
    if (name === '' || name.length > maxProjectName || /[\p{Cc}\u2028\u2029]/u.test(name))
      throw invalid([{ path: 'name', message: `Enter a name on one line, with at most ${maxProjectName} characters.` }])
    if (projects.some((one) => one.name === name))
      throw invalid([{ path: 'name', message: 'A project with this name already exists. Choose it from the list, or enter another name.' }])
    return (await administration.create(principal, { name })).project.id
  }
}

/**
 * Returns the requested scopes with the scopes that they include. If the request has no scopes, only scopes without mail to other people.
 */
export function requestedScopes({ surfaces, scopes, namesScopes }: PendingAuthorization): readonly OAuthScope[] {
  return surfaces.flatMap((surface) => {
    const level = levelOf(scopes, surface)
    return scopesUpTo(surface, namesScopes ? level : Math.min(level, quietLevel[surface]))
  })
}

/** Returns the initial selection: the requested scopes that neither send mail to other people nor change settings. */
export const preselectedScopes = (pending: PendingAuthorization): readonly OAuthScope[] =>
  requestedScopes(pending).filter((scope) => levelOf([scope], surfaceOf(scope)) <= quietLevel[surfaceOf(scope)])

function checkScopes({ surfaces }: PendingAuthorization, { organization, reach }: OrganizationChoice, scopes: readonly OAuthScope[]): void {
  if (!scopes.some((scope) => surfaces.includes(surfaceOf(scope))))
    throw invalid([{ path: 'scope', message: 'Select at least one permission.' }])
  const included = surfaces.flatMap((surface) => scopesUpTo(surface, levelOf(scopes, surface)))
  if (included.some((scope) => !scopes.includes(scope)))
    throw invalid([{ path: 'scope', message: 'Each permission includes those above it. Select them too, or leave it out.' }])
  if (!covers(reach, scopes))
    throw invalid([
      {
        path: 'scope',
        message: `Your role in ${organization.name} does not allow all of these permissions. Deselect some, or choose another organization.`,
      },
    ])
}

/** Returns whether a member with the role can let an agent act on resources of the whole organization. */
export const mayReachOrganization = ({ role }: Pick<OrganizationChoice, 'role'>): boolean => scopesOfRole(role).administersOrganization

function checkOrganizationReach(place: OrganizationChoice, scopes: readonly OAuthScope[]): void {
  if (mayReachOrganization(place) && scopes.includes('mcp:admin')) return
  const message = 'Settings of the organization require that an owner or administrator also allows the agent to change settings.'
  throw invalid([{ path: 'scope', message }])
}

function knownProject({ projects }: OrganizationChoice, id: string): string {
  if (projects.some((project) => project.id === id)) return id
  throw new Refusal('not_found', 'No project has this id.')
}

function inOrder(projects: readonly Project[]): Project[] {
  const sorted = projects.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault) || a.name.localeCompare(b.name, 'en'))
  const partitionsOf = (id: string): Project[] => sorted.filter(({ parentId }) => parentId === id)
  return sorted.filter(({ parentId }) => parentId === undefined).flatMap((project) => [project, ...partitionsOf(project.id)])
}
