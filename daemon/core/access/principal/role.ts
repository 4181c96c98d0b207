/** What each role of a member may do. The one table; sessions and access tokens read it at every call. */
import type { Scope } from './scope.ts'

/** From the one that allows most; for keys, each allows no more than the one before it. */
export const roles = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const
export type Role = (typeof roles)[number]

/** What a role allows, live: it caps whatever a token was granted. */
export interface RoleScopes {
  /** Scopes over resources of projects. */
  readonly scopes: readonly Scope[]
  /** Also over what belongs to the whole organization: members, domains, suppressions, organization-wide destinations. */
  readonly administersOrganization: boolean
  /** Sees usage and invoices. */
  readonly seesBilling: boolean
  /** Makes and unmakes owners. */
  readonly owns: boolean
}

// prettier-ignore
const table: Readonly<Record<Role, RoleScopes>> = {
  owner:     { scopes: ['api:admin'], administersOrganization: true,  seesBilling: true,  owns: true  },
  admin:     { scopes: ['api:admin'], administersOrganization: true,  seesBilling: true,  owns: false },
  developer: { scopes: ['api:admin'], administersOrganization: false, seesBilling: false, owns: false },
  viewer:    { scopes: ['api:read'],  administersOrganization: false, seesBilling: false, owns: false },
  billing:   { scopes: [],            administersOrganization: false, seesBilling: true,  owns: false },
}

export const scopesOfRole = (role: Role): RoleScopes => table[role]

/** The role that allows less: the ceiling of what was made by one and is held under the other. */
export const lowerRole = (a: Role, b: Role): Role => (roles.indexOf(a) > roles.indexOf(b) ? a : b)
