/** What each role of a member may do. The one table; sessions and access tokens read it at every call. */
import type { Right } from './scope.ts'

/** From the one that allows most; for keys, each allows no more than the one before it. */
export const roles = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const
export type Role = (typeof roles)[number]

/** What a role allows, live: it caps whatever a token was granted. */
export interface RoleRights {
  /** Rights over resources of projects. */
  readonly rights: readonly Right[]
  /** Also over what belongs to the whole organization: members, domains, suppressions, organization-wide destinations. */
  readonly administersOrganization: boolean
  /** Sees usage and invoices. */
  readonly seesBilling: boolean
  /** Makes and unmakes owners. */
  readonly owns: boolean
}

// prettier-ignore
const table: Readonly<Record<Role, RoleRights>> = {
  owner:     { rights: ['api:admin'], administersOrganization: true,  seesBilling: true,  owns: true  },
  admin:     { rights: ['api:admin'], administersOrganization: true,  seesBilling: true,  owns: false },
  developer: { rights: ['api:admin'], administersOrganization: false, seesBilling: false, owns: false },
  viewer:    { rights: ['api:read'],  administersOrganization: false, seesBilling: false, owns: false },
  billing:   { rights: [],            administersOrganization: false, seesBilling: true,  owns: false },
}

export const rightsOfRole = (role: Role): RoleRights => table[role]

/** The role that allows less: the ceiling of what was made by one and is held under the other. */
export const lowerRole = (a: Role, b: Role): Role => (roles.indexOf(a) > roles.indexOf(b) ? a : b)
