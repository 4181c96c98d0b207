/** Consent: where a user may let a client in and how far, what they said before, and what they decide. */
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

/** An organization of the user, as far as a client can be let into it. */
export interface OrganizationChoice {
  readonly organization: Organization
  readonly role: Role
  /** Default first, then by name; a partition follows its parent. Empty where the role reaches no project. */
  readonly projects: readonly Project[]
  /** The most that the role allows, of the surfaces that the client asks for. */
  readonly reach: readonly OAuthScope[]
  readonly mayMakeProjects: boolean
}

/** What a user decides. */
export interface Decision {
  readonly organizationId: string
  /** A project that is there, or the name of a new one. */
  readonly project: { readonly id: string } | { readonly name: string }
  readonly scopes: readonly OAuthScope[]
  /** Tools of an agent may also act on what belongs to the whole organization. */
  readonly reachesOrganization: boolean
  /** The groups of tools that an agent is shown; undefined for all. */
  readonly toolsets?: readonly string[] | undefined
}

export const maxProjectName = 100

export class Consents {
  readonly #options: ConsentOptions

  constructor(options: ConsentOptions) {
    this.#options = options
  }

  /** Every organization of the user; also those whose role admits no client, so that the reason can be shown. */
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
   * What the user allowed this client before, if that settles the request: one project, no less than is suggested, and still
   * within their role. Never where another program could pose as the client (RFC 8252 §8.6): its name is not verified,
   * or the answer goes to a program on a machine instead of a host on the web.
   */
  async remembered(userId: string, pending: PendingAuthorization): Promise<Approval | undefined> {
    const { client, redirectUri, prompts } = pending
    if (client.verifiedHost === undefined || !redirectUri.startsWith('https:')) return undefined
    if (prompts.includes('consent') || prompts.includes('select_account')) return undefined
    const mine = (await this.#options.applications.grantsOf(userId)).filter(({ stored }) => stored.record.clientId === client.id)
    const [first] = mine
    if (!first || mine.some(({ project }) => project.id !== first.project.id)) return undefined
    const scopes = suggestedScopes(pending)
    if (!mine.some(({ stored }) => covers(stored.record.scopes, scopes))) return undefined
    const place = (await this.places(userId, pending)).find(({ organization }) => organization.id === first.organization.id)
    if (!place || !covers(place.reach, scopes)) return undefined
    const reachesOrganization = mine.every(({ stored }) => stored.record.reachesOrganization === true)
    const { toolsets } = first.stored.record
    if (mine.some(({ stored }) => String(stored.record.toolsets) !== String(toolsets))) return undefined
    return { userId, organizationId: first.organization.id, projectId: first.project.id, scopes, reachesOrganization, toolsets }
  }

  /**
   * The address to redirect to. Throws `validation_failed` with the field `scope`, `toolset`, `place` or `name` for what can be chosen
   * otherwise, and `not_found` alike for what is missing and what belongs to others.
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

  /** A form that comes twice must not make two projects, so the name must be a new one. */
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

/** What to tick at first: what the client names with all that it includes; when it names nothing, nothing that reaches other people. */
export function suggestedScopes({ surfaces, scopes, namesScopes }: PendingAuthorization): readonly OAuthScope[] {
  return surfaces.flatMap((surface) => {
    const level = levelOf(scopes, surface)
    return scopesUpTo(surface, namesScopes ? level : Math.min(level, quietLevel[surface]))
  })
}

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

/** Whether a member of the role can let an agent act on what belongs to the whole organization. */
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
