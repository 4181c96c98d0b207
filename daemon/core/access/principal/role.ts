/** Permissions of each member role, in one table. Sessions and access tokens read it on every call. */
import type { Scope } from './scope.ts'

/** Descending by permissions. For the ceiling of keys, each role allows at most as much as the role to its left. */
export const roles = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const
export type Role = (typeof roles)[number]

/** Current permissions of a role; they limit every token, regardless of its granted scopes. */
export interface RoleScopes {
  /** Scopes for resources of projects. */
  readonly scopes: readonly Scope[]
  /** Whether the scopes also cover the whole organization: members, domains, suppressions, organization-wide destinations. */
  readonly administersOrganization: boolean
  /** Can read usage and invoices. */
  readonly seesBilling: boolean
  /** Can grant and withdraw the role owner. */
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

/** Returns the role that allows less. It limits a key that was created under one role and is used under the other. */
export const lowerRole = (a: Role, b: Role): Role => (roles.indexOf(a) > roles.indexOf(b) ? a : b)
